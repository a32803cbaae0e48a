"""A counterexample as data: what each role did, step by step, until something went wrong.

It reads as text (:meth:`Trace.lines`, part of a diagnostic) and as JSON; :mod:`pipelink.map.trace` draws it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pipelink.support.location import UNKNOWN, Location

_WIDEST_ACTION = 44  # columns that a column of actions takes at most


@dataclass(frozen=True)
class Step:
    """One step of a role.  ``lane`` names the role (``@load::@load``, with ``, CTA 1`` in a cluster), ``action`` what
    it did (``acquire ab[0]``), ``detail`` why that matters, in a clause.  ``after`` are the earlier steps, by index,
    that let a wait go on.  ``blocked``: it waits for ever.  ``location`` is where the contract says so."""

    lane: str
    action: str
    detail: str = ""
    after: tuple[int, ...] = ()
    blocked: bool = False
    location: Location = UNKNOWN


@dataclass(frozen=True)
class Trace:
    """The shortest way to a violation.  ``steps`` are in an order in which they can happen; ``conflict`` are the steps
    that must not meet; ``cycle`` the lanes that wait for each other, each for the next and the last for the first.
    ``counts`` says how often each named loop ran and which way each choice went (``{"k_tiles": "1, 2"}``)."""

    title: str
    lanes: tuple[str, ...]
    steps: tuple[Step, ...]
    conflict: tuple[int, ...] = ()
    cycle: tuple[str, ...] = ()
    counts: tuple[tuple[str, str], ...] = ()

    def shown(self, limit: int) -> tuple[int, ...]:
        """At most ``limit`` steps that say most, in order: what conflicts or is blocked, what led there directly, what
        was done to the same slot, the last step of each lane, and then what came last."""
        if len(self.steps) <= limit:
            return tuple(range(len(self.steps)))
        ends = [index for index, step in enumerate(self.steps) if step.blocked or index in self.conflict]
        causes = [cause for index in ends for cause in self.steps[index].after]
        subjects = {self.steps[index].action.rpartition(" ")[2] for index in ends}
        same = [n for n, step in enumerate(self.steps) if step.action.rpartition(" ")[2] in subjects]
        final = {step.lane: index for index, step in enumerate(self.steps)}
        order = [*ends, *causes, *reversed(same), *final.values(), *reversed(range(len(self.steps)))]
        return tuple(sorted(list(dict.fromkeys(order))[:limit]))

    def lines(self, limit: int, *, said: str = "") -> list[str]:
        """As text: title, unless it was ``said``; at most ``limit`` steps (gaps are counted); conflict and cycle."""
        counts = ", ".join(f"{name} = {value}" for name, value in self.counts)
        heading = [] if self.title == said else [self.title]
        heading += [f"with {counts}"] if counts else []
        lines = [f"counterexample{': ' if heading else ''}{', '.join(heading)}"]
        shown = self.shown(limit)
        lane = max((len(self.steps[index].lane) for index in shown), default=0)
        action = min(_WIDEST_ACTION, max((len(self.steps[index].action) for index in shown), default=0))
        for index, before in zip(shown, (-1, *shown), strict=False):
            if index > before + 1:
                lines.append(f"       …  {_more(index - before - 1)}")
            step = self.steps[index]
            mark = "!" if index in self.conflict else "x" if step.blocked else " "
            row = f"{mark} {index + 1:4}  {step.lane:<{lane}}  {step.action:<{action}}  {_why(step)}"
            lines.append(row.rstrip())
        if shown and len(self.steps) > shown[-1] + 1:
            lines.append(f"       …  {_more(len(self.steps) - shown[-1] - 1)}")
        if len(self.conflict) > 1:
            lines.append(f"conflict: steps {' and '.join(str(index + 1) for index in self.conflict)}")
        if self.cycle:
            first, *others = (*self.cycle, self.cycle[0])
            lines.append(f"cycle: {first} waits for {', which waits for '.join(others)}")
        return lines

    def moved(self, move: Callable[[Location], Location]) -> Trace:
        """The same trace with other places."""
        return replace(self, steps=tuple(replace(step, location=move(step.location)) for step in self.steps))

    def to_json(self) -> dict[str, object]:
        """The trace as plain data, part of ``--diagnostics=json``; steps are numbered from 0."""
        return {
            "title": self.title,
            "lanes": list(self.lanes),
            "steps": [
                {
                    "lane": step.lane,
                    "action": step.action,
                    "detail": step.detail,
                    "after": list(step.after),
                    "blocked": step.blocked,
                    "location": step.location.to_json(),
                }
                for step in self.steps
            ],
            "conflict": list(self.conflict),
            "cycle": list(self.cycle),
            "counts": dict(self.counts),
        }


def _more(count: int) -> str:
    return f"{count} more step{'s' if count > 1 else ''}"


def _why(step: Step) -> str:
    """What stands behind a step: that it is stuck, why it matters, which steps let it go on."""
    if step.blocked:
        clause = step.detail.startswith(("for ", "at "))
        return f"waits for ever{' ' if clause else ': ' if step.detail else ''}{step.detail}"
    parts = [step.detail] if step.detail else []
    if step.after:
        parts.append(f"after {', '.join(str(index + 1) for index in step.after)}")
    return ", ".join(parts)
