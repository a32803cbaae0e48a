"""Places roles on warps and splits the registers among warpgroups.

A *unit* is a role, or an exclusive group whose roles share warps.  Without setmaxnreg units stand close together, the
strictest alignment first.  With it the CTA is padded to whole warpgroups, units whose register ranges agree may share
one, and every unit has one value in all its warpgroups (PTX ISA, setmaxnreg: all warps of a warpgroup execute the same
instruction, and a role has one instruction).  The values start at the least that is asked, then rise in steps of 8, all
in turn, while the pool lasts: what the kernel was launched with, which is what setmaxnreg.inc waits for.  First-fit is
optimal where it meets the bound on warpgroups; CP-SAT decides otherwise.
"""

from __future__ import annotations

import math

from pipelink.model.demand import Budget, Group, Problem, Role, Unit, WarpPlan, spelled
from pipelink.support.diagnostics import Location
from pipelink.target import (
    MAX_CTA_WARPS,
    SETMAXNREG_MAX,
    SETMAXNREG_MIN,
    SETMAXNREG_STEP,
    WARPGROUP_WARPS,
    split_that_fits,
)


class WarpFailure(Exception):
    """No placement of the warps: which diagnostic, the units that collide, and what would fit."""

    def __init__(self, id: str, message: str, units: tuple[Unit, ...], hint: str | None = None) -> None:
        super().__init__(message)
        self.id = id
        self.message = message
        self.units = units
        self.hint = hint


def units_of(problem: Problem) -> list[Unit]:
    """Units in order of their first role.  Raises WarpFailure ``register-disagreement``."""
    group_of: dict[str, Group] = {role: group for group in problem.groups for role in group.roles}
    roles = {role.key: role for role in problem.roles}
    found: list[Unit] = []
    for role in problem.roles:
        group = group_of.get(role.key)
        if group is None:
            found.append(_unit(role.key, (role,), role.location))
        elif all(unit.name != group.name for unit in found):
            found.append(_unit(group.name, tuple(roles[key] for key in group.roles), group.location))
    return found


def _unit(name: str, roles: tuple[Role, ...], location: Location) -> Unit:
    ranges = [_whole_steps(role.registers) for role in roles if role.registers is not None]
    low, high = max([r[0] for r in ranges], default=0), min([r[1] for r in ranges], default=0)
    unit = Unit(
        name,
        roles,
        max(role.warps for role in roles),
        math.lcm(*(role.align for role in roles)),
        (low, high) if ranges else None,
        location,
    )
    if low > high:
        message = f"roles of '{name}' share warps but no register count: " + ", ".join(
            f"{spelled(role.key)} wants {_range(role.registers)}" for role in roles if role.registers is not None
        )
        raise WarpFailure("register-disagreement", message, (unit,))
    return unit


def _whole_steps(registers: tuple[int, int]) -> tuple[int, int]:
    """The range that setmaxnreg can express."""
    low = max(SETMAXNREG_MIN, -(-registers[0] // SETMAXNREG_STEP) * SETMAXNREG_STEP)
    return low, min(SETMAXNREG_MAX, registers[1] // SETMAXNREG_STEP * SETMAXNREG_STEP)


def _range(registers: tuple[int, int] | None) -> str:
    return "any" if registers is None else f"{registers[0]} to {registers[1]}"


def plan_warps(problem: Problem, budget: Budget) -> WarpPlan:
    """The warps of every role.  Raises WarpFailure ``register-disagreement``, ``too-many-warps`` or
    ``register-overcommit``."""
    target, ctas = problem.target, problem.min_ctas
    units = units_of(problem)
    first, warps = _close_together(units)
    if warps > MAX_CTA_WARPS:
        raise _too_many_warps(units, warps)
    entry = target.entry_registers(warps, ctas)
    stated = [unit.registers for unit in units if unit.registers is not None]
    fits = all(low <= entry for low, _ in stated)
    content = all(high <= entry for _, high in stated)  # nobody gains from more than the entry gives
    can_shift = target.setmaxnreg and len(units) > 1 and warps > WARPGROUP_WARPS
    if fits and (content or not can_shift):
        return WarpPlan(_per_role(units, first), warps, entry, None)
    if not can_shift:
        raise _too_few_registers(units, entry, warps, target.name)
    return _with_setmaxnreg(problem, units, budget)


def _close_together(units: list[Unit]) -> tuple[dict[str, int], int]:
    """First warps without regard to registers, in the given order or, if that saves warps, by falling alignment."""
    best: tuple[dict[str, int], int] | None = None
    for order in (units, sorted(units, key=lambda u: (-u.align, u.warps % u.align != 0))):
        taken = 0
        first: dict[str, int] = {}
        free: list[range] = []
        for unit in order:
            hole = next((h for h in free if _fits_in(h, unit)), None)
            if hole is not None:
                at = -(-hole.start // unit.align) * unit.align
                free.remove(hole)
                free += [range(hole.start, at), range(at + unit.warps, hole.stop)]
            else:
                at = -(-taken // unit.align) * unit.align
                free.append(range(taken, at))
                taken = at + unit.warps
            first[unit.name] = at
        if best is None or taken < best[1]:
            best = (first, taken)
    assert best is not None
    return best


def _fits_in(hole: range, unit: Unit) -> bool:
    return -(-hole.start // unit.align) * unit.align + unit.warps <= hole.stop


def _per_role(units: list[Unit], first: dict[str, int]) -> dict[str, int]:
    return {role.key: first[unit.name] for unit in units for role in unit.roles}


def _with_setmaxnreg(problem: Problem, units: list[Unit], budget: Budget) -> WarpPlan:
    least = _warpgroup_bound(units)
    failure: WarpFailure | None = None
    attempts = [found for found in (_first_fit(units, order) for order in _orders(units)) if found is not None]
    attempts.sort(key=lambda found: _warpgroups(units, found))
    for first in attempts:
        groups = _warpgroups(units, first)
        if groups * WARPGROUP_WARPS > MAX_CTA_WARPS:
            continue
        try:
            plan = _split(problem, units, first, groups)
        except WarpFailure as problem_found:
            failure = failure or problem_found
            continue
        if groups == least:
            return plan
        better = _exact(problem, units, least, groups - 1, budget)
        return better or plan
    found = _exact(problem, units, least, MAX_CTA_WARPS // WARPGROUP_WARPS, budget)
    if found is not None:
        return found
    closest = min((_warpgroups(units, first) for first in attempts), default=least)
    raise failure or _too_many_warps(units, closest * WARPGROUP_WARPS)


def _orders(units: list[Unit]) -> list[list[Unit]]:
    return [units, sorted(units, key=lambda u: (-u.align, -u.warps)), sorted(units, key=lambda u: (u.range, -u.warps))]


def _warpgroup_bound(units: list[Unit]) -> int:
    """Warpgroups that any placement needs: whole ones, and what is left of the others, put together."""
    whole = sum(u.warps // WARPGROUP_WARPS for u in units)
    rest = sum(u.warps % WARPGROUP_WARPS for u in units)
    return whole + -(-rest // WARPGROUP_WARPS)


def _warpgroups(units: list[Unit], first: dict[str, int]) -> int:
    return max(-(-(first[u.name] + u.warps) // WARPGROUP_WARPS) for u in units)


def _first_fit(units: list[Unit], order: list[Unit]) -> dict[str, int] | None:
    """Every unit at the lowest place that is free and whose warpgroups agree with its range; None past the limit."""
    used: set[int] = set()
    ranges: dict[int, tuple[int, int]] = {}
    first: dict[str, int] = {}
    for unit in order:
        align = unit.align if unit.warps % WARPGROUP_WARPS else math.lcm(unit.align, WARPGROUP_WARPS)
        for at in range(0, 2 * MAX_CTA_WARPS, align):
            warps = range(at, at + unit.warps)
            groups = {warp // WARPGROUP_WARPS for warp in warps}
            shared = [ranges.get(group, (SETMAXNREG_MIN, SETMAXNREG_MAX)) for group in groups] + [unit.range]
            meet = max(low for low, _ in shared), min(high for _, high in shared)
            if used.isdisjoint(warps) and meet[0] <= meet[1]:
                used.update(warps)
                ranges.update((group, meet) for group in groups)
                first[unit.name] = at
                break
        else:
            return None
    return first


def _split(problem: Problem, units: list[Unit], first: dict[str, int], groups: int) -> WarpPlan:
    """Registers of each warpgroup: one value per connected set of units and warpgroups, risen in turn."""
    warps = groups * WARPGROUP_WARPS
    entry = problem.target.entry_registers(warps, problem.min_ctas)
    members = [
        [u for u in units if first[u.name] < 4 * (g + 1) and first[u.name] + u.warps > 4 * g] for g in range(groups)
    ]
    sets = _connected(units, members)
    ranges: list[tuple[int, int]] = []
    for own in sets:
        stated = [u.registers for g in own for u in members[g] if u.registers is not None]
        # where nobody says what is needed, keep what the kernel starts with
        kept = max(SETMAXNREG_MIN, min(entry // SETMAXNREG_STEP * SETMAXNREG_STEP, SETMAXNREG_MAX))
        ranges.append((max(r[0] for r in stated), min(r[1] for r in stated)) if stated else (kept, kept))
    values = [low for low, _ in ranges]
    sizes = [len(own) for own in sets]
    pool = entry * groups
    if sum(v * s for v, s in zip(values, sizes, strict=True)) > pool:
        raise _overcommitted(members, values, sets, entry, groups)
    risen = True
    while risen:
        risen = False
        for index, (_, high) in enumerate(ranges):
            spare = pool - sum(v * s for v, s in zip(values, sizes, strict=True))
            if values[index] + SETMAXNREG_STEP <= high and SETMAXNREG_STEP * sizes[index] <= spare:
                values[index] += SETMAXNREG_STEP
                risen = True
    registers = [0] * groups
    for own, value in zip(sets, values, strict=True):
        for group in own:
            registers[group] = value
    return WarpPlan(_per_role(units, first), warps, entry, tuple(registers))


def _connected(units: list[Unit], members: list[list[Unit]]) -> list[list[int]]:
    """Warpgroups joined by a unit that spans them or by sharing: they have one value."""
    label = list(range(len(members)))
    for unit in units:
        own = [g for g, inside in enumerate(members) if unit in inside]
        lowest = min(label[g] for g in own)
        joined = {label[g] for g in own}
        label = [lowest if mark in joined else mark for mark in label]
    return [[g for g, mark in enumerate(label) if mark == want] for want in sorted(set(label))]


def _exact(problem: Problem, units: list[Unit], low: int, high: int, budget: Budget) -> WarpPlan | None:
    from pipelink.analysis.placement import exact

    for groups in range(low, high + 1):
        entry = problem.target.entry_registers(groups * WARPGROUP_WARPS, problem.min_ctas)
        first = exact.place_warps(units, groups, entry, budget)
        if first is not None:
            try:
                return _split(problem, units, first, groups)
            except WarpFailure:
                continue
    return None


def _too_many_warps(units: list[Unit], warps: int) -> WarpFailure:
    message = f"the roles need {warps} warps, {warps - MAX_CTA_WARPS} over {MAX_CTA_WARPS}"
    return WarpFailure("too-many-warps", message, tuple(sorted(units, key=lambda u: -u.warps)))


def _too_few_registers(units: list[Unit], entry: int, warps: int, target: str) -> WarpFailure:
    worst = tuple(u for u in units if u.range[0] > entry)
    need = worst[0].range[0]
    message = (
        f"{spelled(worst[0].name)} needs {need} registers a thread, {need - entry} over the {entry} "
        f"that {warps} warps leave, and {target} cannot shift registers between so few warpgroups"
    )
    return WarpFailure("register-overcommit", message, worst)


def _overcommitted(
    members: list[list[Unit]], values: list[int], sets: list[list[int]], entry: int, groups: int
) -> WarpFailure:
    needs = [next(v for v, own in zip(values, sets, strict=True) if g in own) for g in range(groups)]
    total, pool = sum(needs), entry * groups
    message = (
        f"{groups} warpgroups need at least {' + '.join(map(str, needs))} = {total} registers a thread, "
        f"{total - pool} over the pool of {groups} x {entry} = {pool}"
    )
    inside = dict.fromkeys(u for own in members for u in own)
    split = split_that_fits([(value, len(own)) for value, own in zip(values, sets, strict=True)], pool)
    hint = None
    if split is not None:
        counts = {
            spelled(u.name): count for count, own in zip(split, sets, strict=True) for g in own for u in members[g]
        }
        hint = f"{', '.join(f'{count} for {name}' for name, count in counts.items())} would fit"
    return WarpFailure("register-overcommit", message, tuple(sorted(inside, key=lambda u: -u.range[0])), hint)
