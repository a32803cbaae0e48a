"""What the roles of a placed kernel do, as data: agents with their steps, barriers, slots and who touches what.

An *agent* is the threads of a role that take the same steps: all of them, or a part where a step is taken ``by`` some.
Its protocol is flat code (:class:`Instruction`).  Counters of a state lie in one list of integers, at the indices that
stand here.  What is ordered before what is known by sets of *records*: the last write or read of a place by an agent,
the completion of a barrier, the last take of a token.  A record is one bit; everybody's knowledge is one integer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from pipelink.support.diagnostics import UNKNOWN, Location


class Op(IntEnum):
    """What an instruction does; ``TAKE`` and ``GIVE`` serve acquire/commit, wait/release, take/pass and copy."""

    TAKE = 0
    GIVE = 1
    END = 2
    SYNC = 3
    ARRIVE = 4
    TOUCH = 5
    HOLD = 6  # touch the slots that are held
    LOCAL_ACQUIRE = 7
    LOCAL_COMMIT = 8
    LOCAL_WAIT = 9
    LOCAL_RELEASE = 10
    START = 11  # of a loop by name
    LOOP = 12
    SET = 13  # a loop of a constant count
    COUNT = 14
    CHOOSE = 15
    JUMP = 16
    ELASTIC = 17
    STOP = 18
    SKIP = 19  # a loop by name around nothing


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
    watch: list[int] = field(default_factory=list[int])
    accesses: list[list[Access]] = field(default_factory=list[list[Access]])
    marks: list[int] = field(default_factory=list[int])  # counters: the slot is the end mark; of a local ring: groups
    takes: list[int] = field(default_factory=list[int])  # records of takes, by slot (tokens)
    staging: list[Access] = field(default_factory=list[Access])
    staged: list[Access] = field(default_factory=list[Access])
    location: Location = UNKNOWN


@dataclass(slots=True, eq=False, repr=False)
class Instruction:
    """One step.  ``text`` is what people read.  ``idle``: an agent that is blocked here and holds nothing has done
    enough (the first step of an elastic iteration)."""

    op: Op
    text: str = ""
    end: Endpoint | None = None
    keep: int = 0
    some: bool = False  # there has to be a slot to give
    target: int = -1  # where a loop is left; where an end mark leads
    counter: int = -1
    symbol: int = -1
    ways: tuple[int, ...] = ()
    named: int = -1
    threads: int = 0
    partial: bool = False  # a barrier reached by part of a warp
    signals: list[list[Signal]] = field(default_factory=list[list[Signal]])  # arrivals, by slot
    expect: list[Signal] = field(default_factory=list[Signal])  # announced at an acquire, by slot
    clears: tuple[int, ...] = ()  # loops that are left with it
    accesses: tuple[Access, ...] = ()
    idle: bool = False
    partner: Endpoint | None = None  # of a local ring: the other cursor
    column: int = 0
    location: Location = UNKNOWN
    detail: str = ""


@dataclass(eq=False, repr=False)
class Agent:
    """Threads ``first`` … ``first + threads`` of the CTA, as one.  ``lane`` names its role in traces."""

    lane: str
    role: str
    cta: int
    first: int
    threads: int
    location: Location
    code: list[Instruction] = field(default_factory=list[Instruction])
    symbols: list[frozenset[int]] = field(default_factory=list[frozenset[int]])  # used from an instruction on
    endpoints: list[Endpoint] = field(default_factory=list[Endpoint])
    own: int = 0  # its records
    pc: int = 0  # index of its program counter; then whether it waits inside a named barrier

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
    """A named barrier; or, with a negative number, where roles of an exclusive group take turns.  ``state`` is the
    index of its counters: threads that arrived, agents that did."""

    id: int
    threads: int
    state: int
    record: int = 0
    users: list[int] = field(default_factory=list[int])
    names: list[str] = field(default_factory=list[str])
    location: Location = UNKNOWN

    @property
    def title(self) -> str:
        return f"named barrier {self.id}" if self.id >= 0 else "the change of turns"


@dataclass(eq=False, repr=False)
class Place:
    """What is touched: a slot, a buffer, tensor memory.  ``ranges`` are (space, first, end)."""

    name: str
    ranges: tuple[tuple[str, int, int], ...]
    owner: str
    private: bool = False  # a buffer that is divided among threads, each of which uses its part alone
    written: int = -1  # of a buffer, a counter: it holds what was written
    spoils: tuple[int, ...] = ()  # the counters of buffers that a write makes worthless
    writes: dict[int, int] = field(default_factory=dict[int, int])  # agent -> record
    reads: dict[int, int] = field(default_factory=dict[int, int])
    location: Location = UNKNOWN


@dataclass(eq=False, repr=False)
class Symbol:
    """A name by which loops repeat, or roles choose."""

    name: str
    at_least_once: bool = False
    ways: int = 0  # of a choice
    constant: bool = False  # all loops by it run equally often: a parameter of the launch
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
