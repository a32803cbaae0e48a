"""What a component's records claim, keyed as an audit of its code asks for it; and symbols back to what they name.

An accessor's symbol is the Itanium name of ``component::RESOURCE::function`` (docs/contracts.md, "Symbols"): the
audit reads calls in PTX with :func:`split_symbol` and looks the resource up in :class:`Claims`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from pipelink.contract.abi import RESOURCES, Function, class_of, function
from pipelink.objects.model import ContractComponent, Record
from pipelink.support.diagnostics import Location
from pipelink.support.protocol import Fence, Repeat, Until
from pipelink.support.protocol_text import ProtocolError, actions_of, count_names, parse_text, steps_of

WARP: Final = 32  # threads
FENCE: Final = "fence"  # the subject of a step `fence async;`: a word of the language, so no port has the name

#: Verbs of buffers, which any number of instructions may be.
TOUCHING: Final = frozenset(("read", "write", "store", "stored", "peer_read", "peer_write"))


@dataclass(frozen=True)
class Use:
    """An accessor's symbol, taken apart: ``acme::loader``, ``ab`` (with the suffix of its kind), ``acquire``."""

    component: str
    resource: str
    function: str


@lru_cache(maxsize=1 << 12)
def split_symbol(symbol: str) -> Use | None:
    """What a function of the header is called with; None for other functions."""
    if not symbol.startswith("_ZN"):
        return None
    rest, parts = symbol[3:], list[str]()
    while found := re.match(r"\d{1,6}", rest):
        length = int(found[0])
        parts.append(rest[found.end() : found.end() + length])
        rest = rest[found.end() + length :]
    if len(parts) < 3 or not rest.startswith("EiPv") or not parts[-1].startswith("pl_"):
        return None
    return Use("::".join(parts[:-2]), parts[-2], parts[-1].removeprefix("pl_"))


@dataclass(frozen=True)
class Code:
    """A function of the component that the kernel calls: a role's entry or an answer."""

    kind: str  # "role" or "answer"
    name: str
    record: Record  # the definition

    @property
    def title(self) -> str:
        return f"{self.kind} '{self.name}'"

    @property
    def function(self) -> Function:
        """What the component defines."""
        return function("role", "", "pl_enter") if self.kind == "role" else function("call", "answers", "pl_answer")

    @property
    def resource(self) -> str:
        """The class that the function belongs to."""
        return self.name if self.kind == "role" else class_of("call", "answers", self.name)


class Claims:
    """One component's contract."""

    def __init__(self, component: ContractComponent) -> None:
        self.name = component.name
        self.location = component.location
        self.records = component.records
        self.resources: dict[str, tuple[str, Record]] = {}  # by the name in symbols: what it is, its record
        for record in component.records:
            if record.op == "port":
                kind, direction = record.values.get("kind"), record.values.get("direction")
                label = f"{kind} {direction}"
            else:
                label = record.op
            if label in RESOURCES:
                self.resources[record.name + RESOURCES[label].suffix] = (label, record)

    def of(self, op: str) -> list[Record]:
        """The records of an operation."""
        return [record for record in self.records if record.op == op]

    @cached_property
    def code(self) -> tuple[Code, ...]:
        """What the component defines for the kernel to call."""
        kinds = {"entry": "role", "answer": "answer"}
        return tuple(Code(kinds[r.op], r.name, r) for r in self.records if r.op in kinds)

    def symbol(self, code: Code) -> str:
        """The function's symbol."""
        return code.function.symbol(f"{self.name}::{code.resource}")

    def role(self, code: Code) -> Record | None:
        """The role's record, of a role's entry."""
        return next((r for r in self.of("role") if r.name == code.name), None) if code.kind == "role" else None

    @cached_property
    def stores(self) -> bool:
        """Whether the contract says that it copies out of shared memory: then the kernel waits for that at its end."""
        if any("tile" in record.values for record in self.of("param")):
            return True
        return any(verb == "store" for code in self.code for _, verb in (self.protocol(code) or (frozenset(),))[0])

    @cached_property
    def in_cluster(self) -> bool:
        """Whether the contract speaks of a cluster."""
        if self.of("cluster_barrier"):
            return True
        grouped = any("cta_group" in record.values for record in self.of("port"))
        sizes = [record.values.get("value") for record in self.of("cluster")]
        return grouped or any(isinstance(size, list) and size != [1, 1, 1] for size in sizes)

    def defined(self, symbol: str) -> bool:
        """Whether the linker defines ``symbol`` for this component."""
        use = split_symbol(symbol)
        if use is None or use.component != self.name or use.resource not in self.resources:
            return False
        return f"pl_{use.function}" in RESOURCES[self.resources[use.resource][0]].functions

    def protocol(self, code: Code) -> tuple[frozenset[tuple[str, str]], Location] | None:
        """The (resource, verb) pairs of the stated protocol and where it is stated; None if none is."""
        for record in self.of("protocol"):
            if record.name != code.name:
                continue
            try:
                block = parse_text(str(record.values.get("text", "")))
            except ProtocolError:
                return None
            pairs = {(action.subject, action.verb) for action in actions_of(block)}
            calls = {name.removesuffix("_port") for name, (kind, _) in self.resources.items() if kind == "call calls"}
            for step in steps_of(block):
                if isinstance(step, Until):
                    pairs.add((step.port, "ended"))
                elif isinstance(step, Fence):
                    pairs.add((FENCE, step.kind))
                elif isinstance(step, Repeat) and step.count is not None:  # a loop that a call keeps going
                    pairs |= {(name, "call") for name in count_names(step.count) if name in calls}
            return frozenset(pairs), record.location
        return None


def threads_of(role: Record) -> int:
    """How many threads a role has."""
    warps = role.values.get("warps")
    return WARP * warps if isinstance(warps, int) else 0


def alignment_of(role: Record) -> int:
    """What a role's first thread is a multiple of, in threads."""
    align = role.values.get("align")
    return WARP * align if isinstance(align, int) else WARP
