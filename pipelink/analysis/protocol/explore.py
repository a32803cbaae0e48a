"""All that a system can do, for every trip count and every choice: breadth first over the decisions.

Between two decisions everybody goes on as far as possible (:mod:`run`).  A decision is whether a loop by a name goes
on, which way a choice goes, or how often an elastic loop runs.  States at decisions are compared by their keys
(:mod:`canonical`), of which there are finitely many.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pipelink.analysis.protocol.canonical import Keys
from pipelink.analysis.protocol.polynomial import Leaf, Polynomial, choices_of, of_atom
from pipelink.analysis.protocol.program import (
    Agent,
    Branch,
    Elastic,
    End,
    Endpoint,
    Iterate,
    Meet,
    Operation,
    Stop,
    System,
    Take,
)
from pipelink.analysis.protocol.run import Event, Machine, StepLimit
from pipelink.analysis.protocol.state import State
from pipelink.analysis.protocol.violations import Blocked, Untaken, Violation
from pipelink.support import limits

_MOST_TRIED = 5_000  # values of what is known at launch, for one counterexample


@dataclass(frozen=True)
class Limits:
    """Of one kernel: states and steps of all its parts together, seconds of processor time, and memory of one part."""

    states: int = limits.STATES
    steps: int = limits.STEPS
    seconds: float = limits.SECONDS
    megabytes: int = limits.MEGABYTES


class LimitReached(Exception):
    """``what`` was exceeded; ``size`` is how far the exploration got."""

    def __init__(self, what: str, size: str) -> None:
        super().__init__(what)
        self.what, self.size = what, size


@dataclass(frozen=True)
class Decision:
    """``agents`` go on because of it.  ``log``: the entry of a symbol; ``places``: where to put program counters."""

    agents: tuple[int, ...]
    log: tuple[tuple[int, int], tuple[int, bool]] | None = None
    places: tuple[tuple[int, int], ...] = ()
    forced: bool = False


@dataclass(eq=False, repr=False)
class Found:
    """A violation, with the steps that lead to it."""

    violation: Violation
    events: list[Event]
    blocked: list[int]
    logs: dict[tuple[int, int], tuple[int, bool]]
    values: list[int]
    fixed: Mapping[int, int]


@dataclass(eq=False, repr=False)
class Explored:
    """What came out.  ``states`` at decisions and ``steps`` were visited."""

    states: int
    steps: int
    found: Found | None = None


class Explorer:
    """Explores one system."""

    def __init__(self, system: System, limits: Limits, fixed: Mapping[Leaf, int] | None = None) -> None:
        self.system, self.limits = system, limits
        self.machine = Machine(system)
        self.agents = system.agents
        self.everybody = tuple(range(len(self.agents)))
        self.machine.fixed = {
            number: max(symbol.count.value(fixed), 0)
            for number, symbol in enumerate(system.symbols)
            if fixed and symbol.count is not None and symbol.count.leaves <= fixed.keys()
        }
        self.keys = Keys(self.machine)
        self.names = self.keys.names

    def run(self) -> Explored:
        """Raises LimitReached, StepLimit."""
        limits, machine = self.limits, self.machine
        began = time.process_time()
        path: list[tuple[int, Decision]] = []  # of each state: its parent's number, the decision that led here
        seen: dict[object, int] = {}
        queue: deque[tuple[int, State, Decision]] = deque()
        start = machine.initial()
        most = min(limits.states, limits.megabytes * 2**20 // self.bytes_of(start))

        def enter(parent: int, state: State, decision: Decision, waking: tuple[int, ...]) -> Found | None:
            """Go on from a decision; queue the decisions of the state that is reached, if it is new."""
            try:
                following = self.settle(state, waking)
            except Violation as violation:
                return self.replay(path, parent, decision, violation)
            key = self.keys.key(state)
            if key in seen:
                if decision.forced and self.again(path, parent, seen[key]):
                    return self.replay(path, parent, decision, Blocked())
                return None
            number = len(path)
            seen[key] = number
            path.append((parent, decision))
            queue.extend((number, state, one) for one in following)
            return None

        def look() -> None:
            if machine.steps > limits.steps:
                raise LimitReached("steps", self.size(len(seen)))
            if time.process_time() - began > limits.seconds:
                raise LimitReached("seconds", self.size(len(seen)))

        machine.look = look
        found = enter(-1, start, Decision(self.everybody), self.everybody)
        while queue and found is None:
            number, state, decision = queue.popleft()
            last = not queue or queue[0][1] is not state
            after = state if last else state.copy()
            self.apply(after, decision)
            found = enter(number, after, decision, decision.agents)
            if len(seen) > most:
                raise LimitReached("states" if most == limits.states else "megabytes", self.size(len(seen)))
            look()
        return Explored(len(seen), machine.steps, found)

    def settle(self, state: State, waking: tuple[int, ...]) -> list[Decision]:
        """Go on until there is something to decide.  Raises Violation."""
        self.machine.run(state, waking)
        self.names.part(state)
        return self.decisions(state)

    @staticmethod
    def bytes_of(state: State) -> int:
        """What a state takes, at most: its key, and itself while it waits for its turn."""
        return 2 * (8 * len(state.values) + 64 * len(state.known)) + 1000

    def size(self, states: int) -> str:
        return f"{states} states and {self.machine.steps} steps"

    def contradiction(self, found: Found) -> list[Leaf]:
        """What is known at launch and would have two values in a counterexample."""
        counts: dict[Polynomial, tuple[set[int], set[int]]] = {}
        for (symbol, _), (count, all_) in found.logs.items():
            if symbol >= 0 and (by := self.system.symbols[symbol].count) is not None:
                counts.setdefault(by, (set(), set()))[not all_].add(count)
        leaves = {leaf: None for by in counts for leaf in sorted(by.leaves, key=repr)}
        return [] if _is_possible(counts, list(leaves)) else list(leaves)

    @staticmethod
    def again(path: list[tuple[int, Decision]], at: int, earlier: int) -> bool:
        """Whether ``earlier`` leads to ``at`` by forced decisions alone: a circle without a way out."""
        while at > earlier:
            parent, decision = path[at]
            if not decision.forced:
                return False
            at = parent
        return at == earlier

    def apply(self, state: State, decision: Decision) -> None:
        if decision.log is not None:
            state.logs[decision.log[0]] = decision.log[1]
        for agent, place in decision.places:
            state.values[self.agents[agent].pc] = place

    def replay(self, path: list[tuple[int, Decision]], parent: int, decision: Decision, violation: Violation) -> Found:
        """The steps to a violation, once more and written down."""
        decisions = [decision]
        while parent >= 0:
            parent, earlier = path[parent]
            decisions.append(earlier)
        machine = self.machine
        machine.trace, machine.makers = [], {}
        state = machine.initial()
        try:
            for one in reversed(decisions):
                self.apply(state, one)
                self.settle(state, one.agents)
        except Violation as again:
            violation = again
        events, machine.trace = machine.trace, None
        _, hard, soft, idle, _ = self.sorted(state)
        circle = [] if hard else self.circle(state, idle)
        blocked = [number for number in sorted([*hard, *(circle or soft)]) if self.waits(state, number)]
        return Found(violation, events, blocked, state.logs, state.values, dict(machine.fixed))

    # -- decisions

    def at(self, state: State, number: int) -> Operation:
        agent = self.agents[number]
        return agent.code[state.values[agent.pc]]

    def waits(self, state: State, number: int) -> bool:
        return isinstance(self.at(state, number), Take | End | Meet)

    def holds(self, state: State, agent: Agent) -> bool:
        values = state.values
        return any(values[end.cursor] > values[end.done] for end in agent.endpoints if not end.token)

    def offered(self, state: State, agent: Agent) -> bool:
        """Whether there is something that only this agent can take: an iteration has begun for one of its inputs, be
        it with fewer arrivals than there should be."""
        values = state.values
        ends = [end for end in agent.endpoints if not end.producer and not end.token and end.watch]
        begun = (self.system.barriers[end.watch[values[end.cursor] % end.stages]].phase + 1 for end in ends)
        return any(values[at] for at in begun) or any(self._untaken(values, end) is not None for end in ends)

    def decisions(self, state: State) -> list[Decision]:
        """What may happen next where nobody can go on.  Raises Violation if something else should have happened."""
        asking, hard, soft, idle, sources = self.sorted(state)
        wanted = self.wanted(state, hard, sources) if sources and hard else []
        if wanted and not asking:
            return [self.iterate(state, wanted[0], forced=True)]
        if asking:
            return [*(self.iterate(state, number) for number in wanted[:1]), *self.ask(state, asking)]
        if hard:
            raise Blocked
        return self.rest(state, soft, idle, sources)

    def sorted(self, state: State) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
        """The agents that ask for a count or a way; that wait; that wait for what may be an end mark; that may have
        done enough; that make something when they are asked to."""
        asking: list[int] = []
        hard: list[int] = []
        soft: list[int] = []
        idle: list[int] = []
        sources: list[int] = []
        for number, agent in enumerate(self.agents):
            at = state.values[agent.pc]
            match agent.code[at]:
                case Stop():
                    pass
                case Iterate() | Branch():
                    asking.append(number)
                case Elastic():
                    sources.append(number)
                case _ if at in agent.enough and not self.holds(state, agent) and not self.offered(state, agent):
                    idle.append(number)
                case Take(leave=leave) if leave >= 0:
                    soft.append(number)
                case _:
                    hard.append(number)
        return asking, hard, soft, idle, sources

    def rest(self, state: State, soft: list[int], idle: list[int], sources: list[int]) -> list[Decision]:
        """Nobody has to go on: elastic loops may, or end.  They cannot where some wait for each other in a circle."""
        if self.circle(state, idle):
            raise Blocked
        found: list[Decision] = []
        seen: set[str] = set()
        for number in sources:
            role = self.agents[number].role
            if role not in seen and not any(isinstance(self.at(state, c), Stop) for c in self.consumers(number)):
                seen.add(role)
                found.append(self.iterate(state, number))
        places = tuple((number, self.leave(state, number)) for number in sorted((*idle, *sources)))
        if any(not isinstance(self.agents[number].code[place], Stop) for number, place in places):
            found.append(Decision(tuple(number for number, _ in places), places=places))
        elif soft:
            raise Blocked
        else:
            self.left(state)
        return found

    def circle(self, state: State, idle: list[int]) -> list[int]:
        """Those of the agents that have done enough which wait, through each other, for themselves."""
        waits = {number: [other for other in self.waited(state, number) if other in idle] for number in idle}

        return [number for number in idle if number in _reach(waits[number], waits.__getitem__)]

    def leave(self, state: State, number: int) -> int:
        """Where the elastic loop that an agent is in is left."""
        agent = self.agents[number]
        return agent.enough[state.values[agent.pc]]

    def iterate(self, state: State, number: int, *, forced: bool = False) -> Decision:
        """One more iteration of a role's elastic loop, by all of its threads."""
        role = self.agents[number].role
        places = tuple(
            (other, state.values[agent.pc] + 1)
            for other, agent in enumerate(self.agents)
            if agent.role == role and isinstance(self.at(state, other), Elastic)
        )
        return Decision(tuple(other for other, _ in places), places=places, forced=forced)

    def consumers(self, number: int) -> set[int]:
        """Agents that wait for what an agent makes."""
        found: set[int] = set()
        for signal in self.agents[number].arrivals():
            found.update(self.system.barriers[signal.barrier].waiters)
        return found - {number}

    def ask(self, state: State, asking: list[int]) -> list[Decision]:
        """The alternatives of the name whose readers are closest together, so that nobody runs far ahead."""
        values = state.values
        best: tuple[int, int, int] | None = None
        for number in asking:
            match self.at(state, number):
                case Branch(symbol=symbol):
                    instance, position = values[self.machine.instances[number][symbol]], 0
                case Iterate(symbol=symbol, counter=counter):
                    instance, position = values[counter] - 1, values[counter + 1]
                case step:
                    raise AssertionError(step)
            lag = self.names.lag(state, symbol, instance, position)
            if best is None or lag < best[0]:
                best = (lag, symbol, instance)
        assert best is not None
        _, index, instance = best
        waking = tuple(number for number in asking if self.asks(state, number, index))
        symbol, entry = self.system.symbols[index], (index, instance)
        if symbol.ways:
            return [Decision(waking, (entry, (way, True))) for way in range(symbol.ways)]
        count = state.logs.get(entry, (0, False))[0]
        more = Decision(waking, (entry, (count + 1, False)))
        if count < symbol.least:
            return [more]
        return [Decision(waking, (entry, (count, True))), more]

    def asks(self, state: State, number: int, symbol: int) -> bool:
        step = self.at(state, number)
        return isinstance(step, Branch | Iterate) and step.symbol == symbol

    # -- who waits for whom

    def waited(self, state: State, number: int) -> list[int]:
        """The agents that could let a waiting one go on."""
        values = state.values
        match self.at(state, number):
            case Meet(named=index):
                named = self.system.named[index]
                return [user for user in named.users if not values[named.state + 1] >> user & 1]
            case Take(end=end) | End(end=end):
                barrier = self.system.barriers[end.watch[values[end.cursor] % end.stages]]
            case _:
                return []
        missing = [a for a in barrier.arrivers if not values[barrier.phase + 3] >> a & 1]
        return missing or list(barrier.arrivers)

    def wanted(self, state: State, hard: list[int], sources: list[int]) -> list[int]:
        """Elastic producers that somebody waits for, directly or through others."""
        reached = _reach(hard, lambda number: self.waited(state, number))
        return [number for number in sources if number in reached]

    def left(self, state: State) -> None:
        """Everybody is done: nothing may be left that nobody took."""
        values = state.values
        for agent in self.agents:
            for end in agent.endpoints:
                if end.producer or not end.watch:
                    continue
                if (slot := self._untaken(values, end)) is not None:
                    index = end.watch[slot]
                    raise Untaken(end.agent, slot=slot, barrier=index)

    def _untaken(self, values: list[int], end: Endpoint) -> int | None:
        """A slot that is full and has not been waited for."""
        for slot, index in enumerate(end.watch):
            visits = (values[end.cursor] - slot + end.stages - 1) // end.stages
            full = values[self.system.barriers[index].phase]
            # what was passed last may stand for a credit that was there at first
            if full > visits + (0 if end.token else end.offset) and not (end.marks and values[end.marks[slot]]):
                return slot
        return None


def _is_possible(counts: Mapping[Polynomial, tuple[set[int], set[int]]], leaves: list[Leaf]) -> bool:
    """Whether there are values with which each count is what loops have made of it: whole ones, and begun ones."""
    if any(len(whole) > 1 or (whole and max(begun, default=0) > min(whole)) for whole, begun in counts.values()):
        return False
    if all(
        len(by.leaves) == 1 and by.terms[0] == ((next(iter(by.leaves)),), 1) and len(by.terms) == 1 for by in counts
    ):
        return all(leaf.key[0] != "number" or counts[of_atom(leaf)][0] <= {leaf.key[1]} for leaf in leaves)
    most = 2 + max((number for parts in counts.values() for part in parts for number in part), default=0)
    choices = choices_of(counts, leaves, most, _MOST_TRIED)
    for values in itertools.product(*choices):
        known = dict(zip(leaves, values, strict=True))
        try:
            made = [(max(by.value(known), 0), whole, begun) for by, (whole, begun) in counts.items()]
        except ZeroDivisionError:
            continue
        if all(whole <= {number} and max(begun, default=0) <= number for number, whole, begun in made):
            return True
    return False


def _reach(first: Iterable[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    """``first``, what follows them, and so on."""
    found: set[int] = set()
    todo = list(first)
    while todo:
        if (number := todo.pop()) not in found:
            found.add(number)
            todo.extend(following(number))
    return found


__all__ = ["Decision", "Explored", "Explorer", "Found", "LimitReached", "Limits", "StepLimit"]
