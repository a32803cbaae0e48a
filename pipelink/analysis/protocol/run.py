"""Runs the agents of a system until nobody can go on, and checks what must hold on the way.

One order of steps stands for all of them: an agent waits for one thing at a time, and what it waits for is made by
steps whose number and order the checks here fix (``docs/protocols.md`` has the argument).  The checks go by what an
agent *knows*: each holder, an agent or a phase of a barrier, has a set of records, as bits of an integer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from pipelink.model.system import Access, Agent, Endpoint, Instruction, Op, Signal, System

MAX_RUN = 2_000_000  # steps between two decisions
LOGS = 64  # most logs of one loop by a name (names.py)


@dataclass(eq=False, repr=False)
class State:
    """``values`` at the indices of the model; ``known`` of agents, of each barrier's phase in the making and last
    phase, of each named barrier; ``logs``: (symbol, log) -> (iterations decided, or the way chosen; whether that is
    all); the log of the n-th loop by a symbol is n times ``LOGS``, plus (-1 - symbol, n), that of the n-th choice n."""

    values: list[int]
    known: list[int]
    logs: dict[tuple[int, int], tuple[int, bool]] = field(default_factory=dict[tuple[int, int], tuple[int, bool]])

    def copy(self) -> State:
        return State(self.values[:], self.known[:], dict(self.logs))


@dataclass(eq=False, repr=False)
class Violation(Exception):
    """``kind`` says what is wrong (the keys of verdict.MESSAGES); the rest is where."""

    kind: str
    agent: int = -1
    step: Instruction | None = None
    slot: int = -1
    barrier: int = -1
    records: int = 0
    place: int = -1
    number: int = 0
    taker: Endpoint | None = None


class StepLimit(Exception):
    """A role goes on and on without waiting for anything."""

    def __init__(self, agent: int) -> None:
        super().__init__(agent)
        self.agent = agent


@dataclass(eq=False, repr=False)
class Event:
    """A step that was made; ``after`` are the events that let it go on."""

    agent: int
    step: Instruction
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
        count = 0
        while True:
            step = code[values[at]]
            if not _HANDLERS[step.op](self, number, agent, step):
                self.steps += count
                return
            count += 1
            if count > MAX_RUN:
                raise StepLimit(number)

    # -- knowledge

    def _make(self, number: int, record: int, kept: bool) -> None:
        """A new record: nobody but its maker, if one, knows of it."""
        rest = ~record
        known = self.known
        known[:] = [holder & rest for holder in known]
        if kept:
            known[number] |= record

    def _touch(self, number: int, step: Instruction, accesses: Iterable[Access], slot: int) -> None:
        for access in accesses:
            missing = access.need & ~self.known[number]
            if missing:
                raise Violation("race", number, step, slot, records=missing, place=access.place)
            self._make(number, access.record, access.kept)

    def _event(self, number: int, step: Instruction, slot: int, waited: int) -> None:
        if self.trace is not None:
            after = tuple(self.makers.get(2 * waited + 1, ())) if waited >= 0 else ()
            self.trace.append(Event(number, step, slot, after))

    # -- mbarriers

    def _arrive(self, number: int, agent: Agent, step: Instruction, signal: Signal, slot: int, size: int) -> None:
        """``size``: bytes that are announced, or, negative, that arrive."""
        barrier = self.barriers[signal.barrier]
        values, at = self.values, barrier.phase
        if not barrier.expected:
            raise Violation("uninitialised", number, step, slot, signal.barrier)
        if signal.units and values[at + 3] >> number & 1:
            raise Violation("twice", number, step, slot, signal.barrier)
        if barrier.record and not self.known[number] & barrier.record:
            raise Violation("overrun", number, step, slot, signal.barrier)
        if signal.units:
            values[at + 3] |= 1 << number
            values[at + 1] += signal.units
            if values[at + 1] > barrier.expected:
                raise Violation("many", number, step, slot, signal.barrier, number=values[at + 1])
        values[at + 2] += size
        holder = self.pending + 2 * signal.barrier
        self.known[holder] |= self.known[number] | agent.own
        if self.trace is not None:
            self.makers.setdefault(2 * signal.barrier, []).append(len(self.trace) - 1)
        if values[at + 1] == barrier.expected and not values[at + 2]:
            self._complete(number, step, slot, signal.barrier, holder)

    def _complete(self, number: int, step: Instruction, slot: int, index: int, holder: int) -> None:
        barrier = self.barriers[index]
        values, known, at = self.values, self.known, barrier.phase
        for end in barrier.takers:
            own = end.watch.index(index)
            visits = (values[end.cursor] - own + end.stages - 1) // end.stages
            if visits < values[at] - end.offset or end.takes[own] & ~known[holder]:
                raise Violation("lost", number, step, slot, index, taker=end)
        values[at] += 1
        values[at + 1] = values[at + 3] = 0
        if barrier.record:
            self._make(-1, barrier.record, False)
        known[holder + 1] = known[holder] | barrier.record
        known[holder] = 0
        if self.trace is not None:
            self.makers[2 * index + 1] = self.makers.pop(2 * index, [])
        self.queue.extend(barrier.waiters)

    def _passed(self, number: int, step: Instruction, end: Endpoint) -> bool:
        """Whether the phase that the end's next slot waits for is complete."""
        visit, slot = divmod(self.values[end.cursor], end.stages)
        index = end.watch[slot]
        completed = self.values[self.barriers[index].phase] - visit - end.offset
        if completed == 0:
            return False
        if completed != 1:
            raise Violation("phase", number, step, slot, index, number=completed)
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

    # -- steps; each returns whether the agent goes on

    def _take(self, number: int, agent: Agent, step: Instruction) -> bool:
        end = step.end
        assert end is not None
        if not self._passed(number, step, end):
            return False
        values = self.values
        slot = values[end.cursor] % end.stages
        if end.staging:
            if values[end.cursor] > values[end.done]:
                raise Violation("staging", number, step, slot, place=end.staging[0].place)
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
                if step.target < 0:
                    raise Violation("ended", number, step, slot)
                for signal in step.signals[slot] if step.signals else ():  # the mark's slot is given back at once
                    self._arrive(number, agent, step, signal, slot, 0)
                self._pass_mark(end)
                for counter in step.clears:
                    values[counter] = 0
                values[agent.pc] = step.target
                return True
        if step.expect:
            signal = step.expect[slot]
            self._arrive(number, agent, step, signal, slot, signal.bytes)
        values[agent.pc] += 1
        return True

    def _give(self, number: int, agent: Agent, step: Instruction) -> bool:
        end = step.end
        assert end is not None
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
            raise Violation("nothing", number, step)
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
            if end.accesses:
                self._touch(number, step, end.accesses[slot], slot)
            values[end.done] += 1
            for signal in step.signals[slot]:
                self._arrive(number, agent, step, signal, slot, -signal.bytes)
        values[agent.pc] += 1
        return True

    def _end(self, number: int, agent: Agent, step: Instruction) -> bool:
        end = step.end
        assert end is not None
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
        for signal in step.signals[slot]:
            self._arrive(number, agent, step, signal, slot, 0)
        values[agent.pc] += 1
        return True

    def _meet(self, number: int, agent: Agent, step: Instruction) -> bool:
        values, known = self.values, self.known
        if values[agent.pc + 1]:
            return False
        index = step.named
        named, at, holder = self.system.named[index], self.system.named[index].state, self.generations + index
        self._event(number, step, -1, -1)
        if step.partial:
            raise Violation("partial", number, step)
        if step.threads != named.threads:
            raise Violation("participants", number, step, number=step.threads)
        if values[at + 1] >> number & 1:
            raise Violation("met-twice", number, step)
        if not known[number] & named.record:
            raise Violation("generations", number, step)
        values[at] += agent.threads
        values[at + 1] |= 1 << number
        known[holder] |= known[number] | agent.own
        if values[at] > named.threads:
            raise Violation("crowd", number, step, number=values[at])
        inside = step.op is Op.SYNC
        if values[at] < named.threads:
            values[agent.pc + 1] = int(inside)
            if not inside:
                values[agent.pc] += 1
            return not inside
        self._make(-1, named.record, False)
        for other, user in enumerate(self.agents):
            waits = values[user.pc + 1] and user.code[values[user.pc]].named == index
            if other == number or waits:
                if other != number or inside:
                    known[other] |= known[holder] | named.record
                values[user.pc + 1] = 0
                values[user.pc] += 1
                if other != number:
                    self.queue.append(other)
        known[holder] = values[at] = values[at + 1] = 0
        return True

    def _touched(self, number: int, agent: Agent, step: Instruction) -> bool:
        self._event(number, step, -1, -1)
        self._touch(number, step, step.accesses, -1)
        values = self.values
        for access in step.accesses:
            place = self.system.places[access.place]
            if access.write:
                values[place.written] = 1
                for other in place.spoils:
                    values[other] = 0
            elif not values[place.written]:
                raise Violation("unwritten", number, step, place=access.place)
        values[agent.pc] += 1
        return True

    def _hold(self, number: int, agent: Agent, step: Instruction) -> bool:
        end, values = step.end, self.values
        assert end is not None
        self._event(number, step, -1, -1)
        held = range(values[end.done], values[end.cursor])
        if not held:
            raise Violation("unheld", number, step)
        for position in held if end.accesses else ():
            slot = position % end.stages
            self._touch(number, step, end.accesses[slot], slot)
        values[agent.pc] += 1
        return True

    # -- rings that one role fills and reads

    def _local_acquire(self, number: int, agent: Agent, step: Instruction) -> bool:
        end, other, values = step.end, step.partner, self.values
        assert end is not None
        assert other is not None
        slot = values[end.cursor] % end.stages
        self._event(number, step, slot, -1)
        if values[other.done] < values[end.cursor] - end.stages + 1:
            raise Violation("ahead", number, step, slot)
        self._touch(number, step, end.accesses[slot], slot)
        values[end.cursor] += 1
        values[end.marks[slot]] = 0
        values[agent.pc] += 1
        return True

    def _local_commit(self, number: int, agent: Agent, step: Instruction) -> bool:
        """Makes a group of copies, be it empty.  A slot's mark counts the groups from its own on."""
        end, values = step.end, self.values
        assert end is not None
        self._event(number, step, values[end.done] % end.stages, -1)
        for mark in end.marks:
            values[mark] += 0 < values[mark] < end.stages
        while values[end.cursor] - values[end.done] > step.keep:
            slot = values[end.done] % end.stages
            self._touch(number, step, end.accesses[slot], slot)
            values[end.marks[slot]] = 1
            values[end.done] += 1
        values[agent.pc] += 1
        return True

    def _local_wait(self, number: int, agent: Agent, step: Instruction) -> bool:
        """All but the last ``stages - 2`` groups are there, and everybody has met."""
        end, other, values = step.end, step.partner, self.values
        assert end is not None
        assert other is not None
        slot = values[end.cursor] % end.stages
        self._event(number, step, slot, -1)
        groups = values[other.marks[slot]] if values[other.done] > values[end.cursor] else 0
        if groups <= max(end.stages - 2, 0):
            raise Violation("early", number, step, slot, number=groups)
        self._touch(number, step, end.accesses[slot], slot)
        values[end.cursor] += 1
        values[agent.pc] += 1
        return True

    def _local_release(self, number: int, agent: Agent, step: Instruction) -> bool:
        end, values = step.end, self.values
        assert end is not None
        while values[end.cursor] - values[end.done] > step.keep:
            slot = values[end.done] % end.stages
            self._event(number, step, slot, -1)
            self._touch(number, step, end.accesses[slot], slot)
            values[end.done] += 1
        values[agent.pc] += 1
        return True

    # -- loops

    def _start(self, number: int, agent: Agent, step: Instruction) -> bool:
        values, counter = self.values, self.instances[number][step.symbol]
        log = values[counter] * LOGS + self.state.logs.get((-1 - step.symbol, values[counter]), (0, True))[0]
        values[counter] += 1
        values[step.counter] = log + 1  # 0 is outside of the loop
        values[step.counter + 1] = 0
        values[agent.pc] += 1
        return True

    def _skip(self, number: int, agent: Agent, step: Instruction) -> bool:
        self.values[self.instances[number][step.symbol]] += 1
        self.values[agent.pc] += 1
        return True

    def _loop(self, number: int, agent: Agent, step: Instruction) -> bool:
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
        values[step.counter] = values[step.counter + 1] = 0
        values[agent.pc] = step.target
        return True

    def _set(self, number: int, agent: Agent, step: Instruction) -> bool:
        self.values[step.counter] = step.keep
        self.values[agent.pc] += 1
        return True

    def _count(self, number: int, agent: Agent, step: Instruction) -> bool:
        if self.values[step.counter]:
            self.values[step.counter] -= 1
            self.values[agent.pc] += 1
        else:
            self.values[agent.pc] = step.target
        return True

    def _choose(self, number: int, agent: Agent, step: Instruction) -> bool:
        values, counter = self.values, self.instances[number][step.symbol]
        way, decided = self.state.logs.get((step.symbol, values[counter]), (0, False))
        if not decided:
            return False
        values[counter] += 1
        values[agent.pc] = step.ways[min(way, len(step.ways) - 1)]
        return True

    def _jump(self, number: int, agent: Agent, step: Instruction) -> bool:
        self.values[agent.pc] = step.target
        return True

    def _elastic(self, number: int, agent: Agent, step: Instruction) -> bool:
        if step.keep:
            return False
        self.values[agent.pc] += 1
        return True

    def _stop(self, number: int, agent: Agent, step: Instruction) -> bool:
        return False


_HANDLERS = {
    Op.TAKE: Machine._take,  # pyright: ignore[reportPrivateUsage]
    Op.GIVE: Machine._give,  # pyright: ignore[reportPrivateUsage]
    Op.END: Machine._end,  # pyright: ignore[reportPrivateUsage]
    Op.SYNC: Machine._meet,  # pyright: ignore[reportPrivateUsage]
    Op.ARRIVE: Machine._meet,  # pyright: ignore[reportPrivateUsage]
    Op.TOUCH: Machine._touched,  # pyright: ignore[reportPrivateUsage]
    Op.HOLD: Machine._hold,  # pyright: ignore[reportPrivateUsage]
    Op.LOCAL_ACQUIRE: Machine._local_acquire,  # pyright: ignore[reportPrivateUsage]
    Op.LOCAL_COMMIT: Machine._local_commit,  # pyright: ignore[reportPrivateUsage]
    Op.LOCAL_WAIT: Machine._local_wait,  # pyright: ignore[reportPrivateUsage]
    Op.LOCAL_RELEASE: Machine._local_release,  # pyright: ignore[reportPrivateUsage]
    Op.START: Machine._start,  # pyright: ignore[reportPrivateUsage]
    Op.SKIP: Machine._skip,  # pyright: ignore[reportPrivateUsage]
    Op.LOOP: Machine._loop,  # pyright: ignore[reportPrivateUsage]
    Op.SET: Machine._set,  # pyright: ignore[reportPrivateUsage]
    Op.COUNT: Machine._count,  # pyright: ignore[reportPrivateUsage]
    Op.CHOOSE: Machine._choose,  # pyright: ignore[reportPrivateUsage]
    Op.JUMP: Machine._jump,  # pyright: ignore[reportPrivateUsage]
    Op.ELASTIC: Machine._elastic,  # pyright: ignore[reportPrivateUsage]
    Op.STOP: Machine._stop,  # pyright: ignore[reportPrivateUsage]
}
