"""What the simulator runs: movers with their operations, the memory they touch, and how much an arrival counts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipelink.support.protocol import Callers

UNIT_WARPS = {"warp": 1, "warpgroup": 4}
#: What a state has of each mover; FLIGHT: how many bulk copies out of each buffer still read.
PC, CURSORS, ITEMS, HELD, MET, GROUPS, COMMITS, FLIGHT, FIELDS = range(9)
MAX_OPS = 4000  # of one mover
Symbol = tuple[Any, ...]
Choice = tuple[int, ...]
Interval = tuple[str, int, int]  # space, first byte (or column), end


class Fault(Exception):
    """Something that must not happen; the message says what."""


class UnsupportedError(Exception):
    """What the simulator does not know: operations that a dispatcher runs."""


@dataclass
class Use:
    """One end of a ring or token, or a buffer, as one CTA's movers hold it.  ``places`` has the intervals of each
    stage, ``masks`` the memory cells they consist of; ``full`` and ``empty`` are addresses of mbarriers."""

    index: int
    name: str
    kind: str  # out, in, local, token_out, token_in, buffer, arrives, waits, signal, await, cluster
    mode: str  # r or w
    owner: str  # whose items: the ring's source port and instance, or the buffer
    cta: int
    stages: int = 1
    cursor: int = -1
    full: int = 0
    empty: int = 0
    end: int | None = None
    bytes: int = 0
    tiles: tuple[int, ...] = ()
    unit: str = ""
    function: str = "ring"  # ring, cluster, pair: which CTAs an arrival or a copy reaches
    shared: tuple[int, ...] = ()
    divided: bool = False  # a buffer of a component without barriers: each warp has a part to itself
    peers: bool = False  # a buffer that all CTAs of the cluster write into, each its part
    stored: bool = False  # a buffer that bulk copies read
    slices: int = 1  # of such a buffer, each for one copy: one more than may be in flight when the next is written
    parts: tuple[tuple[str, int], ...] = ()  # who fills a slot: movers, or the TMA of CTAs
    credit: int = 0
    sources: tuple[str, ...] = ()  # of one that awaits: the ports that signal it
    counted: int = -1  # the use with whose items those of this one are counted: itself, or that of a role before
    places: list[list[Interval]] = field(default_factory=list)
    masks: list[int] = field(default_factory=list)
    cells: list[list[int]] = field(default_factory=list)
    word_cells: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counted = self.index if self.counted < 0 else self.counted


@dataclass
class Mover:
    """Warps ``first`` to ``first + warps`` of a role, which act together; ``threads`` is 1 for a role of one thread."""

    name: str
    cta: int
    instance: str
    role: str
    first: int
    warps: int
    threads: int
    at: int  # the first warp's number in the CTA
    mentions: set[int] = field(default_factory=set)  # the ports of its protocol
    ops: list[tuple[Any, ...]] = field(default_factory=list)
    joining: list[list[Any]] = field(default_factory=list)  # slots that others took: port, operation after a barrier


@dataclass
class Machine:
    movers: list[Mover]
    uses: list[Use]
    mbarriers: dict[tuple[int, int], int]  # (CTA, address) -> arrivals
    barriers: list[tuple[int, int]]  # (CTA, id)
    cells: int  # in a CTA
    mbarrier_mask: int
    words: dict[int, int]  # address -> cell
    taken: list[tuple[int, str]]  # masks of buffers whose use no protocol says: in use all the time


class Counts:
    """The values of one instance: every count by its identity.  Asked for one that it does not have, it remembers it
    and answers 1 (a choice: always the first way)."""

    def __init__(self, values: Mapping[Symbol, Any] | None = None) -> None:
        self.values = dict(values or {})
        self.asked: dict[Symbol, int] = {}

    def number(self, symbol: Symbol, least: int = 0) -> int:
        self.asked[symbol] = max(self.asked.get(symbol, 0), least)
        return self.values.get(symbol, 1)

    def way(self, symbol: Symbol, ways: int, nth: int) -> int:
        self.asked[symbol] = ways
        chosen: Choice = self.values.get(symbol, (0,))
        return chosen[nth % len(chosen)]


def assignments(asked: Mapping[Symbol, int], most: int) -> Iterator[dict[Symbol, Any]]:
    """All values of the counts from their least to ``most``, and the ways of choices, in four patterns."""
    domains: list[list[Any]] = []
    for symbol, number in asked.items():
        if symbol[0] == "choose":
            last = number - 1
            domains.append([(0,), (last,), (0, last), (last, 0), *((way,) for way in range(1, last))])
        else:
            domains.append(list(range(number, most + 1)))
    for values in itertools.product(*domains):
        yield dict(zip(asked, values, strict=True))


def least_parts(intervals: list[Interval]) -> tuple[int, dict[Interval, list[int]]]:
    """The least parts that the intervals consist of; parts that belong to the same ones are one."""
    of: dict[Interval, list[int]] = {interval: [] for interval in intervals}
    signatures: dict[frozenset[int], int] = {}
    edges = sorted({(s, x) for s, first, end in intervals for x in (first, end)})
    for (space, first), (other, end) in itertools.pairwise(edges):
        if space != other:
            continue
        members = frozenset(i for i, (s, a, b) in enumerate(intervals) if s == space and a <= first and end <= b)
        if members:
            cell = signatures.setdefault(members, len(signatures))
            for member in members:
                if cell not in of[intervals[member]]:
                    of[intervals[member]].append(cell)
    return len(signatures), of


def slots_of(placed: dict[str, Any], stage: int) -> list[Interval]:
    if "columns" in placed:
        return [
            ("tmem", p["column"] + stage * p["stride"], p["column"] + (stage + 1) * p["stride"])
            for p in placed["columns"]
        ]
    return [
        ("smem", b["address"] + stage * b["stride"], b["address"] + stage * b["stride"] + b["bytes"])
        for b in placed["buffers"]
    ]


def warps_of(by: Callers) -> int:
    return -(-by.count // 32) if by.unit == "thread" else by.count * UNIT_WARPS[by.unit]


def threads_of(by: Callers) -> int:
    return by.count if by.unit == "thread" else 32 * by.count * UNIT_WARPS[by.unit]


def narrower(first: Callers | None, second: Callers | None) -> Callers | None:
    if first is None or second is None:
        return first or second
    return first if threads_of(first) <= threads_of(second) else second


def taking_part(mover: Mover, by: Callers | None) -> tuple[int, int]:
    """Threads and warps of a mover that take a step."""
    if by is None or mover.threads == 1:
        return (mover.threads, mover.warps) if by is None or mover.first == 0 else (0, 0)
    threads = max(min(threads_of(by) - 32 * mover.first, mover.threads), 0)
    return threads, -(-threads // 32)


def arrivals_of(mover: Mover, unit: str, threads: int, warps: int) -> int:
    """How often an arrival of these threads counts (device.cuh, pl_arrive_as): threads, first lanes of warps, or
    threads whose number in the CTA is a multiple of 128."""
    if unit == "thread":
        return threads
    if unit == "warp":
        return warps
    if unit == "warpgroup":
        return sum((mover.at + warp) % 4 == 0 for warp in range(warps))
    return 1  # tensor cores, or TMA
