"""Says what a violation is, as a diagnostic with its counterexample."""

from __future__ import annotations

from dataclasses import dataclass

from pipelink.analysis.protocol import violations
from pipelink.analysis.protocol.explore import Found
from pipelink.analysis.protocol.program import (
    Agent,
    CountDown,
    End,
    Endpoint,
    Iterate,
    Meet,
    Operation,
    SlotOperation,
    Stop,
    System,
    Take,
    Touch,
)
from pipelink.analysis.protocol.run import Event
from pipelink.analysis.protocol.state import LOGS
from pipelink.support.diagnostics import UNKNOWN, Diagnostics, Location, Note
from pipelink.support.trace import Step, Trace

#: Of arrivals that may fall into a round that is not theirs.
_TURNS = "every warpgroup passes each turn once, after it took it, and all take equally many"
_ROUNDS = "before arriving again, wait for something that the others do behind their sync, or use two barriers in turn"


@dataclass(eq=False, repr=False)
class _Said:
    """The parts of a diagnostic."""

    id: str
    message: str
    hint: str | None = None
    conflict: tuple[int, ...] = ()
    cycle: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


def report(system: System, found: Found, diagnostics: Diagnostics) -> None:
    """Add the diagnostic of a violation."""
    _Verdict(system, found).report(diagnostics)


class _Verdict:
    def __init__(self, system: System, found: Found) -> None:
        self.system, self.found = system, found
        self.agents, self.values = system.agents, found.values
        self.violation: violations.Violation = found.violation
        self.where: Location = UNKNOWN

    def report(self, diagnostics: Diagnostics) -> None:
        said = self.say()
        step = self.violation.step
        where = self.where if self.where is not UNKNOWN else step.location if step is not None else UNKNOWN
        if where is UNKNOWN and self.violation.agent >= 0:
            where = self.agents[self.violation.agent].location
        diagnostics.error(
            said.id, said.message, where, notes=said.notes, hint=said.hint, trace=self.trace(said)
        )  # fmt: skip

    # -- names

    def lane(self, number: int) -> str:
        return f"'{self.agents[number].lane}'"

    def lanes(self, numbers: list[int]) -> str:
        names = list(dict.fromkeys(self.lane(number) for number in numbers))
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    def at(self, number: int) -> Operation:
        agent = self.agents[number]
        return agent.code[self.values[agent.pc]]

    def finished(self, number: int) -> bool:
        return isinstance(self.at(number), Stop)

    def idle(self, number: int) -> bool:
        agent = self.agents[number]
        held = any(self.held(end) > 0 for end in agent.endpoints if not end.token)
        return self.values[agent.pc] in agent.enough and not held

    def end(self, number: int) -> Endpoint | None:
        """Where an agent waits for a slot."""
        step = self.at(number)
        return step.end if isinstance(step, Take | End) else None

    def held(self, end: Endpoint) -> int:
        return self.values[end.cursor] - self.values[end.done]

    # -- roles that wait for ever

    def blocked(self) -> _Said:
        stuck = self.found.blocked
        short = next((number for number in stuck if self.short(number)), None)
        if short is not None:
            self.where = self.at(short).location
            return self.starved(short)
        waits = {number: self.missing(number) for number in stuck}
        cycle = _cycle(waits)
        first = cycle[0] if cycle else next((n for n in stuck if self.final(n, waits)), stuck[0])
        self.where = self.at(first).location
        if cycle:
            others = [f"{self.lane(n)} waits {self.what(n)}" for n in cycle]
            text = ", ".join(others[:-1]) + " and " + others[-1] if len(others) > 1 else f"{others[0]}, from itself"
            return _Said(
                "deadlock", f"roles wait for each other for ever: {text}" if len(others) > 1 else
                f"{self.lane(first)} waits for ever {self.what(first)}, which it must give itself",
                self.deadlock_hint(cycle), cycle=tuple(self.agents[n].lane for n in cycle),
            )  # fmt: skip
        return self.starved(first)

    def final(self, number: int, waits: dict[int, list[int]]) -> bool:
        """Whether it waits for nobody who waits."""
        return not any(other in waits for other in waits[number])

    def missing(self, number: int) -> list[int]:
        step, values = self.at(number), self.values
        if isinstance(step, Meet):
            named = self.system.named[step.named]
            return [user for user in named.users if not values[named.state + 1] >> user & 1]
        barrier = self.system.barriers[self.barrier(number)]
        missing = [a for a in barrier.arrivers if not values[barrier.phase + 3] >> a & 1]
        return missing or barrier.arrivers or self.others(number)

    def others(self, number: int) -> list[int]:
        """The agents at the other end of the ring that an agent waits at."""
        mine = self.end(number)
        assert mine is not None
        return [
            other
            for other, agent in enumerate(self.agents)
            if other != number
            and any(_meets(end, mine) and end.producer is not mine.producer for end in agent.endpoints)
        ]

    def barrier(self, number: int) -> int:
        end = self.end(number)
        assert end is not None
        return end.watch[self.values[end.cursor] % end.stages]

    def what(self, number: int) -> str:
        """What an agent waits for, as a clause."""
        step = self.at(number)
        if isinstance(step, Meet):
            named = self.system.named[step.named]
            names = ", ".join(named.names)
            there = f"{self.values[named.state]} of {named.threads} threads"
            return f"at {named.title} ({names}), where {there} are"
        end = self.end(number)
        assert end is not None
        if end.own:
            phase = f"[{self.values[end.cursor] % end.stages}]" if end.stages > 1 else ""
            return f"for a phase of mbarrier '{end.port.reference}'{phase}"
        if end.token:
            return f"for token '{end.port.reference}'"
        slot = f"'{end.port.reference}'[{self.values[end.cursor] % end.stages}]"
        return f"for slot {slot} to be {'given back' if end.producer else 'filled'}"

    def starved(self, number: int) -> _Said:
        """It waits for somebody who has finished, or for more arrivals than there are."""
        waited, step = self.missing(number), self.at(number)
        if not isinstance(step, Meet):
            barrier = self.system.barriers[self.barrier(number)]
            arrived = self.values[barrier.phase + 1]
            if arrived and arrived < barrier.expected and self.complete(barrier.phase, barrier.arrivers):
                total = f"{arrived} of {barrier.expected} arrivals"
                return _Said(
                    "arrival-count",
                    f"{self.lane(number)} waits for ever {self.what(number)}: {barrier.name} gets {total}",
                    f"it is initialised for {barrier.expected}, and {self.lanes(barrier.arrivers)} "
                    f"make{'s' if len(barrier.arrivers) == 1 else ''} {arrived} a phase",
                )
            if not arrived and self.values[barrier.phase + 2] < 0:
                return _Said("arrival-count", f"{barrier.name} gets bytes that nobody announced")
            if arrived == barrier.expected and self.values[barrier.phase + 2]:
                return _Said(
                    "arrival-count",
                    f"{self.lane(number)} waits for ever {self.what(number)}: {barrier.name} expects "
                    f"{self.values[barrier.phase + 2]} bytes more than are copied",
                    "acquiring a slot that TMA fills announces its bytes: copy on every way, or acquire on none",
                )
        elif waited == []:
            named = self.system.named[step.named]
            return _Said(
                "barrier-participation",
                f"{self.lane(number)} waits for ever {self.what(number)}, and no others come",
                _TURNS if named.turns else f"its users have {self.values[named.state]} threads together",
            )
        if not waited:
            return _Said(
                "rate-mismatch", f"{self.lane(number)} waits for ever {self.what(number)}: nobody does that",
                "the other end's protocol never does it",
            )  # fmt: skip
        done = [other for other in waited if self.finished(other) or self.idle(other)]
        doing = "has finished" if len(done or waited) == 1 else "have finished"
        if done and not all(self.finished(other) for other in done):
            doing = "takes no more" if len(done) == 1 else "take no more"
        return _Said(
            "barrier-participation" if isinstance(step, Meet) else "rate-mismatch",
            f"{self.lane(number)} waits for ever {self.what(number)}: {self.lanes(done or waited)} {doing}",
            self.rate_hint(number, done or waited),
        )

    def short(self, number: int) -> bool:
        """Whether all who arrive at what an agent waits for have done so, and are too few."""
        if isinstance(self.at(number), Meet):
            return False
        barrier = self.system.barriers[self.barrier(number)]
        arrived = self.values[barrier.phase + 1]
        return 0 < arrived < barrier.expected and self.complete(barrier.phase, barrier.arrivers)

    def complete(self, phase: int, arrivers: list[int]) -> bool:
        return all(self.values[phase + 3] >> arriver & 1 for arriver in arrivers)

    def rate_hint(self, number: int, done: list[int]) -> str | None:
        step = self.at(number)
        if isinstance(step, Meet) and self.system.named[step.named].cluster:
            return "all CTAs have to come equally often: by calls and named choices only as cluster_lockstep promises"
        if isinstance(step, Meet):
            often = "all who take part in a barrier have to come equally often"
            return _TURNS if self.system.named[step.named].turns else often
        mine = self.end(number)
        if mine is None:
            return None
        for other in done:
            for end in self.agents[other].endpoints:
                if not end.token and end.producer is not mine.producer and _meets(end, mine) and self.held(end):
                    slots = "a slot" if self.held(end) == 1 else f"{self.held(end)} slots"
                    verb = "commits" if end.producer else "releases"
                    return f"{self.lane(other)} holds {slots} of '{end.port.reference}' that it never {verb}"
        if mine.own:
            return "it has to be waited for as often as a phase of it is complete"
        return "both ends of a connection have to go through it equally often"

    def deadlock_hint(self, cycle: list[int]) -> str | None:
        for number in cycle:
            end = self.end(number)
            if end is None or end.token:
                continue
            if end.producer and self.held(end) >= end.stages:
                return (
                    f"{self.lane(number)} acquires {self.held(end) + 1} slots of '{end.port.reference}' before it "
                    f"gives one on, and the ring has {end.stages}"
                )
            for other in cycle:
                for its in self.agents[other].endpoints:
                    if end.producer and not its.producer and _meets(its, end) and self.held(its) >= end.stages:
                        return (
                            f"{self.lane(other)} holds all {end.stages} slots of '{its.port.reference}' and waits for "
                            "another: a release is missing, or comes too late for so few slots"
                        )
        tokens = [end for number in cycle if (end := self.end(number)) is not None and end.token]
        if tokens and all(end.own for end in tokens):
            return "nobody arrives first: a wait for the phase before the first, which is over at once, is no step"
        if tokens and not any(self.values[end.cursor] for end in tokens):
            return "nobody can begin: one of these tokens needs a first credit"
        return None

    # -- other violations

    def say(self) -> _Said:
        match self.violation:
            case violations.Blocked():
                return self.blocked()
            case violations.Race() as race:
                return self.race(race)
            case violations.Untaken(agent=number, barrier=index, slot=slot):
                return self.untaken(number, index, slot)
            case violations.AtBarrier() as at:
                return self.miscounted(at)
            case (
                violations.PartOfWarp()
                | violations.OtherCount()
                | violations.MetTwice()
                | violations.RoundOverrun()
                | violations.Crowd() as at
            ):
                return self.unmet(at)
            case found:
                return self.misused(found)

    @property
    def me(self) -> str:
        return self.lane(self.violation.agent)

    @property
    def doing(self) -> str:
        step = self.violation.step
        assert step is not None
        return _text(step, self.violation.slot)

    def race(self, found: violations.Race) -> _Said:
        record = found.records & -found.records
        kind, other, place = self.system.record_names[record]
        mine, theirs = self.system.places[found.place], self.system.places[place]
        doing = "read" if kind == "read" else "write"
        events = self.found.events
        last = next((i for i in range(len(events) - 2, -1, -1) if _leaves(events[i], record)), None)
        conflict = (len(events) - 1,) if last is None else (last, len(events) - 1)
        steps = [found.step, *(events[i].step for i in conflict[:-1])]
        if any(isinstance(step, Touch) and step.peers for step in steps) and last is not None:
            who = "other warps of the role" if other == found.agent else self.lane(other)
            did = f"{_text(events[last].step, events[last].slot)} of {who}"
            message = f"{self.me}: {self.doing}, and {did} may not be over: they do not meet between"
            return _Said("missing-meeting", message, "let both meet at a PL_CLUSTER_BARRIER between the two", conflict)
        if found.place != place:
            message = (
                f"{self.me} touches '{mine.owner}' ({mine.name}) while {self.lane(other)} may still {doing} "
                f"'{theirs.owner}' ({theirs.name}), which shares its memory"
            )
        elif other == found.agent:
            message = f"{self.me}: {self.doing}, while other warps of the role may still {doing} {mine.name}"
        else:
            message = f"{self.me}: {self.doing}, while {self.lane(other)} may still {doing} {mine.name}"
        return _Said(
            "slot-race", message, self.race_hint(found, other, place), conflict,
            notes=(Note(f"{self.lane(other)} is declared here", self.agents[other].location),),
        )  # fmt: skip

    def race_hint(self, found: violations.Race, other: int, place: int) -> str | None:
        end = found.step.end if isinstance(found.step, SlotOperation) else None
        if end is None or end.token or found.place != place or found.slot < 0 or not end.watch:
            return "nothing that the second waits for comes after the first"
        barrier = self.system.barriers[end.watch[found.slot]]
        shares = sum(self.units(agent, end.watch[found.slot]) for agent in barrier.arrivers)
        if barrier.expected < shares:
            return f"{barrier.name} is complete with {barrier.expected} of {shares} arrivals"
        if other not in barrier.arrivers:
            return f"{self.lane(other)} does not arrive at {barrier.name}, which {self.me} waits for"
        return None

    def units(self, number: int, barrier: int) -> int:
        """Arrivals of an agent in a phase."""
        return max((made.units for made in self.agents[number].arrivals() if made.barrier == barrier), default=0)

    def miscounted(self, found: violations.AtBarrier) -> _Said:
        """At an mbarrier."""
        barrier = self.system.barriers[found.barrier]
        expected, name = barrier.expected, barrier.name
        shares = sum(self.units(agent, found.barrier) for agent in barrier.arrivers)
        arrives = f"{self.me}: {self.doing} arrives at {name}"
        hint = f"it is initialised for {expected}, and its arrivers make {shares}" if expected != shares else None
        match found:
            case violations.TooMany(arrivals=arrivals):
                said = f"{arrives}, which gets {arrivals} arrivals in a phase of {expected}"
                alone = arrivals == self.system.agents[found.agent].threads > expected == 1
                hint = "one thread does it: say so, by pl::one_thread of the role, or by 1 thread of the step"
                return _Said("arrival-count", said, hint if alone else None)
            case violations.ArrivedTwice():
                return _Said("arrival-count", f"{arrives} twice before a phase is complete", hint)
            case violations.Overrun():
                hint = hint or "let it wait for somebody who has seen the phase complete"
                return _Said("arrival-count", f"{arrives}, where the phase before may not be complete yet", hint)
            case violations.Uninitialised():
                return _Said("arrival-count", f"{arrives}, which nobody initialises")
            case violations.PhaseMissed(completed=completed):
                waits = f"{self.me}: {self.doing} waits at {name}, which is {completed - 1} phases ahead"
                return _Said("arrival-count", waits)
            case violations.PhaseLost(taker=end):
                return self.lost(end, name)
            case _:
                raise AssertionError(found)

    def lost(self, end: Endpoint | None, name: str) -> _Said:
        taker = self.lane(end.agent) if end is not None else "its taker"
        reference = end.port.reference if end is not None else name
        hint = "pass again only after it was taken"
        if end is not None and end.own:
            hint = "arrive again only after it was waited for"
        if end is not None and end.offset < 0 and not self.values[end.cursor]:
            hint = f"the first take of '{end.port.reference}' needs no pass (its initial credit is {-end.offset})"
        message = f"{self.me}: {self.doing} completes another phase of '{reference}', which {taker} may not have taken "
        return _Said("arrival-count", f"{message}yet", hint)

    def unmet(self, found: violations.Violation) -> _Said:
        """At a named barrier."""
        assert isinstance(found.step, Meet)
        named, does = self.system.named[found.step.named], f"{self.me}: {self.doing}"
        hint: str | None = None
        rounds = _TURNS if named.turns else _ROUNDS
        match found:
            case violations.PartOfWarp():
                message = f"{does} is reached by part of a warp, and the barrier is aligned"
            case violations.OtherCount(threads=threads):
                message = f"{does} counts {threads} threads at {named.title}, others count {named.threads}"
            case violations.MetTwice():
                message, hint = f"{does} arrives twice in one round of the barrier", rounds
            case violations.RoundOverrun():
                message, hint = f"{does} arrives at {named.title} and the round before may not be over", rounds
            case violations.Crowd(threads=threads):
                message = f"{does} brings {threads} threads to {named.title}, which counts {named.threads}"
                hint = f"its users are {', '.join(named.names)}"
            case _:
                raise AssertionError(found)
        return _Said("barrier-participation", message, hint)

    def misused(self, found: violations.Violation) -> _Said:
        """A slot or a buffer."""
        does = f"{self.me}: {self.doing}"
        end = found.step.end if isinstance(found.step, SlotOperation) else None
        fills, stages = end is not None and end.producer, end.stages if end is not None else 0
        match found:
            case violations.StagingBusy():
                hint = "the ring converts: commit a slot before acquiring the next"
                return _Said("slot-race", f"{does}, while the staging tile still holds the slot before it", hint)
            case violations.EndAsData():
                hint = "wait for an ending stream inside 'until'"
                return _Said("rate-mismatch", f"{does} finds the end mark, and takes it for data", hint)
            case violations.NothingTouched():
                hint = "between its acquire and its commit" if fills else "between its wait and its release"
                return _Said("slot-race", f"{does} without holding a slot", f"a slot is one's own {hint}")
            case violations.NothingHeld():
                hint = f"{'acquire' if fills else 'wait for'} a slot first; say that the loop before is never empty "
                hint += "(n+), or 'keep 0' if the code gives nothing where nothing is held"
                return _Said("arrival-count", f"{does} without holding a slot: an arrival too many", hint)
            case violations.SlotsKept(count=count):
                label = end.port.label if end is not None else ""
                message = f"{self.me} ends its turn and holds {count} slot{'s' if count > 1 else ''} of '{label}', "
                message += "which who reads on there does not know of"
                return _Said("rate-mismatch", message, f"let its protocol, and its code, end with {label}.release")
            case violations.Unwritten(place=number):
                place = self.system.places[number]
                hint = f"'{place.owner}' is not written before, or since something else was written there"
                hint = hint if place.spoils else f"no step before writes '{place.owner}'"
                return _Said("slot-race", f"{does}, which holds nothing that was written", hint)
            case violations.Overwritten():
                return _Said("slot-race", f"{does} overwrites a slot that was not released")
            case violations.ReadEarly(groups=groups):
                flying = max(stages - 2, 0)
                message = f"{does} reads a slot whose copies may still be under way: {groups} groups are committed "
                message += f"from it on, {flying + 1} are needed"
                hint = f"a wait leaves {flying} groups in flight: commit {stages - 1} slots ahead"
                return _Said("slot-race", message, hint)
            case _:
                raise AssertionError(found)

    def untaken(self, number: int, index: int, slot: int) -> _Said:
        barrier = self.system.barriers[index]
        end = next(end for end in self.agents[number].endpoints if index in end.watch)
        self.where = self.last_loop(number, end)
        what = "a phase of" if end.own else "a token of" if end.token else f"slot {slot} of"
        if end.own:
            return _Said(
                "rate-mismatch",
                f"{self.me} has finished, and {what} mbarrier '{end.port.reference}' is left that "
                f"{self.lanes(barrier.arrivers)} completed",
                "it has to be waited for as often as a phase of it is complete",
            )  # fmt: skip
        return _Said(
            "rate-mismatch",
            f"{self.me} has finished, and {what} '{end.port.reference}' is left that "
            f"{self.lanes(barrier.arrivers)} gave",
            "both ends of a connection have to go through it equally often",
        )  # fmt: skip

    def last_loop(self, number: int, end: Endpoint) -> Location:
        """Where an agent would have to take once more: the loop around its last take, or that itself."""
        code = self.agents[number].code
        takes = [at for at, step in enumerate(code) if isinstance(step, Take) and step.end is end]
        if not takes:
            return end.location
        loops = [
            step.location
            for step in code[: takes[-1]]
            if isinstance(step, Iterate | CountDown) and step.leave > takes[-1] and step.location is not UNKNOWN
        ]
        where = loops[-1] if loops else code[takes[-1]].location
        return end.location if where is UNKNOWN else where

    # -- the counterexample

    def trace(self, said: _Said) -> Trace:
        steps: list[Step] = []
        for event in self.found.events:
            agent = self.agents[event.agent]
            steps.append(
                Step(agent.lane, _text(event.step, event.slot), self.detail(event.step), event.after,
                     location=event.step.location)
            )  # fmt: skip
        if isinstance(self.violation, violations.Blocked):
            for number in self.found.blocked:
                step, end = self.at(number), self.end(number)
                slot = self.values[end.cursor] % end.stages if end is not None and not end.token else -1
                stuck = _stuck(self.agents[number], step, slot, self.what(number))
                if isinstance(step, Meet):  # its arrival is among the steps already
                    steps[max(i for i, e in enumerate(self.found.events) if e.agent == number)] = stuck
                else:
                    steps.append(stuck)
        used = {step.lane for step in steps}
        lanes = tuple(dict.fromkeys(agent.lane for agent in self.agents if agent.lane in used))
        return Trace(said.message, lanes, tuple(steps), said.conflict or self.last(steps), said.cycle, self.counts())

    def detail(self, step: Operation) -> str:
        return self.system.named[step.named].title if isinstance(step, Meet) else ""

    def last(self, steps: list[Step]) -> tuple[int, ...]:
        return (
            (len(steps) - 1,)
            if steps and not isinstance(self.violation, violations.Blocked | violations.Untaken)
            else ()
        )

    def counts(self) -> tuple[tuple[str, str], ...]:
        found: dict[str, list[str]] = {}
        for symbol, count in sorted(self.found.fixed.items()):
            if self.system.symbols[symbol].value >= 0:
                continue
            found[self.system.symbols[symbol].name] = [str(count)]
        for (symbol, log), (count, _) in sorted(self.found.logs.items()):
            if (
                symbol >= 0
                and self.system.symbols[symbol].value < 0
                and (self.system.symbols[symbol].ways or not log % LOGS)
            ):
                named = self.system.symbols[symbol]
                found.setdefault(named.name, []).append(f"way {count + 1}" if named.ways else str(count))
        return tuple((name, ", ".join(values)) for name, values in found.items())


def _stuck(agent: Agent, step: Operation, slot: int, what: str) -> Step:
    return Step(agent.lane, _text(step, slot), what, blocked=True, location=step.location)


def _text(step: Operation, slot: int) -> str:
    return f"{step.text}[{slot}]" if slot >= 0 else step.text


def _leaves(event: Event, record: int) -> bool:
    """Whether the record of an access was made by this step."""
    match event.step:
        case Touch(accesses=accesses):
            return any(access.record == record for access in accesses)
        case SlotOperation(end=end) if end.accesses and event.slot >= 0:
            return any(access.record == record for access in (*end.accesses[event.slot], *end.staging, *end.staged))
        case _:
            return False


def _meets(one: Endpoint, other: Endpoint) -> bool:
    """Whether two ends are of one ring."""
    return one.ring == other.ring


def _cycle(waits: dict[int, list[int]]) -> list[int]:
    """The shortest circle of who waits for whom; empty if there is none."""
    best: list[int] = []
    for start in waits:
        before: dict[int, int] = {start: -1}
        todo = [start]
        while todo:
            at, *todo = todo
            for other in waits[at]:
                if other == start:
                    path = [at]
                    while before[path[-1]] >= 0:
                        path.append(before[path[-1]])
                    path.reverse()
                    best = path if not best or len(path) < len(best) else best
                    todo = []
                    break
                if other in waits and other not in before:
                    before[other] = at
                    todo.append(other)
    return best
