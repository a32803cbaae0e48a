"""Says why a placement problem has no answer: which contracts collide over what, with the budget as a table.

The core of an overflow is the smallest set of demands that does not fit by itself.  Demands that are always live add
up, so taking the largest first until the limit is passed gives a smallest core; the error stands at its largest member
and a note at each of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelink.analysis.placement.warps import WarpFailure
from pipelink.model.demand import Packing, Problem, Ring, Unit, spelled
from pipelink.support.diagnostics import UNKNOWN, Diagnostics, Location, Note
from pipelink.target import NAMED_BARRIERS, SMEM_BASE, WARP_THREADS

MAX_LINES = 12  # of a budget


@dataclass(frozen=True)
class Line:
    """One line of a budget."""

    what: str
    amount: int
    why: str
    location: Location


def budget_table(lines: Sequence[Line], unit: str, total: int, limit: int) -> str:
    """The budget as aligned text, in the given order; the tail of a long one is summed up."""
    taken = [line for line in lines if line.amount]
    rows = [(f"{line.amount}", line.what, line.why) for line in taken[:MAX_LINES]]
    if rest := taken[MAX_LINES:]:
        rows.append((f"{sum(line.amount for line in rest)}", f"{len(rest)} more", ""))
    rows += [(f"{total}", "needed", ""), (f"{limit}", "available", "")]
    width = max(len(amount) for amount, _, _ in rows)
    name = max(len(what) for _, what, _ in rows)
    table = [f"{amount:>{width}}  {what:<{name}}  {why}".rstrip() for amount, what, why in rows]
    table.insert(len(rows) - 2, "-" * width)
    return f"budget in {unit}:\n" + "\n".join(f"  {row}" for row in table)


def core_of(lines: Sequence[Line], limit: int) -> list[Line]:
    """The smallest set of lines whose sum passes the limit."""
    core: list[Line] = []
    total = 0
    for line in sorted(lines, key=lambda line: -line.amount):
        if total > limit or not line.amount:
            break
        core.append(line)
        total += line.amount
    return core


def _report(
    id: str,
    message: str,
    lines: Sequence[Line],
    unit: str,
    total: int,
    limit: int,
    diagnostics: Diagnostics,
) -> None:
    ordered = sorted(lines, key=lambda line: -line.amount)
    core = core_of(ordered, limit) or ordered[:1]
    where = next((line.location for line in core if line.location != UNKNOWN), UNKNOWN)
    notes = [Note(budget_table(ordered, unit, total, limit))]
    notes += [Note(f"{line.what} takes {line.amount} {unit}", line.location) for line in core]
    diagnostics.error(id, message, where, notes=notes)


def _names(core: Sequence[Line]) -> str:
    names = [line.what for line in core]
    if len(names) > 3:
        names = [*names[:3], f"{len(names) - 3} more"]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _collide(core: Sequence[Line]) -> str:
    named = [line for line in core if line.location != UNKNOWN] or core
    return f"{_names(named)} {'collide' if len(named) > 1 else 'does not fit'}"


def _live_lines(lines: list[tuple[Line, str | None, str | None]]) -> list[Line]:
    """Of every exclusive group only the largest alternative, as one of its lines each."""
    sums: dict[tuple[str, str], int] = {}
    for line, group, alternative in lines:
        if group is not None and alternative is not None:
            sums[group, alternative] = sums.get((group, alternative), 0) + line.amount
    largest: dict[str, str] = {}
    for (group, alternative), amount in sums.items():
        if group not in largest or amount > sums[group, largest[group]]:
            largest[group] = alternative
    return [
        line
        for line, group, alternative in lines
        if group is None or alternative is None or largest[group] == alternative
    ]


def memory_overflow(problem: Problem, least: dict[str, int], found: Packing, diagnostics: Diagnostics) -> None:
    """``smem-overflow``: even the shallowest rings do not fit."""
    lines: list[tuple[Line, str | None, str | None]] = []
    for buffer in problem.buffers:
        line = Line(spelled(buffer.key), buffer.size, f"aligned to {buffer.align}", buffer.location)
        lines.append((line, buffer.scope.group, buffer.scope.alternative))
    for ring in problem.rings:
        stages = least[ring.key]
        why = f"{stages} {ring.unit if stages > 1 else ring.unit[:-1]} x {ring.stage_bytes}" + (
            f", {ring.fixed_by}" if ring.fixed_by else ", the least of its range"
        )
        line = Line(spelled(ring.key), stages * ring.stage_bytes, why, ring.location)
        lines.append((line, ring.scope.group, ring.scope.alternative))
    persistent = sum(r.persistent_bytes * least[r.key] for r in problem.rings) + 8 * sum(
        m.count for m in problem.mbarriers
    )
    live = [*_live_lines(lines), Line("mbarriers and end flags", persistent, "", UNKNOWN)]
    limit = problem.smem_limit
    total = found.end - SMEM_BASE
    padding = total - sum(line.amount for line in live)
    if padding > 0:
        # named where it alone does not fit: else it is what lies beside it that is too large
        widest = max(problem.buffers, key=lambda buffer: buffer.align, default=None)
        where = widest.location if widest is not None and padding > limit else UNKNOWN
        live.append(Line("alignment", padding, "", where))
    core = core_of(live, limit) or live
    ctas = f" with {problem.min_ctas} CTAs on an SM" if problem.min_ctas > 1 else ""
    message = (
        f"shared memory of kernel '{problem.name}' overflows: {_collide(core)}; "
        f"it needs {total} bytes, {total - limit} over {limit} of {problem.target.name}{ctas}"
    )
    if found.bound - SMEM_BASE <= limit:
        message += f"; a packing into {found.bound - SMEM_BASE} bytes is not ruled out, but none was found"
    _report("smem-overflow", message, live, "bytes", total, limit, diagnostics)


def tmem_overflow(problem: Problem, least: dict[str, int], found: Packing, diagnostics: Diagnostics) -> None:
    """``tmem-overflow``: more tensor-memory columns than the SM has."""
    lines: list[tuple[Line, str | None, str | None]] = []
    for buffer in problem.columns:
        line = Line(spelled(buffer.key), buffer.size, "", buffer.location)
        lines.append((line, buffer.scope.group, buffer.scope.alternative))
    for ring in problem.rings:
        columns = sum(part.stride for part in ring.columns)
        if columns:
            line = Line(
                spelled(ring.key), columns * least[ring.key], f"{least[ring.key]} stages x {columns}", ring.location
            )
            lines.append((line, ring.scope.group, ring.scope.alternative))
    limit = problem.tmem_limit
    live = _live_lines(lines)
    core = core_of(live, limit) or live
    message = (
        f"tensor memory of kernel '{problem.name}' overflows: {_names(core)} need {found.end} columns, "
        f"{found.end - limit} over {limit} of {problem.target.name}"
    )
    _report("tmem-overflow", message, live, "columns", found.end, limit, diagnostics)


def barrier_overflow(problem: Problem, ids: dict[str, int], needed: int, diagnostics: Diagnostics) -> None:
    """``too-many-barriers``: more named barriers at once than the hardware has beside the entry's."""
    limit = NAMED_BARRIERS - 1
    lines = [
        (
            Line(spelled(b.key), 1, f"id {ids[b.key]}, {b.threads} threads", b.location),
            b.scope.group,
            b.scope.alternative,
        )
        for b in problem.barriers
    ]
    over = next(b for b in problem.barriers if ids[b.key] > limit)
    live = _live_lines(lines)
    notes = [Note(budget_table(live, "named barriers", needed, limit))]
    notes += [Note(f"{line.what} takes one", line.location) for line in live if line.location != over.location]
    diagnostics.error(
        "too-many-barriers",
        f"kernel '{problem.name}' needs {needed} named barriers at once, {needed - limit} over {limit} "
        "(id 0 belongs to the entry)",
        over.location,
        notes=notes,
    )


def ring_range_empty(ring: Ring, diagnostics: Diagnostics) -> None:
    """``ring-range-disjoint``: no depth that all ends accept."""
    diagnostics.error(
        "ring-range-disjoint",
        f"no depth suits {spelled(ring.key)}: at least {ring.least} stages on one side, at most {ring.most} on another",
        ring.location,
    )


def worth_overflow(problem: Problem, worth: int, most: int, diagnostics: Diagnostics) -> None:
    """``wrong-attribute``: what rings are worth by their weights is more than can be compared."""
    heaviest = max(problem.rings, key=lambda ring: ring.weight)
    diagnostics.error(
        "wrong-attribute",
        f"the rings of kernel '{problem.name}' are worth {worth} by their weights, at most {most} are compared; "
        f"{spelled(heaviest.key)} has the largest weight, {heaviest.weight}",
        heaviest.location,
        hint="weights count beside each other: divide all of them by one number",
    )


def too_many_ctas(problem: Problem, warps: int, diagnostics: Diagnostics) -> None:
    """``too-many-warps``: the CTAs that must fit on one SM have more warps than it holds."""
    limit, needed = problem.target.warps_per_sm, warps * problem.min_ctas
    diagnostics.error(
        "too-many-warps",
        f"kernel '{problem.name}': {problem.min_ctas} CTAs of {warps} warps need {needed}, {needed - limit} over the "
        f"{limit} of an SM of {problem.target.name}",
        problem.location,
    )


def warp_failure(problem: Problem, failure: WarpFailure, diagnostics: Diagnostics) -> None:
    """Warps or registers do not suffice."""
    units = failure.units

    def row(unit: Unit) -> str:
        registers = "any" if unit.registers is None else f"{unit.registers[0]} to {unit.registers[1]}"
        return (
            f"  {spelled(unit.name)}: {unit.warps} warps ({unit.warps * WARP_THREADS} threads), registers {registers}"
        )

    notes = [Note("demands:\n" + "\n".join(row(unit) for unit in units))]
    notes += [Note(f"{spelled(unit.name)} is declared here", unit.location) for unit in units[1:]]
    where = units[0].location if units else problem.location
    diagnostics.error(failure.id, f"kernel '{problem.name}': {failure.message}", where, notes=notes, hint=failure.hint)
