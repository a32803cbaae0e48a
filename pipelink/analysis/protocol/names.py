"""Loops that repeat by a name: who has got how far, what of it still matters, and when it is let go.

Everybody's n-th loop by a name runs as often as everybody else's n-th.  What is decided about such a loop is in a log
until its last reader is done with it.  Nobody may be so far behind that the log never ends, as where one role's loop
begins when another's is over: those who lag by more than all rings together hold get a log of their own then, as if
their loop were another, which can only add to what is explored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pipelink.analysis.protocol.program import Begin
from pipelink.analysis.protocol.run import Machine
from pipelink.analysis.protocol.state import LOGS, State

_SLACK: Final = 4  # iterations, beyond what rings hold


class Names:
    """The names of one system."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.symbols, self.agents = machine, machine.system.symbols, machine.agents
        self.loops = [[step for step in agent.code if isinstance(step, Begin)] for agent in self.agents]
        rings = {(end.port, end.stages) for agent in self.agents for end in agent.endpoints}
        self.most = sum(stages for _, stages in rings) + _SLACK

    def readers(self, state: State, symbol: int) -> Iterator[int]:
        """The agents that may still ask for a name."""
        for number, agent in enumerate(self.agents):
            if symbol in agent.symbols[state.values[agent.pc]]:
                yield number

    def active(self, state: State, number: int, symbol: int) -> list[tuple[int, int, int]]:
        """The loops by a name that an agent is in: log, iteration, counter."""
        values = state.values
        return [
            (values[step.counter] - 1, values[step.counter + 1], step.counter)
            for step in self.loops[number]
            if step.symbol == symbol and values[step.counter]
        ]

    def ahead(self, state: State, number: int, symbol: int) -> int:
        """The next loop by a name that an agent begins."""
        return state.values[self.machine.instances[number][symbol]]

    def lag(self, state: State, symbol: int, log: int, position: int) -> int:
        """How far another reader of a loop is behind."""
        worst = 0
        scale = 1 if self.symbols[symbol].ways else LOGS
        for number in self.readers(state, symbol):
            at = min(
                ((other, there) for other, there, _ in self.active(state, number, symbol)),
                default=(self.ahead(state, number, symbol) * scale, 0),
            )
            if at[0] // scale < log // scale:
                worst = max(worst, 1000 * (log // scale - at[0] // scale))
            elif at[0] == log:
                worst = max(worst, position - at[1])
        return worst

    def part(self, state: State) -> None:
        """Give those who are too far behind a log of their own."""
        for (symbol, log), (count, _) in list(state.logs.items()):
            if count <= self.most or symbol < 0 or self.symbols[symbol].ways:
                continue
            late: list[tuple[int, int]] = []  # iteration, counter
            coming = False
            instance, number = divmod(log, LOGS)
            newest = state.logs.get((-1 - symbol, instance), (0, True))[0]
            for reader in self.readers(state, symbol):
                late += [
                    (at, counter)
                    for other, at, counter in self.active(state, reader, symbol)
                    if other == log and at < count - self.most
                ]
                coming |= self.ahead(state, reader, symbol) <= instance and number == newest
            if (late or coming) and newest + 1 < LOGS:
                state.logs[-1 - symbol, instance] = (newest + 1, True)
                state.logs[symbol, log - number + newest + 1] = (max((at for at, _ in late), default=0), False)
                for _, counter in late:
                    state.values[counter] = log - number + newest + 2

    def normalise(self, state: State, values: list[int], symbol: int) -> list[tuple[int, ...]]:
        """Count loops by one name, and their iterations, from where the last reader is; forget what came before."""
        machine, named = self.machine, self.symbols[symbol]
        scale = 1 if named.ways else LOGS
        readers = list(self.readers(state, symbol))
        active = {number: self.active(state, number, symbol) for number in range(len(self.agents))}
        nexts = {number: self.ahead(state, number, symbol) for number in readers}
        begun = [log // scale for number in readers for log, _, _ in active[number]]
        base = min([*nexts.values(), *begun], default=0)
        fixed = symbol in machine.fixed
        for number, counters in enumerate(machine.instances):
            if symbol in counters:
                values[counters[symbol]] = nexts[number] - base if number in nexts and not fixed else 0
        found: list[tuple[int, ...]] = []
        low: dict[int, int] = {}
        for (other, log), (count, all_) in list(state.logs.items()):
            if other == -1 - symbol:
                if log >= base and readers:
                    found.append((-1 - symbol, log - base, count, 0, 0))
                else:
                    del state.logs[other, log]
            if other != symbol:
                continue
            instance, number = divmod(log, scale)
            newest = state.logs.get((-1 - symbol, instance), (0, True))[0]
            at = [there for loops in active.values() for which, there, _ in loops if which == log]
            if number == newest and any(following <= instance for following in nexts.values()):
                at.append(0)
            if not at and (instance < base or not named.ways):
                del state.logs[other, log]
                continue
            low[log] = 0 if named.ways else min(*at, count) if at else 0
            wanting = max(named.least - count, 0)
            found.append((symbol, log - base * scale, count - low[log], int(all_), wanting))
        for loops in active.values():
            for log, _, counter in loops:
                values[counter + 1] -= low.get(log, 0)
                values[counter] = 1 if fixed else values[counter] - base * scale
        found.sort()
        return found
