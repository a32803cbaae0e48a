"""The Python way to compose and link a kernel.

>>> kernel = pipelink.Kernel("gemm_relu", target="sm_90a")
>>> load, mma = kernel.add("tma_loader.o"), kernel.add("wgmma_mainloop.o")
>>> kernel.connect(load.ab, mma.ab)
>>> kernel.connect(mma.store, kernel.add("bias_relu.o").store)
>>> kernel.link().save("gemm_relu.plk")

Every call becomes an operation of the kernel's IR, located at the caller's line; :attr:`Kernel.module` shows it.
Nothing is checked before ``link`` but names: an unknown port or component is refused at once, with the nearest one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelink.link import HANG_LIMIT, PASSES, LinkedTarget, Observer, Request, emit, link, user_cache
from pipelink.objects import Object, read_objects
from pipelink.package import package_linked
from pipelink.support.diagnostics import Location, Note, error, nearest, shown
from pipelink.support.outputs import write_file

if TYPE_CHECKING:
    from pipelink.backend.cache import Cache
    from pipelink.ir.builder import KernelBuilder
    from pipelink.objects import ContractComponent
    from pipelink.support.mlir import ir

_NAMED = ("port", "param", "role", "smem", "state", "barrier", "mbarrier", "cluster_barrier", "turns", "tmem", "lease")
_OWN = Path(__file__).parent


def caller() -> Location:
    """The first line outside this package that led here."""
    frame = inspect.currentframe()
    while frame is not None and _is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno) if frame is not None else Location()


def _is_own(file: str) -> bool:
    return file == "<string>" or Path(file).is_relative_to(_OWN)  # "<string>": a dataclass's __init__


@dataclass(frozen=True)
class Reference:
    """Something that an instance has: a port, a parameter, a role, a buffer (``kind``)."""

    instance: str
    name: str
    kind: str

    @property
    def path(self) -> tuple[str, str]:
        return self.instance, self.name

    def __str__(self) -> str:
        return f"{self.instance}.{self.name}"


class Instance:
    """An instance of a component.  Its attributes are what the component declares; an unknown one raises LinkError
    ``unknown-name`` with the nearest."""

    def __init__(self, name: str, component: ContractComponent) -> None:
        self._name = name
        self._component = component
        self._kinds = {record.name: record.op for record in component.records if record.op in _NAMED}

    def __getattr__(self, name: str) -> Reference:
        if name.startswith("__"):
            raise AttributeError(name)
        kind = self._kinds.get(name)
        if kind is None:
            raise error(
                "unknown-name",
                f"component '{self._component.symbol}' has no '{name}'; it has {', '.join(self._kinds) or 'nothing'}",
                caller(),
                notes=[Note("the component is declared here", self._component.location)],
                hint=nearest(name, self._kinds),
            )
        return Reference(self._name, name, kind)

    def __dir__(self) -> list[str]:
        return list(self._kinds)

    def __repr__(self) -> str:
        return f"<instance {self._name} of {self._component.symbol}>"


@dataclass(repr=False)
class Linked:
    """A linked kernel: one image for each target."""

    name: str
    targets: tuple[LinkedTarget, ...]

    def __repr__(self) -> str:
        images = ", ".join(f"{target.arch} ({len(target.cubin):,} bytes)" for target in self.targets)
        return f"<linked kernel {self.name} for {images}>"

    def __getitem__(self, arch: str) -> LinkedTarget:
        """The image of an architecture.  Raises KeyError."""
        for target in self.targets:
            if target.arch == arch:
                return target
        raise KeyError(arch)

    @property
    def cubins(self) -> dict[str, bytes]:
        """The cubin of each architecture."""
        return {target.arch: target.cubin for target in self.targets}

    @property
    def placement(self) -> dict[str, Any]:
        """The first target's placement: ``kernel``, ``instances``, ``connections``."""
        return self.targets[0].placement

    @property
    def audit(self) -> str:
        """The audits as tables."""
        return "\n".join(target.audit.render() for target in self.targets)

    @property
    def map_svg(self) -> str:
        """The first target's placement, drawn."""
        return self.targets[0].map_svg

    @property
    def map_text(self) -> str:
        """The first target's placement, for a terminal."""
        return self.targets[0].map_text

    def package(self) -> bytes:
        """The ``.plk`` file's content."""
        return package_linked(self.targets)

    def save(self, path: str | Path) -> None:
        """Write the ``.plk`` file; it appears whole or not at all.  Raises LinkError ``unwritable-output``."""
        write_file(path, self.package())


def save(path: str | Path, *kernels: Linked) -> None:
    """Write one ``.plk`` file of several linked kernels, of different names; it appears whole or not at all.

    Raises LinkError ``duplicate-name`` or ``unwritable-output``."""
    write_file(Path(path), package_linked([target for kernel in kernels for target in kernel.targets]))


@contextmanager
def _values(where: Location) -> Generator[None]:
    """Say what the IR cannot hold: texts that are not Unicode, integers of more than 64 bits, other types."""
    try:
        yield
    except UnicodeError as problem:
        raise error("wrong-attribute", "a text with lone surrogates, which UTF-8 cannot hold", where) from problem
    except (OverflowError, TypeError, ValueError, AttributeError) as problem:
        text = " ".join(str(problem).split())
        raise error("wrong-attribute", f"a value that the IR cannot hold: {text:.200}", where) from problem


@dataclass
class _Call:
    """One recorded call of the kernel builder."""

    make: Callable[[KernelBuilder], object]
    location: Location


@dataclass
class Kernel:
    """A kernel under composition.  ``target`` is the default of :meth:`link`; ``min_ctas`` CTAs must fit on an SM."""

    name: str
    target: str = "sm_90a"
    min_ctas: int | None = None
    location: Location = field(default_factory=caller)
    _objects: list[Object] = field(default_factory=list[Object], repr=False)
    _calls: list[_Call] = field(default_factory=list[_Call], repr=False)
    _names: set[str] = field(default_factory=set[str], repr=False)

    # ------------------------------------------------------------------------------------------------- composition
    def add(
        self, source: str | Path | Object, component: str | None = None, name: str | None = None, **renames: str
    ) -> Instance:
        """Add an instance of a component of an object, of an archive, or of an object in memory.

        ``component`` (``acme::x`` or its last part) is needed where there are several; ``name`` is the instance's,
        by default the component's last part; ``renames`` give its tensors, derived values or parameters other names in
        the launch contract.  Raises LinkError from reading, ``unknown-component`` or ``duplicate-name``."""
        where = caller()
        if not isinstance(source, str | Path | Object):  # pyright: ignore[reportUnnecessaryIsInstance]
            message = f"expected the path of an object or archive, or an object in memory, given {shown(source)}"
            raise error("unreadable-input", message, where)
        objects = [source] if isinstance(source, Object) else read_objects(Path(source))
        owner, chosen = choose(objects, component, where)
        own = name or self._unused(chosen.name.split("::")[-1])
        if own in self._names:
            raise error("duplicate-name", f"kernel '{self.name}' has two instances named '{own}'", where)
        self._names.add(own)
        for item in [o for o in objects if o is owner or not o.components]:
            if item not in self._objects:
                self._objects.append(item)
        self._record(lambda b: b.instance(own, chosen.symbol, rename=dict(renames), location=where))
        return Instance(own, chosen)

    def helpers(self, source: str | Path | Object) -> None:
        """Add an object without a contract, or an archive of them: functions for components to call.  Raises LinkError
        from reading."""
        for item in [source] if isinstance(source, Object) else read_objects(Path(source)):
            if item not in self._objects:
                self._objects.append(item)

    def _unused(self, stem: str) -> str:
        found, number = stem, 1
        while found in self._names:
            number += 1
            found = f"{stem}_{number}"
        return found

    def _record(self, make: Callable[[KernelBuilder], object]) -> None:
        self._calls.append(_Call(make, caller()))

    def connect(
        self,
        source: Reference,
        target: Reference,
        *,
        transfer: str | None = None,
        stages: int | None = None,
        weight: int | None = None,
        shared: Sequence[int] | None = None,
        credit: int | None = None,
        lease: Reference | None = None,
    ) -> None:
        """Connect two ports; ``source`` gives or calls.  ``transfer`` and ``stages`` override the linker's choice,
        ``weight`` says how much depth matters beside other rings, ``shared`` which tiles of a slot both CTAs of the
        cluster need (transfer ``cluster``), ``credit`` (0 or 1) whether a token is there at the start, ``lease`` whose
        pages the slots are.  Raises LinkError ``unknown-port`` or ``unknown-name``."""
        where = caller()
        for end in (source, target):
            if end.kind != "port":
                raise error("unknown-port", f"'{end}' is a {end.kind}, not a port", where)
        if lease is not None and lease.kind != "lease":
            raise error("unknown-name", f"'{lease}' is a {lease.kind}, not a lease", where)
        self._record(
            lambda b: b.connect(
                source.path,
                target.path,
                transfer=transfer,
                stages=stages,
                weight=weight,
                shared=shared,
                credit=credit,
                lease=None if lease is None else lease.path,
                location=where,
            )
        )

    def bind(self, param: Reference, value: str | int | float | bool) -> None:
        """Bind a parameter: a number is known at link time and folds; a text is an expression, or the name of a
        tensor, a workspace or a scalar argument."""
        where = caller()
        if param.kind != "param":
            raise error("unknown-name", f"'{param}' is a {param.kind}, not a parameter", where)
        from pipelink.ir import SymbolRef

        reference = SymbolRef(param.path)
        if isinstance(value, str):
            self._record(lambda b: b.bind(reference, value, location=where))
        else:
            self._record(lambda b: b.bind(reference, value=value, location=where))

    def tensor(self, name: str, element: str, shape: Sequence[str | int], access: str = "read") -> None:
        """Declare a tensor argument; wins over what components declare."""
        where = caller()
        self._record(lambda b: b.tensor(name, element, shape, access, location=where))

    def derive(self, name: str, value: str) -> None:
        """Declare a derived value, such as ``ceildiv(K, 64)``."""
        where = caller()
        self._record(lambda b: b.derive(name, value, location=where))

    def grid(self, *value: str | int) -> None:
        """The grid's extents, in CTAs, as expressions."""
        where = caller()
        self._record(lambda b: b.grid(*value, location=where))

    def cluster(self, *value: int) -> None:
        """The cluster's extents, in CTAs."""
        where = caller()
        self._record(lambda b: b.cluster(*value, location=where))

    def resident(self) -> None:
        """All CTAs of the grid must run at the same time."""
        where = caller()
        self._record(lambda b: b.resident(location=where))

    def programmatic(self) -> None:
        """The kernel may begin before the one in front of it on its stream has ended: its roles wait for that."""
        where = caller()
        self._record(lambda b: b.programmatic(location=where))

    def workspace(self, name: str, bytes: str | int, init: str = "none") -> None:
        """Device memory of the launch; ``init`` is none, zero, or once: zeros before the first launch
        that uses the memory."""
        where = caller()
        self._record(lambda b: b.workspace(name, bytes, init, location=where))

    def promise(self, name: str, value: str | int | bool) -> None:
        """Meet a component's requirement."""
        where = caller()
        self._record(lambda b: b.promise(name, value, location=where))

    def exclusive(self, name: str, *roles: Reference) -> None:
        """These roles share warps: they run one after the other, in this order."""
        where = caller()
        self._record(lambda b: b.exclusive(name, [role.path for role in roles], location=where))

    def operation(
        self,
        dispatcher: Instance,
        instance: Instance,
        name: str | None = None,
        *,
        opcode: int | None = None,
        roles: Mapping[str, str] | None = None,
    ) -> None:
        """Let the roles of ``dispatcher`` run those of ``instance`` where an instruction names ``opcode``, by default
        the first number that is free.  A role is run by that of its name, or by the one that ``roles`` maps it to.
        ``name`` is what instructions and timelines call it, by default the instance's with ``_operation`` behind."""
        where = caller()
        ends = (vars(dispatcher)["_name"], vars(instance)["_name"])
        own = name or f"{ends[1]}_operation"
        self._record(lambda b: b.operation(own, *ends, opcode=opcode, roles=roles, location=where))

    def overlay(self, *buffers: Reference, because: str) -> None:
        """These buffers may share memory, for the reason given."""
        where = caller()
        self._record(lambda b: b.overlay([buffer.path for buffer in buffers], because, location=where))

    # -------------------------------------------------------------------------------------------------------- linking
    @property
    def objects(self) -> tuple[Object, ...]:
        """The objects that the instances came from."""
        return tuple(self._objects)

    @property
    def module(self) -> ir.Module:
        """The kernel's IR, without its components: what ``link`` hands to the passes."""
        from pipelink.ir import builder, new_context

        outer = builder.module(new_context())
        with _values(self.location):
            made = builder.kernel(outer, self.name, target=self.target, min_ctas=self.min_ctas, location=self.location)
        for call in self._calls:
            with _values(call.location):
                call.make(made)
        return outer

    def link(
        self,
        *targets: str,
        passes: str = PASSES,
        lineinfo: bool = False,
        debug_hangs: int | bool = False,
        timeline: bool = False,
        debug_print: bool = False,
        cache: Cache | bool | None = True,
        observer: Observer | None = None,
    ) -> Linked:
        """Link for ``targets`` (the kernel's own if none is named).

        ``debug_hangs`` gives waits a time limit in milliseconds, True: 2,000; a launch then raises ``kernel-hang``
        instead of waiting for ever.  ``timeline`` notes when each role waits, for ``runtime.Kernel.timeline``.
        With either, or with ``debug_print``, components may call printf and assert.  ``cache`` is a
        cache, True for the user's own, or None or False to link anew.  Raises LinkError with everything that check,
        place, the vendor libraries or the audit have to say."""
        text = str(self.module.operation.get_asm(enable_debug_info=True)).encode()
        store = _cache(cache)
        linked = [
            link(
                Request(
                    text,
                    tuple(self._objects),
                    kernel=self.name,
                    target=target,
                    passes=passes,
                    lineinfo=lineinfo,
                    debug_hangs=HANG_LIMIT if debug_hangs is True else int(debug_hangs),
                    timeline=timeline,
                    debug_print=debug_print,
                ),
                cache=store,
                observer=observer,
            )
            for target in targets or (self.target,)
        ]
        return Linked(self.name, tuple(linked))

    def monolith(
        self, folders: Sequence[str | Path], target: str | None = None, *, cache: Cache | bool | None = True
    ) -> str:
        """The same composition as one CUDA C++ file, the reference a link is compared with; ``folders`` hold the
        components' sources, ``cache``, as of :meth:`link`, what is known of the objects.  Raises LinkError
        ``source-not-found`` and what check and place have to say."""
        text = str(self.module.operation.get_asm(enable_debug_info=True)).encode()
        request = Request(text, tuple(self._objects), kernel=self.name, target=target or self.target)
        store = _cache(cache)
        return str(emit(request, "monolith", folders=[Path(folder) for folder in folders], cache=store).content)


def _cache(given: Cache | bool | None) -> Cache | None:
    """The cache that is meant: True is the user's own."""
    return user_cache() if given is True else None if given is False else given


def choose(objects: Sequence[Object], wanted: str | None, where: Location) -> tuple[Object, ContractComponent]:
    """The component that is meant, and the object that defines it."""
    known = {c.name: (item, c) for item in objects for c in item.components}
    if wanted is None:
        if len(known) == 1:
            return next(iter(known.values()))
        raise error(
            "unknown-component",
            f"'{objects[0].path}' holds {len(known)} components: {', '.join(known)}" if known else "no component",
            where,
            hint="say which with component=",
        )
    name = wanted.replace(".", "::")
    found = [entry for full, entry in known.items() if name in (full, full.split("::")[-1])]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(c.name for _, c in found)
        raise error("unknown-component", f"'{wanted}' may be each of {names}", where)
    short = [*known, *(full.split("::")[-1] for full in known)]
    raise error(
        "unknown-component",
        f"'{objects[0].path}' has no component '{wanted}'; it has {', '.join(known) or 'none'}",
        where,
        hint=nearest(wanted, short),
    )
