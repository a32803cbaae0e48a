"""Decides about one system: explored once for all counts, or, where that is too coarse, count by count.

Loops by a name are explored as if each had a count of its own, the same for everybody's n-th.  A parameter of the
launch is one number, though: a loader that fills two rings one after the other, each ``k_tiles`` times, meets consumers
of which each knows one of these loops.  A counterexample in which two loops by one parameter differ is none; then the
parameter is taken to be 0, 1, 2 and so on, up to what rings can tell apart.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field, replace
from typing import Final

from pipelink.analysis.protocol.explore import Explorer, Found, Limits
from pipelink.analysis.protocol.program import System

_MOST_TOGETHER: Final = 400  # combinations of counts that are explored


@dataclass(eq=False, repr=False)
class Decided:
    """``found`` is a violation; without one the system is proved, but for parameters in ``bounded`` only up to that
    count."""

    states: int = 0
    steps: int = 0
    found: Found | None = None
    bounded: dict[str, int] = field(default_factory=dict[str, int])


def decide(system: System, limits: Limits) -> Decided:
    """Explore a system.  Raises LimitReached, StepLimit."""
    decided = Decided()
    began = time.process_time()

    def explore(fixed: dict[int, int]) -> tuple[Found | None, list[int]]:
        left = limits.seconds - (time.process_time() - began)
        now = replace(limits, states=limits.states - decided.states, steps=limits.steps - decided.steps, seconds=left)
        explorer = Explorer(system, now, fixed)
        explored = explorer.run()
        decided.states += explored.states
        decided.steps += explored.steps
        found = explored.found
        return found, [] if found is None else [s for s in explorer.contradiction(found) if s not in fixed]

    decided.found, suspects = explore({})
    while decided.found is not None and suspects:
        known = {symbol: system.symbols[symbol].value for symbol in suspects if system.symbols[symbol].value >= 0}
        most = _most(system, len(suspects) - len(known))
        choices = [(known[symbol],) if symbol in known else range(most + 1) for symbol in suspects]
        decided.found, more = None, list[int]()
        for counts in sorted(itertools.product(*choices), key=sum):
            fixed = dict(zip(suspects, counts, strict=True))
            if any(system.symbols[symbol].at_least_once and not count for symbol, count in fixed.items()):
                continue
            decided.found, more = explore(fixed)
            if decided.found is not None:
                break
        else:
            decided.bounded = {system.symbols[symbol].name: most for symbol in suspects if symbol not in known}
        suspects = [*suspects, *more] if more else []
    return decided


def _most(system: System, names: int) -> int:
    """Beyond two rounds of the deepest ring, one more iteration is like the one before."""
    deepest = max((end.stages for agent in system.agents for end in agent.endpoints), default=1)
    most = 2 * deepest + 1
    while most > 1 and (most + 1) ** names > _MOST_TOGETHER:
        most -= 1
    return most
