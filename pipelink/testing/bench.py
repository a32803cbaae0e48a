"""The part of a bench that needs compilers: generates the other ends of a component's ports, compiles and links them.

Input: one component, as source, object or archive.  Output: a :class:`LinkedBench`.  The kernel is one CTA.  It is
linked without ``prove``: how many items there are is the test's business, which no protocol knows; and with a limit on
waits, so that a component that takes what never comes is an error and no hang.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from pipelink.api import Instance, Kernel, caller, choose
from pipelink.link import HANG_LIMIT
from pipelink.objects import Image, Object, object_bytes, parse_objects, read_objects
from pipelink.support.diagnostics import Location, error
from pipelink.testing import generate
from pipelink.testing.plan import Plan
from pipelink.testing.run import LinkedBench

if TYPE_CHECKING:
    from pipelink.ir.placement import RoleWarps
    from pipelink.link import LinkedTarget
    from pipelink.objects import ContractComponent

PASSES: Final = "check,place,transfer,fold,entry"  # those of a link, without prove


class Bench:
    """A component between generated feeders and sinks, to be linked.

    ``source`` is its source (``.cu``), object, archive or an object in memory; ``component`` says which, where there
    are several.  ``feed`` says how streams into it are filled: ``tma`` by TMA, ``threads`` by threads, ``auto`` by TMA
    where it can.  ``threads`` (a multiple of 32) make the calls that it answers.  ``bind`` gives its parameters values
    at link time, or expressions; ``renames`` give its tensors, derived values or parameters other names, needed where
    one is called like a port.  ``kernel`` and ``component`` are there for what else the kernel has to say.

    Raises LinkError ``bench-unsupported`` for a port that has no generated other end, ``duplicate-name``, and what
    compiling and reading have to say."""

    def __init__(
        self,
        source: str | Path | Object,
        component: str | None = None,
        *,
        target: str = "sm_90a",
        feed: Literal["auto", "tma", "threads"] = "auto",
        threads: int = 32,
        bind: Mapping[str, str | int | bool] | None = None,
        **renames: str,
    ) -> None:
        if threads % 32 or not 32 <= threads <= 1024:
            raise error("bench-unsupported", f"{threads} threads cannot make calls: a multiple of 32 up to 1024 can")
        self.target = target
        objects = [source] if isinstance(source, Object) else _read(Path(source), target)
        owner, self.contract = choose(objects, component, caller())
        generated = generate.generate(self.contract, feed=feed, threads=threads)
        self.text = generated.text  # of the other ends
        self.kernel = Kernel(f"bench_{self.contract.name.split('::')[-1]}", target=target)
        self._instance = self.contract.name.split("::")[-1]
        whole = owner if isinstance(source, Object) or Path(source).suffix == ".cu" else source
        self.component = self.kernel.add(whole, self.contract.name, name=self._instance, **renames)
        self._ports = tuple(other.plan for other in generated.others)
        self._check_names(renames)
        self._callers = threads
        self._connect(generated)
        for name, value in (bind or {}).items():
            self.kernel.bind(getattr(self.component, name), value)
        for key, value in generate.promises(self.contract).items():
            self.kernel.promise(key, value)
        self.kernel.grid(*self._cluster())

    def _cluster(self) -> list[int]:
        """The extents of the one cluster that runs.  Other ends are made for one CTA alone."""
        declared = next((record for record in self.contract.records if record.op == "cluster"), None)
        extents: Any = declared.values.get("value") if declared is not None else [1]
        if declared is not None and self._ports and math.prod(extents) > 1:
            message = (
                f"'{self.contract.name}' works in clusters of {math.prod(extents)} CTAs, and the other ends of its "
            )
            raise error("bench-unsupported", f"{message}ports are made for one", declared.location)
        return extents

    def _check_names(self, renames: Mapping[str, str]) -> None:
        """A name in a run means one thing: a port, or something of the launch contract."""
        ports = {plan.name for plan in self._ports}
        for record in self.contract.records:
            if (
                record.op in ("tensor", "derive", "workspace", "peer")
                and renames.get(record.name, record.name) in ports
            ):
                message = f"{record.op} '{record.name}' and a port have one name"
                hint = f'rename it: Bench(…, {record.name}="{record.name}_tensor")'
                raise error("duplicate-name", message, record.location, hint=hint)

    def _connect(self, generated: generate.Bench) -> None:
        if not generated.others:
            return
        made = compile_object(generated.text, f"{self.kernel.name}.cu", self.target)
        instances: dict[str, Instance] = {}
        for other in generated.others:
            if other.component not in instances:
                instances[other.component] = self.kernel.add(made, f"{generate.NAMESPACE}::{other.component}")
            ends = getattr(instances[other.component], other.port), getattr(self.component, other.plan.name)
            self.kernel.connect(*(ends if other.source else reversed(ends)))

    def link(self, *, hang_limit: int = HANG_LIMIT, cache: Any = True) -> LinkedBench:
        """Link; ``hang_limit`` is how many milliseconds a wait may take in a run, 0: no limit, and the code of an
        ordinary link.  Raises LinkError with what the link has to say."""
        linked = self.kernel.link(passes=PASSES, debug_hangs=hang_limit, cache=cache)
        threads = _role_threads(self.contract, linked.targets[0], self._instance)
        return LinkedBench(Plan(self.contract.name, self._ports, threads, self._callers), linked.package())


def compile_object(text: str, name: str, arch: str) -> Object:
    """The object of a source, compiled by NVRTC for ``arch``; ``name`` is the file's in diagnostics."""
    from pipelink.audit import contract
    from pipelink.backend import toolchain

    folders = [Path(name).parent]
    image = Image(
        arch, "ltoir", toolchain.toolkit_version(), toolchain.compile_ltoir(text, name, arch, include_dirs=folders)
    )
    data = object_bytes([image], contract.device_records(image, name), Path(name).name)
    return parse_objects(data, str(Path(name).with_suffix(".o")))[0]


def _read(path: Path, arch: str) -> list[Object]:
    if path.suffix != ".cu":
        return read_objects(path)
    try:
        text = path.read_text()
    except (OSError, ValueError) as problem:
        raise error("unreadable-input", f"cannot read '{path}': {problem}", Location(str(path))) from problem
    return [compile_object(text, str(path), arch)]


def _role_threads(contract: ContractComponent, linked: LinkedTarget, instance: str) -> tuple[tuple[int, int], ...]:
    """The threads that run the component: (first, number) of each of its roles, or of the caller."""
    one = {r.name for r in contract.records if r.op == "role" and r.values.get("threads") == "one"}
    roles = _roles(linked, instance)
    if not roles:
        roles, one = _roles(linked, generate.CALLER), set[str]()
    found = [(role.first_thread, 1 if name in one else role.threads) for name, role in roles.items()]
    return tuple(sorted(found))


def _roles(linked: LinkedTarget, instance: str) -> Mapping[str, RoleWarps]:
    """The warps of an instance's roles; none of one that there is not."""
    from pipelink.ir.placement import InstancePlacement, read

    def wrong(reason: str) -> NoReturn:
        raise AssertionError(reason)  # the link wrote it

    match linked.placement:
        case {"instances": dict() as instances} if instance in instances:
            found = read(InstancePlacement, instances[instance], f"instance '@{instance}'", wrong)
            return found.roles if found is not None else {}
        case _:
            return {}
