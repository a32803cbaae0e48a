"""All states that a simulated kernel can be in, one after the other, until something is wrong in one."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from test.protocol.machine import Fault, Symbol
from test.protocol.simulator import Simulator, State


class LimitError(Exception):
    """More states than were allowed."""


@dataclass(frozen=True)
class Verdict:
    """``problem`` is None where nothing can go wrong; ``path`` then is empty."""

    problem: str | None
    kind: str = ""  # fault, deadlock, signal (a deadlock in which somebody awaits one), lost
    path: tuple[str, ...] = ()
    states: int = 0
    counts: tuple[tuple[Symbol, Any], ...] = ()


def explore(simulator: Simulator, limit: int) -> Verdict:
    """What can go wrong from the start on, breadth first, so the way to it is a shortest.  Raises LimitError."""
    start = simulator.start()
    before: dict[State, tuple[State, str] | None] = {start: None}
    todo = deque([start])

    def path(state: State, last: str) -> tuple[str, ...]:
        steps = [last] if last else []
        while (entry := before[state]) is not None:
            state, label = entry
            steps.append(label)
        return tuple(reversed(steps))

    ended = False
    while todo:
        state = todo.popleft()
        moved = False
        try:
            for label, after in simulator.successors(state):
                moved = True
                if after not in before:
                    before[after] = (state, label)
                    todo.append(after)
        except Fault as fault:
            return Verdict(str(fault), "fault", path(state, simulator.label), len(before))
        if not moved:
            problem = simulator.final(state)
            ended = True
            if problem is not None:
                return Verdict(problem[1], problem[0], path(state, ""), len(before))
        if len(before) > limit:
            raise LimitError(f"more than {limit} states")
    if not ended:
        return Verdict("a loop that no wait ever leaves", "livelock", (), len(before))
    return Verdict(None, states=len(before))
