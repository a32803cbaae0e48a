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
from pipelink.analysis.protocol.polynomial import Leaf, choices_of
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

    def explore(fixed: dict[Leaf, int]) -> tuple[Found | None, list[Leaf]]:
        left = limits.seconds - (time.process_time() - began)
        now = replace(limits, states=limits.states - decided.states, steps=limits.steps - decided.steps, seconds=left)
        explorer = Explorer(system, now, fixed)
        explored = explorer.run()
        decided.states += explored.states
        decided.steps += explored.steps
        found = explored.found
        return found, [] if found is None else [leaf for leaf in explorer.contradiction(found) if leaf not in fixed]

    decided.found, suspects = explore({})
    while decided.found is not None and suspects:
        by = [symbol.count for symbol in system.symbols if symbol.count is not None]
        choices = choices_of(by, suspects, _most(system), _MOST_TOGETHER)
        decided.found, more = None, list[Leaf]()
        for values in sorted(itertools.product(*choices), key=sum):
            fixed = dict(zip(suspects, values, strict=True))
            if not _is_allowed(system, fixed):
                continue
            decided.found, more = explore(fixed)
            if decided.found is not None:
                break
        else:
            tried = zip(suspects, choices, strict=True)
            decided.bounded = {leaf.name: _up_to(values) for leaf, values in tried if leaf.key[0] != "number"}
        suspects = [*suspects, *more] if more else []
    return decided


def _is_allowed(system: System, fixed: dict[Leaf, int]) -> bool:
    """Whether no count is less than it is known to be at least, and each has a value."""
    for symbol in system.symbols:
        if symbol.count is not None and symbol.count.leaves <= fixed.keys():
            try:
                if symbol.count.value(fixed) < symbol.least:
                    return False
            except ZeroDivisionError:
                return False
    return True


def _most(system: System) -> int:
    """Beyond two rounds of the deepest ring, one more iteration is like the one before."""
    return 2 * max((end.stages for agent in system.agents for end in agent.endpoints), default=1) + 1


def _up_to(values: list[int]) -> int:
    """The last before the first that is left out."""
    return next((value for value, other in itertools.pairwise(values) if other > value + 1), values[-1])
