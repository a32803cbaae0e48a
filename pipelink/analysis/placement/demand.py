"""What a problem demands of each range of memory as a linear function of the ring depths, for CP-SAT.

Amounts are lower bounds on any packing: alignment is left out, buffers apart in time count at their fullest moment, and
resources joined by overlays count as the largest of them.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass

from pipelink.analysis.placement.pack import owner
from pipelink.model.demand import Buffer, Problem, Ring, Scope
from pipelink.target import MBARRIER_BYTES


@dataclass(frozen=True)
class Demand:
    """Use of one range of memory that is linear in the depths: ``fixed`` plus ``per_stage[ring] * depth``.  ``slot`` is
    the (group, alternative) it lives in, or None; demands with one ``overlay`` share their memory."""

    fixed: int
    per_stage: tuple[tuple[str, int], ...]
    slot: tuple[str, str] | None = None
    overlay: int | None = None


Limits = list[tuple[int, list[Demand]]]

_OPTIONS = 512  # depth vectors of one alternative that are enumerated


@dataclass(frozen=True)
class Frontier:
    """What an exclusive group is worth for every share of memory.  Its alternatives do not constrain each other: within
    a share each takes its best depths.  ``steps`` holds (bytes, worth), both rising; ``options`` every
    alternative's own steps with their depths."""

    steps: tuple[tuple[int, int], ...]
    options: tuple[tuple[tuple[int, int, dict[str, int]], ...], ...]

    def stages(self, share: int) -> dict[str, int]:
        """The best depths of every alternative within ``share`` bytes."""
        found: dict[str, int] = {}
        for steps in self.options:
            found |= [depths for size, _, depths in steps if size <= share][-1]
        return found


def frontiers(problem: Problem, demands: list[Demand], limit: int) -> dict[str, Frontier]:
    """The frontier of every group whose rings live in one alternative each and use shared memory alone."""
    rings = {ring.key: ring for ring in problem.rings}
    slots: dict[str, dict[str, list[Demand]]] = defaultdict(lambda: defaultdict(list))
    for demand in demands:
        if demand.slot is not None:
            slots[demand.slot[0]][demand.slot[1]].append(demand)
    found: dict[str, Frontier] = {}
    for group, alternatives in slots.items():
        members = [demand for own in alternatives.values() for demand in own]
        inside = [rings[key] for demand in members for key, _ in demand.per_stage]
        if any(d.overlay is not None for d in members) or any(r.persistent_bytes or r.columns for r in inside):
            continue
        options = [_options(own, rings, limit) for own in alternatives.values()]
        if all(options):
            found[group] = Frontier(_steps([own for own in options if own is not None]), tuple(filter(None, options)))
    return found


def _options(
    demands: list[Demand], rings: dict[str, Ring], limit: int
) -> tuple[tuple[int, int, dict[str, int]], ...] | None:
    """(bytes, worth, depths) of one alternative: the depth vectors that no other one beats."""
    factors = {key: factor for demand in demands for key, factor in demand.per_stage}
    own = [rings[key] for key in factors]
    fixed = sum(demand.fixed for demand in demands)
    if math.prod(ring.most - ring.least + 1 for ring in own) > _OPTIONS:
        return None
    every = [
        (
            fixed + sum(factors[r.key] * s for r, s in zip(own, vector, strict=True)),
            sum(r.worth(s) for r, s in zip(own, vector, strict=True)),
            dict(zip((r.key for r in own), vector, strict=True)),
        )
        for vector in itertools.product(*(range(r.least, r.most + 1) for r in own))
    ]
    kept: list[tuple[int, int, dict[str, int]]] = []
    for size, value, depths in sorted(every, key=lambda option: (option[0], -option[1])):
        if size <= limit and (not kept or value > kept[-1][1]):
            kept.append((size, value, depths))
    return tuple(kept) or None


def _steps(options: list[tuple[tuple[int, int, dict[str, int]], ...]]) -> tuple[tuple[int, int], ...]:
    """The sum of what all alternatives get, at every share at which one of them gets more."""
    least = max(own[0][0] for own in options)
    rises: dict[int, int] = defaultdict(int)
    for own in options:
        before = 0
        for size, value, _ in own:
            rises[max(size, least)] += value - before
            before = value
    total = 0
    steps: list[tuple[int, int]] = []
    for size in sorted(rises):
        total += rises[size]
        steps.append((size, total))
    return tuple(steps)


def linear_demands(problem: Problem, smem_limit: int) -> Limits:
    """(limit, demands) of shared memory and, where it is used, of tensor memory."""
    overlay = _overlay_of(problem)
    smem = [
        Demand(
            MBARRIER_BYTES * sum(m.count for m in problem.mbarriers),
            tuple((ring.key, ring.persistent_bytes) for ring in problem.rings),
        )
    ]
    smem += _fixed(problem.buffers, overlay)
    smem += [
        Demand(0, ((ring.key, ring.stage_bytes),), _slot(ring.scope), overlay.get(ring.key))
        for ring in problem.rings
        if ring.parts
    ]
    limits: Limits = [(smem_limit, smem)]
    if problem.columns or any(ring.columns for ring in problem.rings):
        tmem = _fixed(problem.columns, overlay)
        tmem += [
            Demand(0, ((ring.key, sum(p.stride for p in ring.columns)),), _slot(ring.scope), overlay.get(ring.key))
            for ring in problem.rings
            if ring.columns
        ]
        limits.append((problem.tmem_limit, tmem))
    return limits


def _overlay_of(problem: Problem) -> dict[str, int]:
    """Resources that overlays join, directly or through others."""
    label: dict[str, int] = {}
    for index, keys in enumerate(problem.overlays):
        joined = {label[key] for key in keys if key in label}
        label = {key: index if mark in joined else mark for key, mark in label.items()}
        label.update((key, index) for key in keys)
    return label


def _slot(scope: Scope) -> tuple[str, str] | None:
    if scope.group is None or scope.alternative is None:
        return None
    return scope.group, scope.alternative


def _fixed(buffers: tuple[Buffer, ...], overlay: dict[str, int]) -> list[Demand]:
    """Fixed buffers, those of one timeline at its fullest moment."""
    found: list[Demand] = []
    lines: dict[tuple[str, Scope], list[Buffer]] = defaultdict(list)
    for buffer in buffers:
        joined = overlay.get(owner(buffer.key))
        if joined is not None:
            found.append(Demand(buffer.size, (), _slot(buffer.scope), joined))
        elif buffer.interval is not None:
            lines[buffer.interval.timeline, buffer.scope].append(buffer)
        else:
            found.append(Demand(buffer.size, (), _slot(buffer.scope)))
    for (_, scope), line in lines.items():
        moments = sorted({b.interval.begin for b in line if b.interval is not None})
        fullest = max(
            sum(b.size for b in line if b.interval is not None and b.interval.begin <= at < b.interval.end)
            for at in moments
        )
        found.append(Demand(fullest, (), _slot(scope)))
    return found
