"""The CP-SAT models: ring depths, packing, and warps, each asked only where no closed form is provably optimal.

One worker, a fixed seed and a limit in deterministic time: the same problem gives the same answer on every machine.
OR-Tools is imported with this module and by nothing else, because its import alone takes longer than most links.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from ortools.sat.python import cp_model

from pipelink.analysis.placement.demand import Demand
from pipelink.analysis.placement.model import Buffer, Packing, Ring
from pipelink.analysis.placement.pack import Overlays, may_overlap
from pipelink.analysis.placement.warps import Unit
from pipelink.target import WARPGROUP_WARPS

SEED = 20


def _solver(deterministic_time: float) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = SEED
    solver.parameters.max_deterministic_time = deterministic_time
    return solver


# ---------------------------------------------------------------------------------------------- depths
@dataclass(frozen=True)
class Depths:
    """Stages of every ring, the weighted sum, and an upper bound on it."""

    stages: dict[str, int]
    value: int
    bound: int


def choose_depths(
    rings: Sequence[Ring],
    limits: Sequence[tuple[int, Sequence[Demand]]],
    hint: dict[str, int],
    deterministic_time: float,
) -> Depths | None:
    """The deepest rings by weight within every (limit, demands); None if there are none.  Among equally deep ones the
    least demand of the first range is chosen."""
    model = cp_model.CpModel()
    depth = {ring.key: model.new_int_var(ring.least, ring.most, ring.key) for ring in rings}
    totals: list[Any] = []
    for limit, demands in limits:
        totals.append(_total(model, depth, limit, demands))
        model.add(totals[-1] <= limit)
    for key, stages in hint.items():
        model.add_hint(depth[key], stages)
    worth = sum(ring.weight * depth[ring.key] for ring in rings)
    model.maximize(worth)
    solver = _solver(deterministic_time)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    stages = {key: int(solver.value(variable)) for key, variable in depth.items()}
    value = round(solver.objective_value)
    bound = int(solver.best_objective_bound + 1e-6)
    if status == cp_model.OPTIMAL:
        model.add(worth >= value)
        model.minimize(totals[0])
        model.clear_hints()
        for key, found in stages.items():
            model.add_hint(depth[key], found)
        solver = _solver(deterministic_time)
        if solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            stages = {key: int(solver.value(variable)) for key, variable in depth.items()}
    return Depths(stages, value, bound)


def _total(model: cp_model.CpModel, depth: dict[str, Any], limit: int, demands: Sequence[Demand]) -> Any:
    """The memory that all demands need: always-live ones add up, a group counts as its largest alternative."""

    def amount(demand: Demand) -> Any:
        return demand.fixed + sum(factor * depth[ring] for ring, factor in demand.per_stage)

    always: list[Any] = []
    slots: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    overlaid: dict[int, list[Any]] = defaultdict(list)
    for demand in demands:
        if demand.overlay is not None:
            overlaid[demand.overlay].append(amount(demand))
        elif demand.slot is None:
            always.append(amount(demand))
        else:
            slots[demand.slot[0]][demand.slot[1]].append(amount(demand))
    for name, alternatives in slots.items():
        share = model.new_int_var(0, limit, name)
        for own in alternatives.values():
            model.add(sum(own) <= share)
        always.append(share)
    for index, own in overlaid.items():
        share = model.new_int_var(0, limit, f"overlay{index}")
        for one in own:
            model.add(one <= share)
        always.append(share)
    return sum(always) + 0


# ---------------------------------------------------------------------------------------------- packing
def pack(
    buffers: Sequence[Buffer],
    base: int,
    low: int,
    limit: int,
    overlays: Overlays,
    clique: Sequence[str],
    hint: Packing,
    deterministic_time: float,
) -> Packing | None:
    """The lowest packing that ends by ``limit``, with the solver's bound; None if it finds none.  ``clique`` names
    buffers that all live at once."""
    model = cp_model.CpModel()
    step = max(1, gcd(base, *(b.align for b in buffers)))
    horizon = limit // step
    start: dict[str, Any] = {}
    interval: dict[str, Any] = {}
    end = model.new_int_var(0, horizon, "end")
    for buffer in buffers:
        multiple = buffer.align // step
        length = -(-buffer.size // step)
        lowest = -(-(base + low) // buffer.align)
        highest = (horizon - length) // multiple
        if highest < lowest:
            return None
        count = model.new_int_var(lowest, highest, buffer.key)
        start[buffer.key] = multiple * count
        interval[buffer.key] = model.new_fixed_size_interval_var(multiple * count, length, buffer.key)
        model.add(end >= multiple * count + length)
        if buffer.key in hint.addresses:
            model.add_hint(count, hint.addresses[buffer.key] // buffer.align)
    model.add_no_overlap([interval[key] for key in clique])
    together = set(clique)
    for i, a in enumerate(buffers):
        for b in buffers[:i]:
            if not (a.key in together and b.key in together) and not may_overlap(a, b, overlays):
                model.add_no_overlap([interval[a.key], interval[b.key]])
    model.minimize(end)
    solver = _solver(deterministic_time)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    addresses = {key: step * int(solver.value(value)) for key, value in start.items()}
    last = max((addresses[b.key] + b.size for b in buffers), default=base + low)
    proven = last if status == cp_model.OPTIMAL else step * int(solver.best_objective_bound)
    return Packing(addresses, last, min(last, max(hint.bound, proven)))


# ---------------------------------------------------------------------------------------------- warps
def place_warps(units: Sequence[Unit], groups: int, entry: int, deterministic_time: float) -> dict[str, int] | None:
    """First warps of the units within ``groups`` warpgroups so that units in one warpgroup agree on a register count
    and the counts fit the pool; None if the solver finds none."""
    model = cp_model.CpModel()
    start: dict[str, Any] = {}
    intervals: list[Any] = []
    registers = [model.new_int_var(0, 31, f"registers{g}") for g in range(groups)]  # in steps of 8
    for unit in units:
        highest = (groups * WARPGROUP_WARPS - unit.warps) // unit.align
        if highest < 0:
            return None
        count = model.new_int_var(0, highest, unit.name)
        start[unit.name] = unit.align * count
        intervals.append(model.new_fixed_size_interval_var(unit.align * count, unit.warps, unit.name))
        own = model.new_int_var(unit.range[0] // 8, unit.range[1] // 8, f"{unit.name} registers")
        for group in range(groups):
            before = model.new_bool_var("")
            after = model.new_bool_var("")
            model.add(start[unit.name] + unit.warps <= WARPGROUP_WARPS * group).only_enforce_if(before)
            model.add(start[unit.name] >= WARPGROUP_WARPS * (group + 1)).only_enforce_if(after)
            inside = model.new_bool_var("")
            model.add_bool_or(before, after, inside)
            model.add(registers[group] == own).only_enforce_if(inside)
    model.add_no_overlap(intervals)
    model.add(8 * sum(registers) <= entry * groups)
    solver = _solver(deterministic_time)
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return {name: int(solver.value(value)) for name, value in start.items()}
