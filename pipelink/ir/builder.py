"""Builds component and kernel modules from Python data.

``component(module, name, …)`` and ``kernel(module, name, …)`` add a named module and return a builder with one method
for each operation; keyword arguments are the operation's attributes, None leaves one out.  Used by the reader of
objects and by the Python API; nothing is checked here, :func:`pipelink.ir.verify` does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipelink.contract.vocabulary import ABI
from pipelink.ir.attributes import SymbolRef, Value, to_attribute, to_name
from pipelink.ir.dialect import load_dialect
from pipelink.ir.locations import from_location
from pipelink.support.diagnostics import UNKNOWN, Location
from pipelink.support.mlir import ir


def module(context: ir.Context, location: Location = UNKNOWN) -> ir.Module:
    """An empty outer module in a context that has the dialect."""
    load_dialect(context)
    return ir.Module.create(from_location(location, context))


class ModuleBuilder:
    """Adds operations to one component's or kernel's module."""

    def __init__(
        self,
        outer: ir.Module | ir.Operation,
        name: str,
        attributes: dict[str, Value],
        location: Location,
    ) -> None:
        self.context = outer.context
        inner = ir.Module.create(from_location(location, self.context)).operation
        inner.attributes["sym_name"] = ir.StringAttr.get(to_name(name, location), self.context)
        for key, value in attributes.items():
            inner.attributes[key] = to_attribute(value, self.context, location)
        block = outer.operation.regions[0].blocks[0]
        self.op: ir.Operation = inner.clone(ip=ir.InsertionPoint(block)).operation
        self.name = name
        self._point = ir.InsertionPoint(self.op.regions[0].blocks[0])

    def add(self, op: str, location: Location = UNKNOWN, **attributes: Value) -> ir.Operation:
        """Add ``pipelink.<op>``."""
        return ir.Operation.create(
            f"pipelink.{op}",
            attributes={k: to_attribute(v, self.context, location) for k, v in attributes.items() if v is not None},
            loc=from_location(location, self.context),
            ip=self._point,
        )

    # --- the launch contract, in components and kernels

    def tensor(
        self,
        name: str,
        element: str,
        shape: Sequence[str | int],
        access: str,
        *,
        align: int | None = None,
        location: Location = UNKNOWN,
    ) -> None:
        self.add("tensor", location, name=name, element=element, shape=list(shape), access=access, align=align)

    def bind(
        self,
        param: str | SymbolRef,
        to: str | None = None,
        *,
        value: int | float | str | bool | None = None,
        location: Location = UNKNOWN,
    ) -> None:
        self.add("bind", location, param=param, to=to, value=value)

    def derive(self, name: str, value: str, *, location: Location = UNKNOWN) -> None:
        self.add("derive", location, name=name, value=value)

    def grid(self, *value: str | int, location: Location = UNKNOWN) -> None:
        self.add("grid", location, value=[str(v) for v in (*value, 1, 1)[: max(3, len(value))]])

    def cluster(self, *value: int, location: Location = UNKNOWN) -> None:
        self.add("cluster", location, value=list((*value, 1, 1)[: max(3, len(value))]))

    def resident(self, *, location: Location = UNKNOWN) -> None:
        self.add("resident", location)

    def programmatic(self, *, location: Location = UNKNOWN) -> None:
        self.add("programmatic", location)

    def workspace(self, name: str, bytes: str | int, init: str = "none", *, location: Location = UNKNOWN) -> None:
        self.add("workspace", location, name=name, bytes=str(bytes), init=init)

    def peer(self, name: str, tensor: str, count: int, *, location: Location = UNKNOWN) -> None:
        self.add("peer", location, name=name, tensor=tensor, count=count)

    def require(
        self, name: str, value: int | str | bool, port: str | None = None, *, location: Location = UNKNOWN
    ) -> None:
        self.add("require", location, name=name, value=value, **({} if port is None else {"port": port}))

    def promise(self, name: str, value: int | str | bool, *, location: Location = UNKNOWN) -> None:
        self.add("promise", location, name=name, value=value)


class ComponentBuilder(ModuleBuilder):
    """Adds the operations of a component; the arguments mean what docs/ir.md says."""

    def role(
        self,
        name: str,
        warps: int,
        *,
        align: int | None = None,
        registers: tuple[int, int] | None = None,
        threads: str | None = None,
        early: bool | None = None,
        location: Location = UNKNOWN,
    ) -> None:
        given = {"align": align, "registers": registers, "threads": threads, "early": early}
        self.add("role", location, sym_name=name, warps=warps, **given)

    def port(
        self, name: str, direction: str, kind: str = "stream", *, location: Location = UNKNOWN, **attributes: Value
    ) -> None:
        """A port; ``attributes`` are ``tiles``, ``stages``, ``touch``, ``signature`` and so on."""
        self.add("port", location, sym_name=name, direction=direction, kind=kind, **attributes)

    def smem(self, name: str, bytes: int, align: int, *, location: Location = UNKNOWN, **attributes: Value) -> None:
        self.add("smem", location, sym_name=name, bytes=bytes, align=align, **attributes)

    def state(self, name: str, bytes: int, align: int, *, location: Location = UNKNOWN) -> None:
        self.add("state", location, sym_name=name, bytes=bytes, align=align)

    def barrier(self, name: str, threads: int, *, role: str | None = None, location: Location = UNKNOWN) -> None:
        self.add("barrier", location, sym_name=name, threads=threads, role=role)

    def protocol(self, of: str, text: str, *, location: Location = UNKNOWN) -> None:
        """What role or answer ``of`` does, in the language of docs/protocols.md."""
        self.add("protocol", location, of=of, text=text)

    def awaits(self, of: str, index: Sequence[str], count: Sequence[str], *, location: Location = UNKNOWN) -> None:
        """Which counters of port ``of`` an instruction awaits, and until what they are."""
        self.add("awaits", location, of=of, index=list(index), count=list(count))

    def adds(self, of: str, index: Sequence[str], count: Sequence[str], *, location: Location = UNKNOWN) -> None:
        """To which counters of port ``of`` an instruction adds, and how much."""
        self.add("adds", location, of=of, index=list(index), count=list(count))

    def mbarrier(
        self, name: str, arrivals: int, count: int = 1, *, role: str | None = None, location: Location = UNKNOWN
    ) -> None:
        self.add("mbarrier", location, sym_name=name, arrivals=arrivals, count=count, role=role)

    def cluster_barrier(self, name: str, *, role: str | None = None, location: Location = UNKNOWN) -> None:
        self.add("cluster_barrier", location, sym_name=name, role=role)

    def turns(self, name: str, *, role: str | None = None, location: Location = UNKNOWN) -> None:
        self.add("turns", location, sym_name=name, role=role)

    def tmem(self, name: str, columns: int, *, location: Location = UNKNOWN, **attributes: Value) -> None:
        self.add("tmem", location, sym_name=name, columns=columns, **attributes)

    def stack(self, bytes: int, *, location: Location = UNKNOWN) -> None:
        self.add("stack", location, bytes=bytes)

    def dispatch(self, name: str, bytes: int, *, role: str | None = None, location: Location = UNKNOWN) -> None:
        self.add("dispatch", location, sym_name=name, bytes=bytes, role=role)

    def lease(
        self, name: str, page_bytes: int, pages: tuple[int, int], align: int, *, location: Location = UNKNOWN
    ) -> None:
        self.add("lease", location, sym_name=name, page_bytes=page_bytes, pages=pages, align=align)

    def param(
        self,
        name: str,
        type: str,
        bytes: int,
        align: int,
        *,
        port: str | None = None,
        part: int | None = None,
        box: Sequence[int] | None = None,
        tile: Mapping[str, Value] | None = None,
        operand: bool | None = None,
        location: Location = UNKNOWN,
    ) -> None:
        values = {"type": type, "bytes": bytes, "align": align, "port": port, "part": part, "box": box, "tile": tile}
        values["operand"] = operand
        self.add("param", location, sym_name=name, **values)


class KernelBuilder(ModuleBuilder):
    """Adds the operations of a kernel."""

    def instance(
        self, name: str, component: str, *, rename: dict[str, str] | None = None, location: Location = UNKNOWN
    ) -> None:
        self.add("instance", location, sym_name=name, component=SymbolRef.of(component), rename=rename or None)

    def connect(
        self,
        source: tuple[str, str],
        target: tuple[str, str],
        *,
        transfer: str | None = None,
        stages: int | None = None,
        weight: int | None = None,
        shared: Sequence[int] | None = None,
        credit: int | None = None,
        lease: tuple[str, str] | None = None,
        location: Location = UNKNOWN,
    ) -> None:
        """Connect ``(instance, port)`` to ``(instance, port)``."""
        ends = {"source": SymbolRef(tuple(source)), "target": SymbolRef(tuple(target))}
        pages = SymbolRef(tuple(lease)) if lease is not None else None
        options: dict[str, Value] = {"transfer": transfer, "stages": stages, "weight": weight}
        if shared is not None:
            options["shared"] = list(shared)
        self.add("connect", location, **ends, **options, credit=credit, lease=pages)

    def exclusive(self, name: str, roles: Sequence[tuple[str, str]], *, location: Location = UNKNOWN) -> None:
        self.add("exclusive", location, name=name, roles=[SymbolRef(tuple(role)) for role in roles])

    def operation(
        self,
        name: str,
        dispatcher: str,
        instance: str,
        *,
        opcode: int | None = None,
        roles: Mapping[str, str] | None = None,
        location: Location = UNKNOWN,
    ) -> None:
        """Let the roles of ``dispatcher`` run those of ``instance``."""
        ends = {"dispatcher": SymbolRef.of(dispatcher), "instance": SymbolRef.of(instance)}
        self.add("operation", location, sym_name=name, **ends, opcode=opcode, roles=dict(roles) if roles else None)

    def overlay(self, buffers: Sequence[tuple[str, str]], because: str, *, location: Location = UNKNOWN) -> None:
        self.add("overlay", location, buffers=[SymbolRef(tuple(b)) for b in buffers], because=because)


def component(
    outer: ir.Module | ir.Operation,
    name: str,
    *,
    images: Sequence[dict[str, Value]] | None = None,
    cxx: str | None = None,
    object_path: str | None = None,
    location: Location = UNKNOWN,
) -> ComponentBuilder:
    """Add a component module.  ``images=None`` makes it a contract without code."""
    contract: dict[str, Value] = {"abi": ABI}
    if images is not None:
        contract["images"] = list(images)
    if cxx is not None:
        contract["cxx"] = cxx
    attributes: dict[str, Value] = {"pipelink.component": contract}
    if object_path is not None:
        attributes["pipelink.object"] = object_path
    return ComponentBuilder(outer, name, attributes, location)


def kernel(
    outer: ir.Module | ir.Operation,
    name: str,
    *,
    target: str,
    min_ctas: int | None = None,
    location: Location = UNKNOWN,
) -> KernelBuilder:
    """Add a kernel module."""
    settings: dict[str, Value] = {"target": target}
    if min_ctas is not None:
        settings["min_ctas"] = min_ctas
    return KernelBuilder(outer, name, {"pipelink.kernel": settings}, location)
