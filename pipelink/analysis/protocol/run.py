"""Runs the agents of a system until nobody can go on, and checks what must hold on the way.

One order of steps stands for all of them: an agent waits for one thing at a time, and what it waits for is made by
steps whose number and order the checks here fix (``docs/protocols.md`` has the argument).  The checks go by what an
agent *knows*: each holder, an agent or a phase of a barrier, has a set of records, as bits of an integer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pipelink.analysis.protocol import violations
from pipelink.analysis.protocol.program import (
    Access,
    Agent,
    Begin,
    Branch,
    Count,
    CountDown,
    Elastic,
    End,
    Endpoint,
    EndTurn,
    Finish,
    Give,
    GiveMark,
    Hold,
    Iterate,
    Jump,
    Leave,
    LocalAcquire,
    LocalCommit,
    LocalRelease,
    LocalWait,
    Meet,
    Operation,
    Signal,
    Skip,
    Stop,
    System,
    Take,
    Touch,
)
from pipelink.analysis.protocol.state import LOGS, State
from pipelink.support import limits

_LOOK = 4096  # steps from one look at the limits to the next


class StepLimit(Exception):
    """A role goes on and on without waiting for anything."""

    def __init__(self, agent: int) -> None:
        super().__init__(agent)
        self.agent = agent


@dataclass(eq=False, repr=False)
class Event:
    """A step that was made; ``after`` are the events that let it go on."""

    agent: int
    step: Operation
    slot: int
    after: tuple[int, ...]


class Machine:
    """The steps of one system.  It holds no state of a run but ``trace``, which is recorded if it is a list."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.agents = system.agents
        self.barriers = system.barriers
        self.pending = len(system.agents)  # knowledge of phases in the making; that of last phases follows each
        self.generations = self.pending + 2 * len(system.barriers)
        self.trace: list[Event] | None = None
        self.makers: dict[int, list[int]] = {}  # events that made the phase of a barrier, then those of the last one
        self.instances: list[dict[int, int]] = []  # agent -> symbol -> counter of loops begun
        for agent in system.agents:
            used = agent.symbols[0] if agent.symbols else frozenset[int]()
            self.instances.append({symbol: system.counter() for symbol in sorted(used)})
        self.steps = 0
        self.look: Callable[[], None] = lambda: None  # at the limits, now and then; it raises what exceeds them
        self.look_at = _LOOK
        self.fixed: dict[int, int] = {}  # symbols of a known count

    def initial(self) -> State:
        """All mbarriers are initialised; nobody has done anything, so everybody knows of everything."""
        everything = (1 << self.system.records) - 1
        known = [everything] * len(self.agents)
        for _ in self.barriers:
            known += [0, everything]
        known += [0] * len(self.system.named)
        return State([0] * self.system.counters, known)

    def run(self, state: State, agents: Iterable[int]) -> None:
        """Let the agents, and all whom they let go on, go on as far as they can.  Raises Violation, StepLimit."""
        self.state, self.values, self.known = state, state.values, state.known
        self.queue = deque(agents)
        while self.queue:
            self._advance(self.queue.popleft())

    def _advance(self, number: int) -> None:
        agent = self.agents[number]
        values, code, at = self.values, agent.code, agent.pc
        began, until = self.steps, self.look_at
        while self._step(number, agent, code[values[at]]):
            self.steps += 1
            if self.steps >= until:
                self.look()
                until = self.look_at = self.steps + _LOOK
                if self.steps - began > limits.STEPS_IN_A_ROW:
                    raise StepLimit(number)

    def _step(self, number: int, agent: Agent, step: Operation) -> bool:
        """One step of an agent, the most frequent first; whether it goes on."""
        match step:
            case Take():
                return self._take(number, agent, step)
            case Give():
                return self._give(number, agent, step)
            case Iterate():
                return self._iterate(agent, step)
            case Jump():
                self.values[agent.pc] = step.target
                return True
            case Meet():
                return self._meet(number, agent, step)
            case Elastic():
                self.values[agent.pc] += step.driven
                return step.driven
            case CountDown():
                return self._count_down(agent, step)
            case Touch():
                return self._touched(number, agent, step)
            case Begin():
                return self._begin(number, agent, step)
            case Stop():
                return False
            case Branch():
                return self._branch(number, agent, step)
            case Count():
                self.values[step.counter] = step.count
            case Leave():
                self.values[step.counter] = self.values[step.counter + 1] = 0
            case Skip():
                self.values[self.instances[number][step.symbol]] += 1
            case End():
                return self._end(number, agent, step)
            case GiveMark():
                slot = (self.values[step.end.cursor] - 1) % step.end.stages
                self._event(number, step, slot, -1)
                for signal in step.signals[slot]:
                    self._arrive(number, agent, step, signal, slot, 0)
            case LocalWait():
                self._local_wait(number, step)
            case LocalAcquire():
                self._local_acquire(number, step)
            case LocalCommit():
                self._local_commit(number, step)
            case LocalRelease():
                self._local_release(number, step)
            case Hold():
                self._hold(number, step)
            case EndTurn():
                self._end_turn(number, step)
            case Finish():
                self._finish(number, step)
            case _:
                raise AssertionError(step)
        self.values[agent.pc] += 1
        return True

    # -- knowledge

    def _make(self, number: int, record: int, kept: bool) -> None:
        """A new record: nobody but its maker, if one, knows of it."""
        rest = ~record
        known = self.known
        known[:] = [holder & rest for holder in known]
        if kept:
            known[number] |= record

    def _touch(self, number: int, step: Operation, accesses: Iterable[Access], slot: int) -> None:
        for access in accesses:
            missing = access.need & ~self.known[number]
            if missing:
                raise violations.Race(number, step, slot, missing, access.place)
            self._make(number, access.record, access.kept)

    def _event(self, number: int, step: Operation, slot: int, waited: int) -> None:
        if self.trace is not None:
            after = tuple(self.makers.get(2 * waited + 1, ())) if waited >= 0 else ()
            self.trace.append(Event(number, step, slot, after))

    # -- mbarriers

    def _arrive(self, number: int, agent: Agent, step: Operation, signal: Signal, slot: int, size: int) -> None:
        """``size``: bytes that are announced, or, negative, that arrive."""
        barrier = self.barriers[signal.barrier]
        values, at = self.values, barrier.phase
        if not barrier.expected:
            raise violations.Uninitialised(number, step, slot, signal.barrier)
        if signal.units and values[at + 3] >> number & 1:
            raise violations.ArrivedTwice(number, step, slot, signal.barrier)
        if barrier.record and not self.known[number] & barrier.record:
            raise violations.Overrun(number, step, slot, signal.barrier)
        if signal.units:
            values[at + 3] |= 1 << number
            values[at + 1] += signal.units
            if values[at + 1] > barrier.expected:
                raise violations.TooMany(number, step, slot, signal.barrier, values[at + 1])
        values[at + 2] += size
        holder = self.pending + 2 * signal.barrier
        self.known[holder] |= self.known[number] | agent.own
        if self.trace is not None:
            self.makers.setdefault(2 * signal.barrier, []).append(len(self.trace) - 1)
        if values[at + 1] == barrier.expected and not values[at + 2]:
            self._complete(number, step, slot, signal.barrier, holder)

    def _complete(self, number: int, step: Operation, slot: int, index: int, holder: int) -> None:
        barrier = self.barriers[index]
        values, known, at = self.values, self.known, barrier.phase
        for end in barrier.takers:
            own = end.watch.index(index)
            visits = (values[end.cursor] - own + end.stages - 1) // end.stages
            if visits < values[at] - end.offset or end.takes[own] & ~known[holder]:
                raise violations.PhaseLost(number, step, slot, index, end)
        values[at] += 1
        values[at + 1] = values[at + 3] = 0
        if barrier.record:
            self._make(-1, barrier.record, False)
        known[holder + 1] = known[holder] | barrier.record
        known[holder] = 0
        if self.trace is not None:
            self.makers[2 * index + 1] = self.makers.pop(2 * index, [])
        self.queue.extend(barrier.waiters)

    def _passed(self, number: int, step: Operation, end: Endpoint) -> bool:
        """Whether the phase that the end's next slot waits for is complete."""
        visit, slot = divmod(self.values[end.cursor], end.stages)
        index = end.watch[slot]
        completed = self.values[self.barriers[index].phase] - visit - end.offset
        if completed == 0:
            return False
        if completed != 1:
            raise violations.PhaseMissed(number, step, slot, index, completed)
        self.known[number] |= self.known[self.pending + 2 * index + 1]
        self._event(number, step, slot, index)
        return True

    def _pass_mark(self, end: Endpoint) -> None:
        """The slot just taken is the end mark's, which is given on at once; those before it may still be held."""
        values = self.values
        if values[end.done] == values[end.cursor] - 1:
            values[end.done] += 1
        else:
            values[end.ended] = values[end.cursor]

    # -- steps; whether the agent goes on

    def _take(self, number: int, agent: Agent, step: Take) -> bool:
        end = step.end
        if not self._passed(number, step, end):
            return False
        values = self.values
        slot = values[end.cursor] % end.stages
        if end.staging:
            if values[end.cursor] > values[end.done]:
                raise violations.StagingBusy(number, step, slot)
            self._touch(number, step, end.staging, slot)
        if end.accesses:
            self._touch(number, step, end.accesses[slot], slot)
        elif end.takes:
            self._make(number, end.takes[slot], not agent.several)
        values[end.cursor] += 1
        if end.marks:
            mark = end.marks[slot]
            if end.producer:
                values[mark] = 0
            elif values[mark]:
                if step.leave < 0:
                    raise violations.EndAsData(number, step, slot)
                for signal in step.signals[slot] if step.signals else ():  # the mark's slot is given back at once
                    self._arrive(number, agent, step, signal, slot, 0)
                self._pass_mark(end)
                for counter in step.clears:
                    values[counter] = 0
                values[agent.pc] = step.leave
                return True
        if step.expect:
            signal = step.expect[slot]
            self._arrive(number, agent, step, signal, slot, signal.bytes)
        values[agent.pc] += 1
        return True

    def _give(self, number: int, agent: Agent, step: Give) -> bool:
        end = step.end
        values = self.values
        if end.token:
            slot = values[end.done] % end.stages if end.stages > 1 else -1
            self._event(number, step, slot, -1)
            for signal in step.signals[max(slot, 0)]:
                self._arrive(number, agent, step, signal, slot, 0)
            values[end.done] += 1
            values[agent.pc] += 1
            return True
        if step.some and step.signals and values[end.cursor] - values[end.done] <= (values[end.ended] > 0):
            self._event(number, step, -1, -1)
            raise violations.NothingHeld(number, step)
        while values[end.cursor] - values[end.done] - (values[end.ended] > 0) > step.keep:
            slot = values[end.done] % end.stages
            if values[end.ended] == values[end.done] + 1:  # that of the end mark was given back at once
                values[end.ended] = 0
                values[end.done] += 1
                continue
            if not step.signals:  # others do it for this agent
                values[end.done] += 1
                continue
            self._event(number, step, slot, -1)
            self._touch(number, step, end.staged, slot)
            if end.accesses and not step.touched:
                self._touch(number, step, end.accesses[slot], slot)
            values[end.done] += 1
            for signal in step.signals[slot]:
                self._arrive(number, agent, step, signal, slot, -signal.bytes)
        values[agent.pc] += 1
        return True

    def _end(self, number: int, agent: Agent, step: End) -> bool:
        end = step.end
        if not self._passed(number, step, end):
            return False
        values = self.values
        slot = values[end.cursor] % end.stages
        if end.accesses:
            self._touch(number, step, end.accesses[slot], slot)
        values[end.cursor] += 1
        self._pass_mark(end)
        if end.marks:
            values[end.marks[slot]] = 1
        for signal in step.signals[slot] if step.signals else ():
            self._arrive(number, agent, step, signal, slot, 0)
        values[agent.pc] += 1
        return True

    def _meet(self, number: int, agent: Agent, step: Meet) -> bool:
        values, known = self.values, self.known
        if values[agent.pc + 1]:
            return False
        index = step.named
        named, at, holder = self.system.named[index], self.system.named[index].state, self.generations + index
        self._event(number, step, -1, -1)
        if step.partial:
            raise violations.PartOfWarp(number, step)
        if step.threads != named.threads:
            raise violations.OtherCount(number, step, threads=step.threads)
        if values[at + 1] >> number & 1:
            raise violations.MetTwice(number, step)
        if not known[number] & named.record:
            raise violations.RoundOverrun(number, step)
        values[at] += agent.threads
        values[at + 1] |= 1 << number
        known[holder] |= known[number] | agent.own
        if values[at] > named.threads:
            raise violations.Crowd(number, step, threads=values[at])
        inside = step.waits
        if values[at] < named.threads:
            values[agent.pc + 1] = int(inside)
            if not inside:
                values[agent.pc] += 1
            return not inside
        self._make(-1, named.record, False)
        for other, user in enumerate(self.agents):
            at_it = user.code[values[user.pc]]
            waits = values[user.pc + 1] and isinstance(at_it, Meet) and at_it.named == index
            if other == number or waits:
                if other != number or inside:
                    known[other] |= known[holder] | named.record
                values[user.pc + 1] = 0
                values[user.pc] += 1
                if other != number:
                    self.queue.append(other)
        known[holder] = values[at] = values[at + 1] = 0
        return True

    def _touched(self, number: int, agent: Agent, step: Touch) -> bool:
        self._event(number, step, -1, -1)
        self._touch(number, step, step.accesses, -1)
        values, places = self.values, [self.system.places[access.place] for access in step.accesses]
        if step.write:
            for place in places:
                values[place.written] = 1
                for other in place.spoils:
                    values[other] = 0
        elif not step.waits and not any(values[place.written] for place in places):
            raise violations.Unwritten(number, step, place=step.places[0])
        values[agent.pc] += 1
        return True

    def _hold(self, number: int, step: Hold) -> None:
        end, values = step.end, self.values
        self._event(number, step, -1, -1)
        held = range(values[end.done], values[end.cursor])
        if not held:
            raise violations.NothingTouched(number, step)
        for position in held if end.accesses else ():
            slot = position % end.stages
            self._touch(number, step, end.accesses[slot], slot)

    def _end_turn(self, number: int, step: EndTurn) -> None:
        end, values = step.end, self.values
        held = values[end.cursor] - values[end.done] - (values[end.ended] > 0)
        if held > 0:
            self._event(number, step, -1, -1)
            raise violations.SlotsKept(number, step, count=held)

    def _finish(self, number: int, step: Finish) -> None:
        end, values = step.end, self.values
        for position in range(values[end.done], values[end.cursor] - step.keep) if end.accesses else ():
            slot = position % end.stages
            self._touch(number, step, end.accesses[slot], slot)

    # -- rings that one role fills and reads

    def _local_acquire(self, number: int, step: LocalAcquire) -> None:
        end, other, values = step.end, step.partner, self.values
        slot = values[end.cursor] % end.stages
        self._event(number, step, slot, -1)
        if values[other.done] < values[end.cursor] - end.stages + 1:
            raise violations.Overwritten(number, step, slot)
        self._touch(number, step, end.accesses[slot], slot)
        values[end.cursor] += 1
        values[end.marks[slot]] = 0

    def _local_commit(self, number: int, step: LocalCommit) -> None:
        """Makes a group of copies, be it empty.  A slot's mark counts the groups from its own on."""
        end, values = step.end, self.values
        self._event(number, step, values[end.done] % end.stages, -1)
        for mark in end.marks:
            values[mark] += 0 < values[mark] < end.stages
        while values[end.cursor] - values[end.done] > step.keep:
            slot = values[end.done] % end.stages
            self._touch(number, step, end.accesses[slot], slot)
            values[end.marks[slot]] = 1
            values[end.done] += 1

    def _local_wait(self, number: int, step: LocalWait) -> None:
        """All but the last ``stages - 2`` groups are there, and everybody has met."""
        end, other, values = step.end, step.partner, self.values
        slot = values[end.cursor] % end.stages
        self._event(number, step, slot, -1)
        groups = values[other.marks[slot]] if values[other.done] > values[end.cursor] else 0
        if groups <= max(end.stages - 2, 0):
            raise violations.ReadEarly(number, step, slot, groups)
        self._touch(number, step, end.accesses[slot], slot)
        values[end.cursor] += 1

    def _local_release(self, number: int, step: LocalRelease) -> None:
        end, values = step.end, self.values
        while values[end.cursor] - values[end.done] > step.keep:
            slot = values[end.done] % end.stages
            self._event(number, step, slot, -1)
            self._touch(number, step, end.accesses[slot], slot)
            values[end.done] += 1

    # -- loops

    def _begin(self, number: int, agent: Agent, step: Begin) -> bool:
        values, counter = self.values, self.instances[number][step.symbol]
        log = values[counter] * LOGS + self.state.logs.get((-1 - step.symbol, values[counter]), (0, True))[0]
        values[counter] += 1
        values[step.counter] = log + 1  # 0 is outside of the loop
        values[step.counter + 1] = step.start
        values[agent.pc] += 1
        return True

    def _iterate(self, agent: Agent, step: Iterate) -> bool:
        values = self.values
        if step.symbol in self.fixed:
            decided, all_ = self.fixed[step.symbol], True
        else:
            decided, all_ = self.state.logs.get((step.symbol, values[step.counter] - 1), (0, False))
        if values[step.counter + 1] < decided:
            values[step.counter + 1] += 1
            values[agent.pc] += 1
            return True
        if not all_:
            return False
        if not step.stays:
            values[step.counter] = values[step.counter + 1] = 0
        values[agent.pc] = step.leave
        return True

    def _count_down(self, agent: Agent, step: CountDown) -> bool:
        if self.values[step.counter]:
            self.values[step.counter] -= 1
            self.values[agent.pc] += 1
        else:
            self.values[agent.pc] = step.leave
        return True

    def _branch(self, number: int, agent: Agent, step: Branch) -> bool:
        values, counter = self.values, self.instances[number][step.symbol]
        way, decided = self.state.logs.get((step.symbol, values[counter]), (0, False))
        if not decided:
            return False
        values[counter] += 1
        values[agent.pc] = step.ways[min(way, len(step.ways) - 1)]
        return True
