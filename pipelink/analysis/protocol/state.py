"""A state of a system at some point of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

LOGS = 64  # most logs of one loop by a name (names.py)


@dataclass(eq=False, repr=False)
class State:
    """``values`` at the indices of the program; ``known`` of agents, of each barrier's phase in the making and last
    phase, of each named barrier; ``logs``: (symbol, log) -> (iterations decided, or the way chosen; whether that is
    all); the log of the n-th loop by a symbol is n times ``LOGS``, plus (-1 - symbol, n), that of the n-th choice n."""

    values: list[int]
    known: list[int]
    logs: dict[tuple[int, int], tuple[int, bool]] = field(default_factory=dict[tuple[int, int], tuple[int, bool]])

    def copy(self) -> State:
        return State(self.values[:], self.known[:], dict(self.logs))
