"""Packs buffers into one address range: shared memory in bytes, tensor memory in columns.

Two buffers may overlap if they are never in use at once: alternatives of one exclusive group, intervals apart in one
instance's timeline, or an overlay.  First-fit by falling alignment and size: everything that always lives first, then
group after group, and within a group every alternative into the same range.  The end is compared with a lower bound
from buffers that all live at once; where both agree the packing is optimal, and ``exact`` is not asked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from pipelink.model.demand import Buffer, Packing

Span = tuple[int, int]  # [begin, end)
Order = Callable[[Buffer], tuple[int, ...]]

_ORDERS: tuple[Order, ...] = (  # ties keep the order of declaration
    lambda b: (-b.align,),
    lambda b: (-b.align, -b.size),
    lambda b: (-b.size, -b.align),
    lambda b: (-(b.size % b.align == 0) * b.align, -b.size),
)


def round_up(value: int, align: int) -> int:
    return -(-value // align) * align


def _alternatives(buffers: Iterable[Buffer]) -> dict[str, dict[str, list[Buffer]]]:
    """Buffers of exclusive alternatives: group → alternative → buffers."""
    found: dict[str, dict[str, list[Buffer]]] = {}
    for buffer in buffers:
        scope = buffer.scope
        if scope.group is not None and scope.alternative is not None:
            found.setdefault(scope.group, {}).setdefault(scope.alternative, []).append(buffer)
    return found


def _always(buffers: Iterable[Buffer]) -> list[Buffer]:
    return [b for b in buffers if b.scope.group is None or b.scope.alternative is None]


class Overlays:
    """Which keys a kernel declares to be apart.  A ring's parts carry the ring's key before a ``#``."""

    def __init__(self, sets: Sequence[frozenset[str]]) -> None:
        self._sets: dict[str, set[int]] = defaultdict(set)
        for index, keys in enumerate(sets):
            for key in keys:
                self._sets[key].add(index)

    def of(self, buffer: Buffer) -> set[int]:
        return self._sets.get(owner(buffer.key), set()) if self._sets else set()

    def apart(self, a: Buffer, b: Buffer) -> bool:
        return owner(a.key) != owner(b.key) and bool(self.of(a) & self.of(b))


def owner(key: str) -> str:
    """The resource that a buffer belongs to: the key without its part."""
    return key.partition("#")[0]


def may_overlap(a: Buffer, b: Buffer, overlays: Overlays) -> bool:
    """Whether the two are never in use at once."""
    if a.scope.excludes(b.scope) or overlays.apart(a, b):
        return True
    return a.interval is not None and b.interval is not None and a.interval.apart_from(b.interval)


def _clique(buffers: Iterable[Buffer], overlays: Overlays) -> list[Buffer]:
    """Buffers of one scope that all live at once, as large as is easily found: the fullest moment of every timeline,
    and the largest buffer of every overlay."""
    plain: list[Buffer] = []
    timelines: dict[str, list[Buffer]] = defaultdict(list)
    overlaid: list[Buffer] = []
    for buffer in buffers:
        if overlays.of(buffer):
            overlaid.append(buffer)
        elif buffer.interval is None:
            plain.append(buffer)
        else:
            timelines[buffer.interval.timeline].append(buffer)
    for line in timelines.values():
        moments = [
            [b for b in line if b.interval is not None and b.interval.begin <= at < b.interval.end]
            for at in sorted({b.interval.begin for b in line if b.interval is not None})
        ]
        plain += max(moments, key=lambda moment: sum(b.size for b in moment))
    # the parts of one owner live together; of owners that share an overlay the largest counts
    by_owner: dict[str, list[Buffer]] = defaultdict(list)
    for buffer in overlaid:
        by_owner[owner(buffer.key)].append(buffer)
    used: set[int] = set()
    for parts in sorted(by_owner.values(), key=lambda parts: -sum(p.size for p in parts)):
        sets = overlays.of(parts[0])
        timed = [p for p in parts if p.interval is not None]
        if not sets & used and not timed:
            used |= sets
            plain += parts
    return plain


def _aligned_bound(clique: Sequence[Buffer], low: int) -> int:
    """A lower bound on the length of a packing of buffers that all live at once and start after ``low`` units fixed at
    the beginning: for every alignment A, whole aligned stretches of A belong to buffers aligned to A, and what is left
    of every buffer shares the remaining ones, of which the first holds ``low``."""
    total = low + sum(b.size for b in clique)
    best = total
    for align in {b.align for b in clique}:
        whole = sum(b.size // align for b in clique if b.align >= align)
        rest = total - whole * align
        if whole == 0 or low == 0:
            continue
        best = max(best, (whole + 1) * align if rest <= align else whole * align + rest)
    return best


def together(buffers: Sequence[Buffer], overlays: Overlays) -> list[Buffer]:
    """Buffers of all scopes that live at once: the always-live ones and the largest alternative of every group."""
    clique = _clique(_always(buffers), overlays)
    for alternatives in _alternatives(buffers).values():
        cliques = [_clique(own, overlays) for own in alternatives.values()]
        clique += max(cliques, key=lambda found: sum(b.size for b in found))
    return _without_overlaid(clique, overlays)


def packing_bound(buffers: Sequence[Buffer], low: int, overlays: Overlays) -> int:
    """A lower bound on the length of any packing."""
    return _aligned_bound(together(buffers, overlays), low)


def _without_overlaid(clique: list[Buffer], overlays: Overlays) -> list[Buffer]:
    """Across scopes, buffers of one overlay do not live at once: keep the first of each."""
    kept: list[Buffer] = []
    used: dict[int, str] = {}
    for buffer in clique:
        sets = overlays.of(buffer)
        if all(used.get(s, owner(buffer.key)) == owner(buffer.key) for s in sets):
            used.update((s, owner(buffer.key)) for s in sets)
            kept.append(buffer)
    return kept


def _merge(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _first_fit(buffer: Buffer, base: int, *obstacles: list[Span]) -> int:
    """The lowest aligned address at which the buffer meets no obstacle; every list is sorted and merged."""
    at = round_up(base, buffer.align)
    while True:
        moved = at
        for spans in obstacles:
            index = max(0, bisect_right(spans, (moved, 1 << 62)) - 1)
            while index < len(spans) and spans[index][0] < moved + buffer.size:
                if spans[index][1] > moved:
                    moved = round_up(spans[index][1], buffer.align)
                index += 1
        if moved == at:
            return at
        at = moved


class _FirstFit:
    def __init__(self, base: int, low: int, overlays: Overlays) -> None:
        self.base = base
        self.overlays = overlays
        self.fixed: list[Span] = [(base, base + low)] if low else []
        self.addresses: dict[str, int] = {}
        self.end = base + low

    def place(self, own: Sequence[Buffer], order: Order, walls: list[Span], others: Sequence[Buffer]) -> list[Span]:
        """Place buffers of one scope; ``walls`` are in the way of all of them, ``others`` (of other scopes) only where
        they may not overlap.  Returns the occupied spans."""
        placed: list[Buffer] = []
        plain: list[Span] = []
        for buffer in sorted(own, key=order):
            if self.overlays.of(buffer):
                apart = [self.span(b) for b in (*placed, *others) if not may_overlap(buffer, b, self.overlays)]
                at = _first_fit(buffer, self.base, self.fixed, _merge(apart))
            elif buffer.interval is not None:
                apart = [self.span(b) for b in placed if not may_overlap(buffer, b, self.overlays)]
                at = _first_fit(buffer, self.base, walls, _merge(apart))
            else:
                at = _first_fit(buffer, self.base, walls, plain)
            self.addresses[buffer.key] = at
            self.end = max(self.end, at + buffer.size)
            placed.append(buffer)
            plain = _merge([*plain, self.span(buffer)])
        return plain

    def span(self, buffer: Buffer) -> Span:
        at = self.addresses[buffer.key]
        return (at, at + buffer.size)


def first_fit(
    buffers: Sequence[Buffer], base: int, low: int, overlays: Overlays, order: Order
) -> tuple[dict[str, int], int]:
    """Addresses and the end of a first-fit packing after ``low`` units at ``base``."""
    state = _FirstFit(base, low, overlays)
    always = _always(buffers)
    walls = _merge([*state.fixed, *state.place(always, order, state.fixed, ())])
    done: list[Buffer] = list(always)
    groups = _alternatives(buffers)
    for _, alternatives in sorted(groups.items(), key=lambda g: -max(b.align for o in g[1].values() for b in o)):
        occupied: list[Span] = []
        own_done: list[Buffer] = []
        for own in alternatives.values():
            occupied = _merge([*occupied, *state.place(own, order, walls, done)])
            own_done += own
        walls = _merge([*walls, *occupied])
        done += own_done
    return state.addresses, state.end


def pack(buffers: Sequence[Buffer], base: int, low: int, overlays: Overlays) -> Packing:
    """The best first-fit packing of a few orders, with its lower bound."""
    bound = base + packing_bound(buffers, low, overlays)
    best: tuple[dict[str, int], int] | None = None
    for order in _ORDERS:
        found = first_fit(buffers, base, low, overlays, order)
        if best is None or found[1] < best[1]:
            best = found
        if best[1] == bound:
            break
    assert best is not None
    return Packing(best[0], best[1], bound)
