"""The placement problem and its solution as plain data, independent of the IR.

``analysis.placement.build`` reads a :class:`Problem` from a kernel, ``solve`` turns it into a :class:`Solution`, and
the ``place`` pass writes that back as attributes.  Keys are ``instance::name``; shared-memory sizes and addresses are
bytes, tensor memory is counted in columns.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from pipelink.support.diagnostics import UNKNOWN, Location
from pipelink.target import SETMAXNREG_MAX, SETMAXNREG_MIN, Target


def spelled(key: str) -> str:
    """A key as IR spells it: ``'@load::@ab'``; names of groups stay as they are."""
    return f"'{'::'.join('@' + part for part in key.split('::'))}'" if "::" in key else f"'{key}'"


@dataclass(frozen=True)
class Scope:
    """When a resource is in use.  Both fields None: always.  ``group``/``alternative``: only while that role of the
    exclusive group runs, so resources of two alternatives of one group never live at once."""

    group: str | None = None
    alternative: str | None = None

    def excludes(self, other: Scope) -> bool:
        """Whether the two can never be in use at once."""
        return (
            self.group is not None
            and self.group == other.group
            and self.alternative is not None
            and other.alternative is not None
            and self.alternative != other.alternative
        )


ALWAYS = Scope()

#: What the first slot of a ring is worth, by weight 1; the k-th is worth a k-th of it, rounded up.  Every quotient is
#: whole up to 8.
SLOT_WORTH = 840


def slot_worths(least: int, most: int) -> Iterator[tuple[int, int]]:
    """Slots from number ``least + 1`` to ``most`` as (how many, what each is worth), worth less and less."""
    number = least + 1
    while number <= most:
        quotient = (SLOT_WORTH - 1) // number
        last = min(most, (SLOT_WORTH - 1) // quotient) if quotient else most
        yield last - number + 1, quotient + 1
        number = last + 1


@functools.cache
def worth_of(depth: int) -> int:
    """What a ring of ``depth`` slots is worth by weight 1: concave, so that of rings which compete none starves."""
    return sum(count * each for count, each in slot_worths(0, depth))


@dataclass(frozen=True)
class Interval:
    """Use within one instance's own timeline: from ``begin`` up to, not including, ``end``."""

    timeline: str
    begin: int
    end: int

    def apart_from(self, other: Interval) -> bool:
        return self.timeline == other.timeline and (self.end <= other.begin or other.end <= self.begin)


@dataclass(frozen=True)
class Role:
    """Warps that run one entry.  ``align``: the first warp is a multiple of it.  ``registers``: range per thread, None
    where the component states none."""

    key: str
    warps: int
    align: int = 1
    registers: tuple[int, int] | None = None
    location: Location = UNKNOWN


@dataclass(frozen=True)
class Unit:
    """Roles on the same warps.  ``registers`` is None where no role states a range."""

    name: str
    roles: tuple[Role, ...]
    warps: int
    align: int
    registers: tuple[int, int] | None
    location: Location

    @property
    def range(self) -> tuple[int, int]:
        return self.registers or (SETMAXNREG_MIN, SETMAXNREG_MAX)


@dataclass(frozen=True)
class Group:
    """Roles that share warps and never run at once."""

    name: str
    roles: tuple[str, ...]
    location: Location = UNKNOWN


@dataclass(frozen=True)
class Buffer:
    """A fixed piece of memory."""

    key: str
    size: int
    align: int
    scope: Scope = ALWAYS
    interval: Interval | None = None
    location: Location = UNKNOWN


@dataclass(frozen=True)
class Part:
    """One array of a ring: ``size`` bytes (or columns) a stage, every stage aligned."""

    size: int
    align: int

    @property
    def stride(self) -> int:
        return -(-self.size // self.align) * self.align


@dataclass(frozen=True)
class Ring:
    """Anything whose depth is chosen: a ring of stages, or a pool of pages.  Per stage it takes one slot of every part
    in shared memory, ``columns`` of tensor memory, ``mbarriers`` and 32-bit ``words``; the last two are persistent,
    whatever the scope, because their state survives from one operation to the next."""

    key: str
    least: int
    most: int
    weight: int = 1
    parts: tuple[Part, ...] = ()
    columns: tuple[Part, ...] = ()
    mbarriers: int = 0
    words: int = 0
    scope: Scope = ALWAYS
    unit: str = "stages"  # for messages
    fixed_by: str = ""  # why ``least`` equals ``most``, for messages
    location: Location = UNKNOWN

    @property
    def stage_bytes(self) -> int:
        """Bytes of the parts of one stage."""
        return sum(part.stride for part in self.parts)

    @property
    def persistent_bytes(self) -> int:
        """Bytes of mbarriers and words of one stage."""
        return 8 * self.mbarriers + 4 * self.words

    def worth(self, depth: int) -> int:
        """What this depth adds to the objective."""
        return self.weight * worth_of(depth)


@dataclass(frozen=True)
class Barrier:
    """A named barrier and how many threads take part."""

    key: str
    threads: int
    scope: Scope = ALWAYS
    location: Location = UNKNOWN


@dataclass(frozen=True)
class Mbarriers:
    """Mbarriers that no ring owns: tokens, and those that a component asks for."""

    key: str
    count: int
    arrivals: int
    location: Location = UNKNOWN


@dataclass(frozen=True)
class Problem:
    """Everything that the components of one kernel share."""

    target: Target
    min_ctas: int = 1
    roles: tuple[Role, ...] = ()
    groups: tuple[Group, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    rings: tuple[Ring, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    mbarriers: tuple[Mbarriers, ...] = ()
    columns: tuple[Buffer, ...] = ()  # tensor memory, in columns
    overlays: tuple[frozenset[str], ...] = ()  # keys of buffers and rings that may lie on each other
    name: str = "kernel"
    location: Location = UNKNOWN

    @property
    def smem_limit(self) -> int:
        return self.target.smem_for(self.min_ctas)

    @property
    def tmem_limit(self) -> int:
        """Columns that a CTA may allocate: a power of two, so that ``min_ctas`` allocations fit on an SM."""
        share = self.target.tmem_columns // self.min_ctas
        return 1 << (share.bit_length() - 1) if share else 0


@dataclass(frozen=True)
class Options:
    """How to solve.  ``deterministic_time`` is CP-SAT's, for all models of a kernel together, in its own unit (a few
    seconds each); without ``elect`` every thread that touches a slot arrives for itself."""

    min_smem: bool = False
    deterministic_time: float = 4.0
    elect: bool = True


@dataclass
class Budget:
    """The deterministic time that is left for CP-SAT."""

    left: float


@dataclass(frozen=True)
class WarpPlan:
    """First warp of every role, warps launched, and registers: one value a warpgroup, or None without setmaxnreg."""

    first: dict[str, int]
    warps: int
    entry_registers: int
    registers: tuple[int, ...] | None
    optimal: bool = True


@dataclass(frozen=True)
class Packing:
    """Addresses of items; ``end`` is one past the last used one, ``bound`` a lower bound on it."""

    addresses: dict[str, int]
    end: int
    bound: int


@dataclass(frozen=True)
class Solution:
    """A solution.  ``parts``, ``mbarrier`` and ``word`` give addresses by ring key (and part); ``smem_bytes`` counts
    from the first usable address.  ``value`` is what the depths are worth, ``bound`` an upper bound on it."""

    warps: WarpPlan
    stages: dict[str, int]
    buffers: dict[str, int]
    parts: dict[str, tuple[int, ...]]
    mbarrier: dict[str, int]
    word: dict[str, int]
    mbarriers: int
    words: int
    barriers: dict[str, int]
    columns: dict[str, tuple[int, ...]]
    tmem_columns: int
    smem_bytes: int
    smem_bound: int
    value: int
    bound: int
    optimal: bool
    reasons: list[str] = field(default_factory=list[str])
