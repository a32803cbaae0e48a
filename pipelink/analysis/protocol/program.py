"""What the roles of a placed kernel do, as data: agents with their steps, barriers, slots and who touches what.

An *agent* is the threads of a role that take the same steps: all of them, or a part where a step is taken ``by`` some,
or a warpgroup where they take turns.
Its protocol is flat code, a list of operations, which name each other by their numbers in it.  Counters of a state lie
in one list of integers, at the indices that stand here.  What is ordered before what is known by sets of *records*: the
last write or read of a place by an agent, the completion of a barrier, the last take of a token.  A record is one bit;
everybody's knowledge is one integer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pipelink.analysis.protocol.polynomial import Polynomial
from pipelink.support.diagnostics import UNKNOWN, Location


class Access(NamedTuple):
    """A read or write of a place: the records that must be known before, and the one that is made.  ``kept``: the
    agent knows its own record at once (one warp does; of several, none knows what the others have done)."""

    need: int
    record: int
    kept: bool
    write: bool
    place: int


@dataclass(eq=False, repr=False)
class Signal:
    """An arrival: barrier, arrivals (or bytes that complete), and the record of its phase's completion (0: the agent
    alone makes every phase with one arrival, and so knows)."""

    barrier: int
    units: int
    bytes: int = 0


@dataclass(frozen=True)
class PortName:
    """A port as people read it: its ``label`` in the protocol of a role, and its ``reference``, ``@load::@ab``."""

    label: str
    reference: str


@dataclass(eq=False, repr=False)
class Endpoint:
    """An agent's end of a ring or token.  ``cursor`` and ``done`` are counters: slots taken and given back so far.
    The n-th visit of a slot waits for phase ``n + offset`` of ``watch``."""

    port: PortName
    agent: int
    producer: bool
    ring: int  # number of the ring, or token, that it is an end of
    stages: int
    cursor: int
    done: int
    ended: int  # position of the end mark that was found, plus one; 0: none
    offset: int
    token: bool = False
    own: bool = False  # of an mbarrier of the component's own, which is as a token
    watch: list[int] = field(default_factory=list[int])
    accesses: list[list[Access]] = field(default_factory=list[list[Access]])
    marks: list[int] = field(default_factory=list[int])  # counters: the slot is the end mark; of a local ring: groups
    takes: list[int] = field(default_factory=list[int])  # records of takes, by slot (tokens)
    staging: list[Access] = field(default_factory=list[Access])
    staged: list[Access] = field(default_factory=list[Access])
    location: Location = UNKNOWN


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Operation:
    """One step.  ``text`` is what people read; empty for what no protocol says."""

    text: str = ""
    location: Location = UNKNOWN


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class SlotOperation(Operation):
    """A step at the slots of one end of a ring, token or mbarrier."""

    end: Endpoint


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Exchange(SlotOperation):
    """A slot changes hands; ``signals`` are the arrivals by which it is given on, by slot."""

    signals: list[list[Signal]] = field(default_factory=list[list[Signal]])


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Take(Exchange):
    """acquire, wait, take: wait for the next slot.  ``expect`` is announced then, by slot.  ``leave``: where an end
    mark leads; that slot is given back at once, and the counters ``clears`` of the loops that are left with it are
    reset."""

    expect: list[Signal] = field(default_factory=list[Signal])
    leave: int = -1
    clears: tuple[int, ...] = ()


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Give(Exchange):
    """commit, copy, release, pass: give on the oldest slots until ``keep`` are held.  ``some``: there has to be one.
    Without signals others give them on for this agent.  ``touched``: a :class:`Finish` before has touched them."""

    keep: int = 0
    some: bool = False
    touched: bool = False


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class End(Exchange):
    """Take a slot and give it on as the end mark; without signals a :class:`GiveMark` behind it arrives."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class GiveMark(Exchange):
    """The arrivals by which the slot of an end mark is given on, which was taken last."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Hold(SlotOperation):
    """read, write: touch the slots that are held."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class EndTurn(SlotOperation):
    """A role of an exclusive group ends: no slot may be held."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Finish(SlotOperation):
    """Touch the slots that are given on next for the last time."""

    keep: int = 0


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class LocalOperation(SlotOperation):
    """A step at a ring that one role fills and reads; ``partner`` is the ring's other end."""

    partner: Endpoint
    keep: int = 0


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class LocalAcquire(LocalOperation):
    """Begin to fill the next slot."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class LocalCommit(LocalOperation):
    """Make a group of the copies into the oldest slots, until ``keep`` are held."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class LocalWait(LocalOperation):
    """Wait until the copies into the next slot are there."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class LocalRelease(LocalOperation):
    """Give back the oldest slots, until ``keep`` are held."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Meet(Operation):
    """Arrive at a named barrier of so many ``threads``; ``waits``: until all have (sync).  ``partial``: part of a warp
    does."""

    named: int
    threads: int
    waits: bool
    partial: bool = False


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Touch(Operation):
    """Read or write a buffer.  ``waits``: until copies have read it, if there are any.  ``peers``: that of some CTA of
    the cluster, so ``places`` are those of all."""

    places: tuple[int, ...]
    write: bool
    peers: bool = False
    waits: bool = False
    accesses: tuple[Access, ...] = ()


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Begin(Operation):
    """Begin a loop by a name: ``counter`` is the index of its log's number, plus one, then of its iteration; the first
    is number ``start``."""

    symbol: int
    counter: int
    start: int = 0


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Iterate(Operation):
    """One more iteration of a loop by a name, or on to ``leave``.  ``stays``: another goes on with it there."""

    symbol: int
    counter: int
    leave: int = -1
    stays: bool = False


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Leave(Operation):
    """Leave a loop by a name before its count."""

    counter: int


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Skip(Operation):
    """A loop by a name around nothing."""

    symbol: int


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Count(Operation):
    """Begin a loop of ``count`` iterations; ``counter`` is the index of those to come."""

    counter: int
    count: int


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class CountDown(Operation):
    """One more iteration of such a loop, or on to ``leave``."""

    counter: int
    leave: int = -1


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Branch(Operation):
    """Go on where the chosen way begins."""

    symbol: int
    ways: tuple[int, ...] = ()


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Jump(Operation):
    target: int = -1


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Elastic(Operation):
    """Where a loop that runs as often as the others want begins each iteration.  ``driven``: by its first step, which
    waits for others; otherwise somebody has to want an iteration."""

    driven: bool = False
    leave: int = -1


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Stop(Operation):
    """The role has finished."""


@dataclass(eq=False, repr=False)
class Agent:
    """Threads ``first`` … ``first + threads`` of the CTA, as one.  ``lane`` names its role in traces."""

    lane: str
    role: str
    cta: int
    first: int
    threads: int
    location: Location
    code: list[Operation] = field(default_factory=list[Operation])
    #: Operations at which an agent that is blocked and holds nothing has done enough (the head and the first step of an
    #: elastic loop), and where the loop is left then.
    enough: dict[int, int] = field(default_factory=dict[int, int])
    symbols: list[frozenset[int]] = field(default_factory=list[frozenset[int]])  # used from an operation on
    endpoints: list[Endpoint] = field(default_factory=list[Endpoint])
    own: int = 0  # its records
    part: int = 0  # agents of a role with one number take the same steps: warpgroups that take turns
    pc: int = 0  # index of its program counter; then whether it waits inside a named barrier

    def arrivals(self) -> Iterator[Signal]:
        """What its steps arrive with, one after the other."""
        for step in self.code:
            if isinstance(step, Exchange):
                for slot in step.signals:
                    yield from slot
                if isinstance(step, Take):
                    yield from step.expect

    @property
    def several(self) -> bool:
        """More than one warp: its threads run apart."""
        return self.threads > 32


@dataclass(eq=False, repr=False)
class Barrier:
    """An mbarrier.  ``phase`` is the index of its three counters: completed phases, arrivals, bytes to come; then the
    set of agents that arrived in this phase."""

    name: str
    expected: int
    phase: int
    group: int = 0
    record: int = 0
    arrivers: list[int] = field(default_factory=list[int])
    waiters: list[int] = field(default_factory=list[int])
    takers: list[Endpoint] = field(default_factory=list[Endpoint])
    address: int = 0
    location: Location = UNKNOWN


@dataclass(eq=False, repr=False)
class Named:
    """A named barrier; or, with a negative number, another place where threads meet: the roles of an exclusive group at
    a change of turns, the parts of a warp, the CTAs of a ``cluster``.  ``state`` is the index of its counters: threads
    that arrived, agents that did."""

    id: int
    threads: int
    state: int
    cluster: bool = False
    turns: bool = False  # a warpgroup waits there for its turn
    record: int = 0
    users: list[int] = field(default_factory=list[int])
    names: list[str] = field(default_factory=list[str])
    location: Location = UNKNOWN

    @property
    def title(self) -> str:
        if self.cluster:
            return "cluster barrier"
        return f"named barrier {self.id}" if self.id >= 0 else "their meeting"


@dataclass(eq=False, repr=False)
class Place:
    """What is touched: a slot, a buffer, tensor memory.  ``ranges`` are (space, first, end)."""

    name: str
    ranges: tuple[tuple[str, int, int], ...]
    owner: str
    private: bool = False  # a buffer that is divided among threads, each of which uses its part alone
    peers: bool = False  # a buffer as other CTAs of the cluster write it: they have divided it among themselves
    written: int = -1  # of a buffer, a counter: it holds what was written
    spoils: tuple[int, ...] = ()  # the counters of buffers that a write makes worthless
    writes: dict[int, int] = field(default_factory=dict[int, int])  # agent -> record
    reads: dict[int, int] = field(default_factory=dict[int, int])
    location: Location = UNKNOWN


@dataclass(eq=False, repr=False)
class Symbol:
    """A name by which loops repeat, or roles choose."""

    name: str
    least: int = 0  # it is known to be so much at least
    ways: int = 0  # of a choice
    count: Polynomial | None = None  # all loops by it run equally often, as the launch says
    value: int = -1  # if it is known
    origin: int = -1  # the symbol that it was split from, by number


@dataclass(eq=False, repr=False)
class System:
    """Everything about one part of a kernel that is explored together."""

    kernel: str
    agents: list[Agent] = field(default_factory=list[Agent])
    barriers: list[Barrier] = field(default_factory=list[Barrier])
    named: list[Named] = field(default_factory=list[Named])
    places: list[Place] = field(default_factory=list[Place])
    symbols: list[Symbol] = field(default_factory=list[Symbol])
    counters: int = 0
    records: int = 0
    record_names: dict[int, tuple[str, int, int]] = field(default_factory=dict[int, tuple[str, int, int]])
    groups: list[list[tuple[int, int]]] = field(default_factory=list[list[tuple[int, int]]])  # (counter, step)

    def counter(self) -> int:
        self.counters += 1
        return self.counters - 1

    def new_record(self, kind: str, agent: int, subject: int) -> int:
        """A record's bit: ``write`` or ``read`` of a place, ``phase`` of a barrier, ``take``, ``generation``."""
        self.records += 1
        bit = 1 << (self.records - 1)
        self.record_names[bit] = (kind, agent, subject)
        return bit
