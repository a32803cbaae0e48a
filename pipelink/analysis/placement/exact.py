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

from pipelink.analysis.placement.demand import Demand, Frontier, Limits, frontiers
from pipelink.analysis.placement.pack import Overlays, may_overlap
from pipelink.model.demand import ALWAYS, Budget, Buffer, Packing, Problem, Ring, Unit, slot_worths
from pipelink.target import WARPGROUP_WARPS

SEED = 20
_PACK_TIME = 0.5  # to find a packing at all
_TIGHTEN_TIME = 0.1  # to find a lower one
_TIED_TIME = 0.25
_TIED_CHOICES = 500  # rings and shares of groups; past it, choices of equal worth are not compared by bytes


def _solve(
    model: cp_model.CpModel, budget: Budget, most: float = 1e9, *, first: bool = False
) -> cp_model.CpSolver | None:
    """The solver with a solution, or None.  ``most`` limits this model; ``first``: any solution does."""
    if budget.left <= 0:
        return None
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = SEED
    solver.parameters.max_deterministic_time = min(most, budget.left)
    solver.parameters.stop_after_first_solution = first
    status = solver.solve(model)
    budget.left -= solver.response_proto.deterministic_time
    return solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None


def _proven(solver: cp_model.CpSolver) -> bool:
    return solver.response_proto.status == cp_model.OPTIMAL


# ---------------------------------------------------------------------------------------------- depths
@dataclass(frozen=True)
class Depths:
    """Stages of every ring, an upper bound on what stages are worth, and whether none worth as much demand less."""

    stages: dict[str, int]
    bound: int
    least: bool


def choose_depths(problem: Problem, limits: Limits, budget: Budget) -> Depths | None:
    """The depths that are worth most within every (limit, demands); None if there are none.  Among those worth as much
    the least demand of the first range is chosen."""
    groups = frontiers(problem, limits[0][1], limits[0][0])
    inside = {key for frontier in groups.values() for own in frontier.options for key in own[0][2]}
    model = _DepthModel([ring for ring in problem.rings if ring.key not in inside], groups)
    totals = [model.limit(limit, demands) for limit, demands in limits]
    model.cp.maximize(model.worth())
    solver = _solve(model.cp, budget)
    if solver is None:
        return None
    value = round(solver.objective_value)
    bound = int(solver.best_objective_bound + 1e-6)
    stages = model.stages(solver)
    least = False
    if _proven(solver) and model.choices <= _TIED_CHOICES:
        model.cp.add(model.worth() >= value)
        model.cp.minimize(totals[0])
        solver = _solve(model.cp, budget, _TIED_TIME)
        if solver is not None:
            stages = model.stages(solver)
            least = _proven(solver)
    return Depths(stages, bound, least)


class _DepthModel:
    """A ring has one variable for the stages of each worth, and needs no order among them: none that is worth less is
    taken before one that takes as much and is worth more.  Rings that always live and are alike share these variables,
    the sum of their stages being as even as can be.  A group with a frontier has one choice: its share of memory."""

    def __init__(self, rings: Sequence[Ring], groups: dict[str, Frontier]) -> None:
        self.cp = cp_model.CpModel()
        self.groups = groups
        self.classes: dict[tuple[object, ...], list[Ring]] = defaultdict(list)
        for ring in rings:
            alike = ring.scope == ALWAYS and not ring.columns
            kind = (ring.weight, ring.parts, ring.persistent_bytes, ring.least, ring.most)
            self.classes[kind if alike else (ring.key,)].append(ring)
        self.sum: dict[str, Any] = {}
        self.worths: list[Any] = []
        for own in self.classes.values():
            first, count = own[0], len(own)
            steps = [
                (each, self.cp.new_int_var(0, count * stages, f"{first.key} at {each}"))
                for stages, each in slot_worths(first.least, first.most)
            ]
            self.sum[first.key] = count * first.least + sum(taken for _, taken in steps)
            self.worths += [count * first.worth(first.least), *(first.weight * each * taken for each, taken in steps)]
        self.share: dict[str, list[Any]] = {
            name: [self.cp.new_bool_var(f"{name}{size}") for size, _ in frontier.steps]
            for name, frontier in groups.items()
        }
        for chosen in self.share.values():
            self.cp.add_exactly_one(chosen)
        self.choices = len(self.sum) + sum(map(len, self.share.values()))

    def worth(self) -> Any:
        shares = (
            value * chosen
            for name, frontier in self.groups.items()
            for (_, value), chosen in zip(frontier.steps, self.share[name], strict=True)
        )
        return sum(self.worths) + sum(shares)

    def limit(self, limit: int, demands: Sequence[Demand]) -> Any:
        """Constrain the memory that all demands need: what always lives adds up, a group counts as its largest
        alternative, an overlay as its largest member."""
        always: list[Any] = []
        slots: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
        overlaid: dict[int, list[Any]] = defaultdict(list)
        for demand in demands:
            if demand.overlay is not None:
                overlaid[demand.overlay].append(self.amount(demand))
            elif demand.slot is None:
                always.append(self.amount(demand))
            elif demand.slot[0] not in self.groups:
                slots[demand.slot[0]][demand.slot[1]].append(self.amount(demand))
        largest = [[sum(own) for own in alternatives.values()] for alternatives in slots.values()]
        for index, members in enumerate([*largest, *overlaid.values()]):
            share = self.cp.new_int_var(0, limit, f"share{index}")
            for member in members:
                self.cp.add(member <= share)
            always.append(share)
        if any(demand.slot is not None and demand.slot[0] in self.groups for demand in demands):
            always += [
                size * chosen
                for name, frontier in self.groups.items()
                for (size, _), chosen in zip(frontier.steps, self.share[name], strict=True)
            ]
        total = sum(always) + 0
        self.cp.add(total <= limit)
        return total

    def amount(self, demand: Demand) -> Any:
        factors = [(self.sum[key], factor) for key, factor in demand.per_stage if key in self.sum]
        return demand.fixed + sum(factor * depth for depth, factor in factors)

    def stages(self, solver: cp_model.CpSolver) -> dict[str, int]:
        found: dict[str, int] = {}
        for own in self.classes.values():
            even, more = divmod(int(solver.value(self.sum[own[0].key])), len(own))
            found |= {ring.key: even + (index < more) for index, ring in enumerate(own)}
        for name, frontier in self.groups.items():
            share = next(
                size for (size, _), chosen in zip(frontier.steps, self.share[name], strict=True) if solver.value(chosen)
            )
            found |= frontier.stages(share)
        return found


# ---------------------------------------------------------------------------------------------- packing
def pack(
    buffers: Sequence[Buffer],
    base: int,
    low: int,
    limit: int,
    overlays: Overlays,
    clique: Sequence[str],
    hint: Packing,
    budget: Budget,
) -> Packing | None:
    """A packing that ends by ``limit``, the lowest one if ``hint`` already does; None if it finds none.  ``clique``
    names buffers that all live at once."""
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
    model.add(end >= hint.bound // step)
    fits = hint.end <= limit
    if fits:
        model.minimize(end)
    solver = _solve(model, budget, _TIGHTEN_TIME if fits else _PACK_TIME, first=not fits)
    if solver is None:
        return None
    addresses = {key: step * int(solver.value(value)) for key, value in start.items()}
    last = max((addresses[b.key] + b.size for b in buffers), default=base + low)
    proven = last if fits and _proven(solver) else hint.bound
    return Packing(addresses, last, max(hint.bound, proven))


# ---------------------------------------------------------------------------------------------- warps
def place_warps(units: Sequence[Unit], groups: int, entry: int, budget: Budget) -> dict[str, int] | None:
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
    solver = _solve(model, budget, first=True)
    if solver is None:
        return None
    return {name: int(solver.value(value)) for name, value in start.items()}
