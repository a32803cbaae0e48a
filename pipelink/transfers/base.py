"""What a transfer is: one class that every step of a link asks, in one file beside its device code.

A step never looks at a transfer's name.  ``check`` asks whether it applies and whether the ends agree, ``place`` what
it demands of the SM and what was decided for each connection, ``bind`` which device functions serve which operation of
the ports with which constants, ``prove`` what each step does to mbarriers and memory, debug links where it waits.

Device code is CUDA C++ (``device.cuh`` and one ``.cu`` a kind), compiled once per toolkit.  A new transfer is a
subclass in a new file, a row of :data:`pipelink.transfers.TRANSFERS`, and, when it has code, a new ``.cu``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeVar

from pipelink.contract.vocabulary import DIRECTIONS
from pipelink.ir.attributes import SymbolRef
from pipelink.ir.placement import (
    ColumnArray,
    ConnectionPlacement,
    MbarrierGroup,
    NamedBarrier,
    PageRing,
    SlotArray,
    Span,
)
from pipelink.ir.views import Connect, Port, Role, Tile
from pipelink.model.demand import Barrier, Buffer, Mbarriers, Part, Problem, Ring, Solution
from pipelink.model.graph import ConnectionGraph, Edge
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.support.diagnostics import Diagnostics, Note
from pipelink.support.protocol import Callers
from pipelink.target import Target
from pipelink.transfers.binder import Binder

CLUSTER_CTAS: Final = 2  # CTAs of a cluster that share tiles, or whose tensor cores multiply together
PlacementT = TypeVar("PlacementT", bound=ConnectionPlacement)


@dataclass(frozen=True)
class Refusal:
    """Why a transfer is not legal between two ports, as a clause ('the layouts differ: row_major, swizzle128').
    ``near``: it carries ports of this kind, so the reason helps."""

    reason: str
    near: bool = True


# ---------------------------------------------------------------------------------------------- place
@dataclass(frozen=True)
class End:
    """One end of a connection: a port, the one role that uses it, and who of it arrives (None: every thread)."""

    instance: str
    port: Port
    role: Role
    users: tuple[RoleKey, ...]
    callers: Callers | None
    group: str | None  # the exclusive group of the role

    @property
    def threads(self) -> int:
        """Threads of the role that use the port."""
        return self.callers.threads if self.callers is not None else self.role.thread_count


@dataclass(frozen=True)
class Site:
    """A port that produces, and all that it connects to.  ``find_end`` gives an end of it, or reports why there is
    none; without ``elect`` every thread that touches a slot arrives for itself."""

    key: str  # instance::port
    connects: tuple[Connect, ...]
    lifetimes: Lifetimes
    elect: bool
    diagnostics: Diagnostics
    find_end: Callable[[SymbolRef], End | None]

    def port(self, ref: SymbolRef) -> Port:
        return self.lifetimes.components[ref.root].ports[ref.leaf]

    @property
    def source(self) -> Port:
        return self.port(self.connects[0].source)


@dataclass(frozen=True)
class Arrivals:
    """Who arrives on an mbarrier: ``unit`` is tx, commit (of tcgen05), thread, warp or warpgroup; ``count`` a phase."""

    unit: Any
    count: int

    def __str__(self) -> str:
        return f"{self.count} arrivals, one a {self.unit}"


@dataclass
class Plan:
    """What a transfer demands at a site, in the terms of the placement problem."""

    transfer: Transfer
    site: Site
    rings: tuple[Ring, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    mbarriers: tuple[Mbarriers, ...] = ()


@dataclass
class Solved:
    """The solution of a kernel's problem, as transfers read it.  Cursors (ring positions of the per-thread frame) are
    numbered as they are asked for."""

    problem: Problem
    solution: Solution
    ring_numbers: dict[str, int]
    _cursors: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def __post_init__(self) -> None:
        self._rings = {ring.key: ring for ring in self.problem.rings}
        self._threads = {barrier.key: barrier.threads for barrier in self.problem.barriers}
        self._sizes = {buffer.key: buffer.size for buffer in self.problem.buffers}

    def cursor(self, ring: str, slot: str) -> int:
        return self._cursors.setdefault((ring, slot), len(self._cursors))

    @property
    def cursors(self) -> int:
        return len(self._cursors)

    def slots(self, ring: str) -> tuple[SlotArray, ...]:
        """A ring's tiles in shared memory."""
        parts = zip(self.solution.parts[ring], self._rings[ring].parts, strict=True)
        return tuple(SlotArray(address, part.stride, part.size) for address, part in parts)

    def slots_in_pages(self, lease: str, parts: Sequence[Part]) -> tuple[SlotArray, ...]:
        """Tiles that lie in the pages of a lease, one behind the other."""
        pages, found, at = self.pages(lease), list[SlotArray](), 0
        for part in parts:
            at = -(-at // part.align) * part.align
            found.append(SlotArray(pages.address + at, pages.stride, part.size))
            at += part.size
        return tuple(found)

    def columns(self, ring: str) -> tuple[ColumnArray, ...]:
        """A ring's tiles in tensor memory; none for a ring in shared memory."""
        if not self._rings[ring].columns:
            return ()
        parts = zip(self.solution.columns[ring], self._rings[ring].columns, strict=True)
        return tuple(ColumnArray(at, part.stride) for at, part in parts)

    def barrier(self, key: str) -> NamedBarrier:
        return NamedBarrier(self.solution.barriers[key], self._threads[key])

    def pages(self, key: str) -> PageRing:
        """Pages that operations share."""
        address, part = self.solution.parts[key][0], self._rings[key].parts[0]
        return PageRing(address, self.solution.stages[key], part.stride)

    def span(self, buffer: str) -> Span:
        return Span(self.solution.buffers[buffer], self._sizes[buffer])


# ---------------------------------------------------------------------------------------------- bind
@dataclass(frozen=True)
class Entrance:
    """A function that the threads of a role call once before its entry: with the frame's ``cursor``, the addresses of
    ``parameters`` of their component, the warps of a CTA that call it, and whether one thread is all of its role."""

    function: str
    cursor: int
    parameters: tuple[str, ...]


# ---------------------------------------------------------------------------------------------- prove
@dataclass(frozen=True)
class Arrival:
    """What a step does to the mbarrier of a slot: the group of mbarriers (of CTA ``cta``, first one at ``address``),
    and arrivals of the threads by ``unit`` or ``bytes`` that complete.  The thread that arrives for its unit is
    ``skew`` threads behind the unit's first."""

    cta: int
    address: int
    unit: str = "thread"
    bytes: int = 0
    skew: int = 0


# ---------------------------------------------------------------------------------------------- the transfer
class Transfer:
    """One way from a port to another.  ``kind`` is the kind of both ports; ``sources`` are the files with its device
    functions, () where the linker alone makes it, None where there is no code yet (it can be checked and placed, not
    fused); ``min_arch`` is the oldest architecture that has their instructions.  ``form`` is what ``place`` decides for
    a connection."""

    name: ClassVar[str]
    kind: ClassVar[str]
    sources: ClassVar[tuple[str, ...] | None] = None
    min_arch: ClassVar[str] = "sm_80"
    form: ClassVar[type[ConnectionPlacement]] = ConnectionPlacement
    #: What a consumer's port waits in, for debug links.
    consumer_waits: ClassVar[tuple[str, ...]] = ()
    #: CTAs whose tensor cores work together on it.
    cta_group: ClassVar[int] = 1

    # -- check

    def arch_for(self, target: Target) -> str | None:
        """The architecture to compile its code for, of a link for ``target``; None where that has not the
        instructions."""
        return self.min_arch if target.accepts(self.min_arch) else None

    def refusal(self, source: Port, target: Port) -> Refusal | None:
        """Why it is not legal between two ports; None where it is."""
        if source.kind != self.kind or target.kind != self.kind:
            return Refusal(f"it links {self.kind} ports, not a {source.kind} to a {target.kind} port", near=False)
        out, into = DIRECTIONS[self.kind][:2]
        if (source.direction, target.direction) != (out, into):
            given = f"from '{source.direction}' to '{target.direction}'"
            return Refusal(f"it goes from a port that is '{out}' to one that is '{into}', not {given}", near=False)
        why = self.misfit(source, target)
        return Refusal(why) if why else None

    def misfit(self, source: Port, target: Port) -> str | None:
        """Why it does not carry what a source of its kind gives to such a target, as a clause; None where it does."""
        return None

    def unrequested(self, connect: Connect, source: Port) -> str | None:
        """Why it does not carry this connection, though it could carry its ports, as a clause; None where it does."""
        return "its slots are no pages of a lease" if connect.lease is not None else None

    def agree(self, graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
        """Report what two ports of this kind disagree on besides data.  Asked of the kind, whatever carries it."""

    def agree_all(self, edges: Sequence[Edge], diagnostics: Diagnostics) -> None:
        """Report what all connections of one source disagree on."""

    # -- place

    def demand(self, site: Site) -> Plan | None:
        """What it needs at a site; None where that could not be said, and was reported."""
        return Plan(self, site)

    def place(self, plan: Plan, connect: Connect, solved: Solved) -> ConnectionPlacement:
        """What was decided for one of the site's connections."""
        return ConnectionPlacement(self.name)

    def mbarriers(self, plan: Plan, solved: Solved) -> tuple[MbarrierGroup, ...]:
        """The mbarriers of the plan's rings, as the entry initialises them."""
        return ()

    def incomplete(self, placed: ConnectionPlacement, source: Port, target: Port) -> str | None:
        """What a placement of its form lacks for these ports, as the rest of a sentence about it; None: nothing."""
        return None

    def contradiction(self, placed: ConnectionPlacement, connects: Sequence[Connect], ports: Sequence[Port]) -> str:
        """What is placed against what the connections of a site and their ports state; empty where nothing is."""
        return ""

    # -- bind

    def has_code(self, connect: Connect) -> bool:
        return self.sources is not None

    def way_out(self) -> str | None:
        """What to do where it has no code, if anything."""
        return None

    def device_sources(self, placed: ConnectionPlacement) -> set[str]:
        """The files whose functions a placed connection calls."""
        return set(self.sources or ())

    def bind(self, binder: Binder, connect: Connect) -> None:
        """Define the functions of both ports."""

    def entrance(self, connect: Connect, port: Port) -> Entrance | None:
        """What the roles that use one of its ports do first."""
        return None

    def parameters(self, connect: Connect, port: Port) -> tuple[str, ...]:
        """The parameters of a port's component that its functions read."""
        return ()

    def slot_tiles(self, source: Port, target: Port) -> tuple[Tile, ...]:
        """The tiles that lie in a slot."""
        return source.tiles

    def slot_ends(self, source: Port, targets: Sequence[Port]) -> tuple[Port, ...]:
        """The ports whose alignment a slot must have; the first has the slot's tiles."""
        return (source, *targets)

    # -- prove

    def unmodelled(self, connect: Connect, producer: bool) -> str | None:
        """Why a role at that end cannot be followed, as a clause with ``{port}``; None where it can."""
        return None

    def joins_ctas(self, connect: Connect) -> bool:
        """Whether CTAs of a cluster reach into each other, so that they start and end together."""
        return bool(connect.shared)

    def reaches_peer(self, connect: Connect, source: Port, target: Port) -> bool:
        """Whether one CTA writes the memory, or arrives at the mbarriers, of another of its cluster."""
        return self.joins_ctas(connect) or max(source.multicast, target.multicast) > 1

    def depth(self, placed: ConnectionPlacement) -> int:
        """Slots of a ring; 1 for what has none."""
        return 1

    def watched(self, placed: ConnectionPlacement, producer: bool) -> int | None:
        """The first mbarrier that an end waits for, by slot; None where it waits for none."""
        return None

    def arrivals(
        self, verb: str, producer: bool, connect: Connect, placed: ConnectionPlacement, port: Port, cta: int, ctas: int
    ) -> tuple[Arrival, ...]:
        """Where an end of CTA ``cta`` (of ``ctas`` that are modelled) arrives by a step."""
        return ()

    def expectation(self, placed: ConnectionPlacement, cta: int, ctas: int) -> Arrival | None:
        """The bytes that an acquire announces, with its arrival."""
        return None

    # -- debug links

    def producer_waits(self, placed: ConnectionPlacement) -> tuple[str, ...]:
        """Operations in which a producer's port waits."""
        return ()


def declared(*ports: Port) -> list[Note]:
    """Notes at the declarations of ports."""
    return [Note(f"port '{port.name}' is declared here", port.location) for port in ports]


def report_disagreement(edge: Edge, what: str, source: object, target: object, diagnostics: Diagnostics) -> None:
    message = f"{edge.source} and {edge.target} disagree on {what}: {source} and {target}"
    notes = declared(edge.source.port, edge.target.port)
    diagnostics.error("protocol-mismatch", message, edge.connect.location, notes=notes)
