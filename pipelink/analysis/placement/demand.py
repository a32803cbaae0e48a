"""What a problem demands of each range of memory as a linear function of the ring depths, for CP-SAT.

Amounts are lower bounds on any packing: alignment is left out, buffers apart in time count at their fullest moment, and
resources joined by overlays count as the largest of them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from pipelink.analysis.placement.model import Buffer, Problem, Scope
from pipelink.analysis.placement.pack import owner
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
        limits.append((problem.target.tmem_columns, tmem))
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
