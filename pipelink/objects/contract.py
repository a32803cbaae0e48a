"""Contracts written in Python, for code that no C++ header declared: LTO-IR of another compiler, in memory.

>>> contract = Contract("py::gelu")
>>> contract.answers("store", "void(f32[128]&, i32, i32)").param("c", "bf16*").param("ldc", "i32")
>>> gelu = from_ltoir({"sm_80": ltoir}, contract)

The device functions that the code must define and may call are those of docs/contracts.md, "Symbols";
:meth:`Contract.symbol` spells them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pipelink.contract.abi import RESOURCES
from pipelink.contract.vocabulary import ABI, Role
from pipelink.objects import records
from pipelink.objects.model import Image, Object
from pipelink.support.diagnostics import Diagnostics, Location, error

if TYPE_CHECKING:
    from pipelink.support.mlir import ir

_BYTES: Final = {
    "i8": 1, "u8": 1, "bool": 1, "i16": 2, "u16": 2, "bf16": 2, "f16": 2, "i32": 4, "u32": 4, "f32": 4,
    "i64": 8, "u64": 8, "f64": 8,
}  # fmt: skip


class Contract:
    """A component's declarations; every method adds one and returns the contract."""

    def __init__(self, name: str, *, file: str = "<python>") -> None:
        """``name`` as in C++: ``acme::scale``."""
        self.name = name
        self._file = file
        self._values: list[dict[str, Any]] = []
        self._labels: dict[str, str] = {}  # names to what the device ABI calls them
        self.add("component", "component", cxx=17)

    def add(self, op: str, name: str, **values: Any) -> Contract:
        """Any declaration, by its record's keys (docs/contracts.md); None leaves one out."""
        head = {"pipelink": ABI, "op": op, "component": self.name, "name": name, "file": self._file, "line": 0}
        self._values.append({**head, **{key: value for key, value in values.items() if value is not None}})
        label = f"{values.get('kind')} {values.get('direction')}" if op == "port" else op
        if label in RESOURCES:
            self._labels.setdefault(name, label)
        return self

    def role(
        self, name: str, warps: int, *, registers: tuple[int, int] | None = None, one_thread: bool = False
    ) -> Contract:
        """A role, whose entry the code defines."""
        align = Role({"warps": warps}).align
        allowed = list(registers) if registers else None
        self.add("role", name, warps=warps, align=align, registers=allowed, threads="one" if one_thread else None)
        return self.add("entry", name)

    def stream(
        self,
        name: str,
        direction: str,
        tiles: Sequence[Mapping[str, Any]],
        stages: tuple[int, int],
        touch: str,
        **more: Any,
    ) -> Contract:
        """A ring's end; a tile has ``element``, ``shape``, ``layout``, ``bytes`` and ``align``."""
        slots = [dict(tile) for tile in tiles]
        return self.add(
            "port", name, direction=direction, kind="stream", tiles=slots, stages=list(stages), touch=touch, **more
        )

    def calls(self, name: str, signature: str) -> Contract:
        """A call that another component answers."""
        return self.add("port", name, direction="calls", kind="call", signature=signature)

    def answers(self, name: str, signature: str) -> Contract:
        """A call that the code answers."""
        self.add("port", name, direction="answers", kind="call", signature=signature)
        return self.add("answer", name)

    def param(self, name: str, type: str, **more: Any) -> Contract:
        """A parameter: a scalar type such as ``i32``, or a pointer such as ``bf16*``; ``bytes`` and ``align`` else."""
        size = 8 if type.endswith("*") else _BYTES.get(type)
        return self.add("param", name, type=type, **{"bytes": size, "align": size, **more})

    def barrier(self, name: str, threads: int) -> Contract:
        """A named barrier of ``threads`` threads."""
        return self.add("barrier", name, threads=threads)

    def mbarrier(self, name: str, arrivals: int, count: int = 1) -> Contract:
        """``count`` mbarriers whose phases are complete after ``arrivals`` arrivals."""
        return self.add("mbarrier", name, arrivals=arrivals, count=count)

    def cluster_barrier(self, name: str, **more: Any) -> Contract:
        """Where the threads of a role, the only one or ``role``, meet those of the other CTAs of the cluster."""
        return self.add("cluster_barrier", name, **more)

    def turns(self, name: str, **more: Any) -> Contract:
        """An order in which the warpgroups of a role, the only one or ``role``, take turns."""
        return self.add("turns", name, **more)

    def dispatch(self, name: str, bytes: int, **more: Any) -> Contract:
        """Where a role, the only one or ``role``, runs an operation whose operands take so many bytes at most."""
        return self.add("dispatch", name, bytes=bytes, **more)

    def lease(self, name: str, page_bytes: int, pages: tuple[int, int], align: int = 128) -> Contract:
        """A ring of pages of shared memory that operations share."""
        return self.add("lease", name, page_bytes=page_bytes, pages=list(pages), align=align)

    def tmem(self, name: str, columns: int) -> Contract:
        """``columns`` of tensor memory."""
        return self.add("tmem", name, columns=columns)

    def stack(self, bytes: int) -> Contract:
        """Bytes of stack a thread that the code needs."""
        return self.add("stack", "stack", bytes=bytes)

    def protocol(self, of: str, text: str) -> Contract:
        """In what order role or answer ``of`` uses its ports, in the language of docs/protocols.md."""
        return self.add("protocol", of, text=text)

    def awaits(self, port: str, *counters: tuple[str, str]) -> Contract:
        """Which counters an instruction awaits at a signal port: an index and a threshold each, expressions over the
        parameters."""
        return self.add("awaits", port, index=[i for i, _ in counters], count=[n for _, n in counters])

    def adds(self, port: str, *counters: tuple[str, str]) -> Contract:
        """To which counters of a signal port an instruction adds: an index and how much, each."""
        return self.add("adds", port, index=[i for i, _ in counters], count=[n for _, n in counters])

    def tensor(self, name: str, element: str, shape: Sequence[str], access: str) -> Contract:
        """A tensor argument of the launch."""
        return self.add("tensor", name, element=element, shape=list(shape), access=access)

    def bind(self, param: str, to: str) -> Contract:
        """Where a parameter's value comes from."""
        return self.add("bind", param, param=param, to=to)

    def symbol(self, name: str, function: str) -> str:
        """The mangled device function ``function`` (``pl_answer``, say) of resource ``name``.
        Raises LinkError ``unknown-name``."""
        resource = RESOURCES.get(self._labels.get(name, ""))
        if resource is None or function not in resource.functions:
            raise error("unknown-name", f"'{self.name}' has no '{name}', or it has no function '{function}'")
        return resource.functions[function].symbol(f"{self.name}::{name}{resource.suffix}")

    def records(self) -> tuple[bytes, ...]:
        """The records as the object format holds them."""
        return tuple(json.dumps(values, separators=(",", ":")).encode() for values in self._values)


def from_ltoir(
    images: Mapping[str, bytes],
    contract: Contract | ir.Operation | Iterable[Mapping[str, Any]],
    *,
    name: str = "",
    toolkit: str = "",
    diagnostics: Diagnostics | None = None,
) -> Object:
    """A component from LTO-IR in memory: ``images`` by architecture (``sm_80``), and its contract as a
    :class:`Contract`, a component module of the IR, or records as dictionaries.

    ``name`` stands for a path in messages.  Raises LinkError as :func:`pipelink.objects.read_objects`.
    """
    if isinstance(contract, Contract):
        texts: Iterable[bytes] = contract.records()
    elif hasattr(contract, "attributes"):
        from pipelink.objects.to_ir import contract_records

        texts = contract_records(contract)  # type: ignore[arg-type]
    else:
        texts = [json.dumps(dict(record)).encode() for record in contract]  # type: ignore[union-attr]
    origin = name or "<memory>"
    where = Location(origin)
    found = diagnostics if diagnostics is not None else Diagnostics()
    read = [record for text in texts if (record := records.parse_record(text, origin, where, found)) is not None]
    components = records.assemble(read, origin, where)
    if not images:
        raise error("no-ltoir", f"component '{components[0].name}' comes without LTO-IR", where)
    code = tuple(Image(arch, "ltoir", toolkit, bytes(data)) for arch, data in sorted(images.items()))
    return Object(origin, "", components, code)
