"""Solves a placement problem: warps and registers, named barriers, ring depths, then addresses.

The parts constrain each other only through what is fixed before them, so each is solved on its own: warps share
nothing with memory; depths are chosen against the linear demand of all memory (a lower bound on any packing), then
packed.  Where few depth vectors exist they are tried in order of preference, which is exact; otherwise CP-SAT chooses.
If the packing of a choice does not fit, the next one is tried, so that a placement is refused only if the shallowest
rings do not fit either.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

from pipelink.analysis.placement import pack as packing
from pipelink.analysis.placement.explain import (
    barrier_overflow,
    memory_overflow,
    ring_range_empty,
    tmem_overflow,
    too_many_ctas,
    warp_failure,
    worth_overflow,
)
from pipelink.analysis.placement.warps import WarpFailure, plan_warps
from pipelink.model.demand import (
    Budget,
    Buffer,
    Options,
    Packing,
    Problem,
    Ring,
    Solution,
    WarpPlan,
    spelled,
)
from pipelink.support.diagnostics import Diagnostics
from pipelink.target import MBARRIER_BYTES, NAMED_BARRIERS, SMEM_BASE, SMEM_GRANULE

ENUMERATED = 1024  # depth vectors that are tried one by one; more go to CP-SAT
EXACT_BUFFERS = 40  # buffers that CP-SAT packs where first-fit does not fit
TIGHT_BUFFERS = 12  # buffers that it packs more tightly
TMEM_LEAST = 32  # columns, PTX ISA, tcgen05.alloc: a power of two, 32 to 512
LOW = "mbarriers and words"  # the key of what lies first, where it has to find a place as buffers do
_SAID = 8  # rings named in one reason
_RETRY_STEPS = (128, 512, 2048, 8192)  # bytes given up at least, where a choice of depths does not pack
_TRY_TIME = 0.05  # to pack a choice of depths, where there is another choice
_COMPARED = 1 << 53  # what depths may be worth together: CP-SAT states its objective as a double


@dataclass(frozen=True)
class _Memory:
    """A packed choice of depths."""

    stages: dict[str, int]
    smem: Packing
    tmem: Packing
    bound: int  # upper bound on what depths are worth
    least: bool = True  # no choice that is worth as much demands less


class _Incomparable(Exception):
    """All depths of a problem are worth more than the solver can compare."""

    def __init__(self, worth: int) -> None:
        super().__init__(worth)
        self.worth = worth


def solve(problem: Problem, options: Options, diagnostics: Diagnostics) -> Solution | None:
    """A placement, or None after reporting every resource that does not suffice.  The same problem always gives the
    same placement.

    Reports ``register-disagreement``, ``too-many-warps``, ``register-overcommit``, ``too-many-barriers``,
    ``ring-range-disjoint``, ``smem-overflow`` and ``tmem-overflow``; ``wrong-attribute`` where weights are so large
    that the worths of depths cannot be compared.
    """
    before = len(diagnostics.errors)
    budget = Budget(options.deterministic_time)
    try:
        warps = plan_warps(problem, budget)
    except WarpFailure as failure:
        warp_failure(problem, failure, diagnostics)
        warps = None
    barriers = _number_barriers(problem, diagnostics)
    for ring in problem.rings:
        if ring.least > ring.most:
            ring_range_empty(ring, diagnostics)
    if len(diagnostics.errors) > before:
        return None
    assert warps is not None
    resident = warps.warps * problem.min_ctas
    if resident > problem.target.warps_per_sm:
        too_many_ctas(problem, warps.warps, diagnostics)
        return None
    overlays = packing.Overlays(problem.overlays)
    try:
        memory = _place_memory(_clamped(problem), options, overlays, budget)
    except _Incomparable as large:
        worth_overflow(problem, large.worth, _COMPARED, diagnostics)
        return None
    memory = memory or _with_mbarriers_anywhere(_clamped(problem), options, overlays, budget)
    if memory is None:
        _explain_memory(problem, overlays, diagnostics)
        return None
    return _result(problem, options, warps, barriers, memory)


def _clamped(problem: Problem) -> Problem:
    """The problem without depths that memory could never hold, so that wide ranges cost nothing."""

    def most(ring: Ring) -> int:
        smem = ring.stage_bytes + ring.persistent_bytes
        columns = sum(part.stride for part in ring.columns)
        found = [ring.most]
        if smem:
            found.append(problem.smem_limit // smem + 1)  # the last stage may lack its padding
        if columns:
            found.append(problem.tmem_limit // columns)
        return max(ring.least, min(found))

    return replace(problem, rings=tuple(replace(ring, most=most(ring)) for ring in problem.rings))


# ---------------------------------------------------------------------------------------------- barriers
def _number_barriers(problem: Problem, diagnostics: Diagnostics) -> dict[str, int]:
    """Ids from 1: barriers that always live, then group after group, whose alternatives share ids.  No assignment uses
    fewer, because barriers of different groups can be in use at once."""
    ids: dict[str, int] = {}
    following = 1
    for barrier in problem.barriers:
        if barrier.scope.alternative is None:
            ids[barrier.key] = following
            following += 1
    for group in dict.fromkeys(b.scope.group for b in problem.barriers if b.scope.alternative is not None):
        taken: dict[str | None, int] = {}
        for barrier in problem.barriers:
            if barrier.scope.group == group and barrier.scope.alternative is not None:
                at = taken.setdefault(barrier.scope.alternative, following)
                ids[barrier.key] = at
                taken[barrier.scope.alternative] = at + 1
        following = max(taken.values())
    if following > NAMED_BARRIERS:
        barrier_overflow(problem, ids, following - 1, diagnostics)
    return ids


# ---------------------------------------------------------------------------------------------- memory
def low_bytes(problem: Problem, stages: dict[str, int]) -> int:
    """Bytes of mbarriers, then words, at the first usable address."""
    rings = sum(ring.persistent_bytes * stages[ring.key] for ring in problem.rings)
    return rings + MBARRIER_BYTES * sum(m.count for m in problem.mbarriers)


def smem_buffers(problem: Problem, stages: dict[str, int]) -> list[Buffer]:
    """Every piece of shared memory: buffers, and each ring's parts with all their stages."""
    found = list(problem.buffers)
    for ring in problem.rings:
        for index, part in enumerate(ring.parts):
            size = part.stride * (stages[ring.key] - 1) + part.size
            found.append(Buffer(f"{ring.key}#{index}", size, part.align, ring.scope, None, ring.location))
    return found


def tmem_buffers(problem: Problem, stages: dict[str, int]) -> list[Buffer]:
    """Every piece of tensor memory, in columns."""
    found = list(problem.columns)
    for ring in problem.rings:
        for index, part in enumerate(ring.columns):
            size = part.stride * stages[ring.key]
            found.append(Buffer(f"{ring.key}#{index}", size, part.align, ring.scope, None, ring.location))
    return found


def _value(problem: Problem, stages: dict[str, int]) -> int:
    return sum(ring.worth(stages[ring.key]) for ring in problem.rings)


def _fits(problem: Problem, stages: dict[str, int], overlays: packing.Overlays) -> bool:
    """Whether the lower bounds allow these depths."""
    low = low_bytes(problem, stages)
    if packing.packing_bound(smem_buffers(problem, stages), low, overlays) > problem.smem_limit:
        return False
    return packing.packing_bound(tmem_buffers(problem, stages), 0, overlays) <= problem.tmem_limit


def _place_memory(problem: Problem, options: Options, overlays: packing.Overlays, budget: Budget) -> _Memory | None:
    """The rings that are worth most of those that pack, or the shallowest for min-smem."""
    rings = problem.rings
    least = {ring.key: ring.least for ring in rings}
    most = {ring.key: ring.most for ring in rings}
    if options.min_smem:
        return _first_that_packs(problem, overlays, budget, [least])
    if found := _first_that_packs(problem, overlays, budget, [most]):
        return found
    if math.prod(ring.most - ring.least + 1 for ring in rings) <= ENUMERATED:
        return _first_that_packs(problem, overlays, budget, _enumerate(problem))
    if not _fits(problem, least, overlays):
        return None
    return _deepest(problem, overlays, budget)


def _with_mbarriers_anywhere(
    problem: Problem, options: Options, overlays: packing.Overlays, budget: Budget
) -> _Memory | None:
    """What fits only where mbarriers and words need not come first, before a buffer that starts on a wide boundary."""
    for stages in _enumerate(problem, options.min_smem):
        buffers = [*smem_buffers(problem, stages), Buffer(LOW, low_bytes(problem, stages), MBARRIER_BYTES)]
        tmem = _pack(tmem_buffers(problem, stages), 0, 0, problem.tmem_limit, overlays, budget)
        if packing.packing_bound(buffers, 0, overlays) <= problem.smem_limit:
            smem = _pack(buffers, 0, SMEM_BASE, problem.smem_limit, overlays, budget)
            if _within(problem, smem, tmem):
                return _Memory(stages, smem, tmem, _value(problem, stages))
    return None


def _first_that_packs(
    problem: Problem, overlays: packing.Overlays, budget: Budget, choices: list[dict[str, int]]
) -> _Memory | None:
    """The first of ``choices``, in order of preference, that fits."""
    bound: int | None = None
    for stages in choices:
        if not _fits(problem, stages, overlays):
            continue
        bound = _value(problem, stages) if bound is None else bound
        smem, tmem = _pack_both(problem, stages, overlays, budget)
        if _within(problem, smem, tmem):
            return _Memory(stages, smem, tmem, bound)
    return None


def _deepest(problem: Problem, overlays: packing.Overlays, budget: Budget) -> _Memory | None:
    """CP-SAT's depths.  It sees a lower bound on every packing; where its choice does not pack, it chooses again with
    as much less memory as was missing."""
    from pipelink.analysis.placement import demand, exact

    limit = problem.smem_limit
    bound = sum(ring.worth(ring.most) for ring in problem.rings)
    if bound > _COMPARED:
        raise _Incomparable(bound)
    for step in _RETRY_STEPS:
        found = exact.choose_depths(problem, demand.linear_demands(problem, limit), budget)
        if found is None:
            break
        if limit == problem.smem_limit:
            bound = found.bound
        trial = Budget(min(budget.left, _TRY_TIME))
        budget.left -= trial.left
        smem, tmem = _pack_both(problem, found.stages, overlays, trial)
        budget.left += trial.left
        if _within(problem, smem, tmem):
            return _Memory(found.stages, smem, tmem, bound, found.least)
        limit -= max(smem.end - SMEM_BASE - problem.smem_limit, step)
    least = _first_that_packs(problem, overlays, budget, [{ring.key: ring.least for ring in problem.rings}])
    return None if least is None else replace(least, bound=bound)


def _within(problem: Problem, smem: Packing, tmem: Packing) -> bool:
    return smem.end - SMEM_BASE <= problem.smem_limit and tmem.end <= problem.tmem_limit


def _pack_both(
    problem: Problem, stages: dict[str, int], overlays: packing.Overlays, budget: Budget
) -> tuple[Packing, Packing]:
    low = low_bytes(problem, stages)
    smem = _pack(smem_buffers(problem, stages), low, SMEM_BASE, problem.smem_limit, overlays, budget)
    tmem = _pack(tmem_buffers(problem, stages), 0, 0, problem.tmem_limit, overlays, budget)
    return smem, tmem


def _pack(
    buffers: list[Buffer], low: int, base: int, limit: int, overlays: packing.Overlays, budget: Budget
) -> Packing:
    """First-fit, or CP-SAT's packing where that does not fit, or where few buffers leave more than a granule unused; it
    may end past the limit."""
    found = packing.pack(buffers, base, low, overlays)
    fits = found.end - base <= limit
    if _as_good(found) or len(buffers) > (TIGHT_BUFFERS if fits else EXACT_BUFFERS) or budget.left <= 0:
        return found
    from pipelink.analysis.placement import exact

    clique = [b.key for b in packing.together(buffers, overlays)]
    better = exact.pack(buffers, base, low, base + limit, overlays, clique, found, budget)
    return better if better is not None and better.end <= found.end else found


def _as_good(found: Packing) -> bool:
    """Whether no packing takes fewer of the granules in which an SM hands out shared memory."""
    return packing.round_up(found.end, SMEM_GRANULE) == packing.round_up(found.bound, SMEM_GRANULE)


def _enumerate(problem: Problem, least: bool = False) -> list[dict[str, int]]:
    """Depth vectors by falling worth, then rising bytes; ``least``, or of too many: the shallowest alone."""
    rings = problem.rings
    if least or math.prod(ring.most - ring.least + 1 for ring in rings) > ENUMERATED:
        return [{ring.key: ring.least for ring in rings}]
    shared = any(ring.scope.alternative is not None for ring in rings) or bool(problem.overlays)
    fixed = low_bytes(problem, dict.fromkeys((r.key for r in rings), 0))

    def size(vector: tuple[int, ...]) -> int:
        return fixed + sum((r.stage_bytes + r.persistent_bytes) * s for r, s in zip(rings, vector, strict=True))

    vectors = list(itertools.product(*(range(ring.most, ring.least - 1, -1) for ring in rings)))
    if not shared:
        vectors = [v for v in vectors if size(v) <= problem.smem_limit]
    vectors.sort(key=lambda v: (-sum(r.worth(s) for r, s in zip(rings, v, strict=True)), size(v)))
    return [dict(zip((r.key for r in rings), vector, strict=True)) for vector in vectors]


# ---------------------------------------------------------------------------------------------- result
def _result(problem: Problem, options: Options, warps: WarpPlan, barriers: dict[str, int], memory: _Memory) -> Solution:
    stages = memory.stages
    mbarrier: dict[str, int] = {}
    word: dict[str, int] = {}
    at = first = memory.smem.addresses.get(LOW, SMEM_BASE)
    for ring in problem.rings:
        if ring.mbarriers:
            mbarrier[ring.key] = at
            at += MBARRIER_BYTES * ring.mbarriers * stages[ring.key]
    for group in problem.mbarriers:
        mbarrier[group.key] = at
        at += MBARRIER_BYTES * group.count
    mbarriers = (at - first) // MBARRIER_BYTES
    first_word = at
    for ring in problem.rings:
        if ring.words:
            word[ring.key] = at
            at += 4 * ring.words * stages[ring.key]
    columns = memory.tmem.end
    value = _value(problem, stages)
    optimal = memory.least and _as_good(memory.smem) and memory.tmem.end == memory.tmem.bound
    if not options.min_smem:
        optimal = optimal and value == memory.bound
    placement = Solution(
        warps=warps,
        stages=stages,
        buffers={b.key: memory.smem.addresses[b.key] for b in problem.buffers},
        parts={
            ring.key: tuple(memory.smem.addresses[f"{ring.key}#{i}"] for i in range(len(ring.parts)))
            for ring in problem.rings
        },
        mbarrier=mbarrier,
        word=word,
        mbarriers=mbarriers,
        words=(at - first_word) // 4,
        barriers=barriers,
        columns={b.key: (memory.tmem.addresses[b.key],) for b in problem.columns}
        | {
            ring.key: tuple(memory.tmem.addresses[f"{ring.key}#{i}"] for i in range(len(ring.columns)))
            for ring in problem.rings
            if ring.columns
        },
        tmem_columns=max(TMEM_LEAST, 1 << (columns - 1).bit_length()) if columns else 0,
        smem_bytes=max(memory.smem.end, at) - SMEM_BASE,
        smem_bound=memory.smem.bound - SMEM_BASE,
        value=value,
        bound=memory.bound,
        optimal=optimal and warps.optimal,
    )
    placement.reasons.extend(_reasons(problem, options, placement))
    return placement


def _reasons(problem: Problem, options: Options, placement: Solution) -> list[str]:
    """What was chosen and why, one sentence each."""
    said: list[str] = []
    chosen = [ring for ring in problem.rings if ring.least < ring.most]
    deepest = [ring for ring in chosen if placement.stages[ring.key] == ring.most]
    if options.min_smem:
        said += [f"{_listed(chosen)}: as shallow as allowed, for min-smem"] if chosen else []
    else:
        said += [f"{_listed(deepest)}: as deep as both ends allow"] if deepest else []
        stepped = [ring for ring in chosen if placement.stages[ring.key] < ring.most]
        said += [_stepped_down(ring, placement, problem.smem_limit) for ring in stepped[:_SAID]]
        said += [f"{len(stepped) - _SAID} more rings stepped down"] if len(stepped) > _SAID else []
    warps = placement.warps
    if warps.registers is not None:
        said.append(
            f"registers {', '.join(map(str, warps.registers))} by warpgroup: the pool is "
            f"{len(warps.registers)} x {warps.entry_registers} = {len(warps.registers) * warps.entry_registers}"
        )
    if placement.tmem_columns:
        said.append(f"{placement.tmem_columns} tensor-memory columns: the allocation is a power of two")
    if not placement.optimal:
        said.append(
            f"not proven optimal: depths are worth {placement.value} of at most {placement.bound}, "
            f"{placement.smem_bytes} bytes of at least {placement.smem_bound}"
        )
    return said


def _listed(rings: list[Ring]) -> str:
    names = ", ".join(spelled(ring.key) for ring in rings[:_SAID])
    return f"{names} and {len(rings) - _SAID} more" if len(rings) > _SAID else names


def _stepped_down(ring: Ring, placement: Solution, limit: int) -> str:
    return (
        f"{spelled(ring.key)}: stepped down to {placement.stages[ring.key]} {ring.unit} "
        f"of {ring.least} to {ring.most}: one more takes {ring.stage_bytes + ring.persistent_bytes} bytes, "
        f"{limit - placement.smem_bytes} of {limit} are free"
    )


def _explain_memory(problem: Problem, overlays: packing.Overlays, diagnostics: Diagnostics) -> None:
    least = {ring.key: ring.least for ring in problem.rings}
    smem = packing.pack(smem_buffers(problem, least), SMEM_BASE, low_bytes(problem, least), overlays)
    tmem = packing.pack(tmem_buffers(problem, least), 0, 0, overlays)
    if smem.end - SMEM_BASE > problem.smem_limit:
        memory_overflow(problem, least, smem, diagnostics)
    if tmem.end > problem.tmem_limit:
        tmem_overflow(problem, least, tmem, diagnostics)
