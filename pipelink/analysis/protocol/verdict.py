"""Says what a violation is, as a diagnostic with its counterexample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipelink.analysis.protocol.explore import Found
from pipelink.analysis.protocol.run import LOGS, Event, Violation
from pipelink.model.system import Agent, Endpoint, Instruction, Op, System
from pipelink.support.diagnostics import UNKNOWN, Diagnostics, Location, Note
from pipelink.support.trace import Step, Trace

#: Of arrivals that may fall into a round that is not theirs.
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
        self.violation: Violation = found.violation
        self.where: Location = UNKNOWN

    def report(self, diagnostics: Diagnostics) -> None:
        said = self.blocked() if self.violation.kind == "blocked" else self.say()
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

    def at(self, number: int) -> Instruction:
        agent = self.agents[number]
        return agent.code[self.values[agent.pc]]

    def finished(self, number: int) -> bool:
        return self.at(number).op is Op.STOP

    def idle(self, number: int) -> bool:
        step = self.at(number)
        return step.idle and not any(
            self.values[end.cursor] > self.values[end.done] for end in self.agents[number].endpoints if not end.token
        )

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
        if step.op is Op.SYNC:
            named = self.system.named[step.named]
            return [user for user in named.users if not values[named.state + 1] >> user & 1]
        barrier = self.system.barriers[self.barrier(number)]
        missing = [a for a in barrier.arrivers if not values[barrier.phase + 3] >> a & 1]
        return missing or barrier.arrivers or self.others(number)

    def others(self, number: int) -> list[int]:
        """The agents at the other end of the ring that an agent waits at."""
        mine = self.at(number).end
        assert mine is not None
        return [
            other
            for other, agent in enumerate(self.agents)
            if other != number
            and any(_meets(end, mine) and end.producer is not mine.producer for end in agent.endpoints)
        ]

    def barrier(self, number: int) -> int:
        end = self.at(number).end
        assert end is not None
        return end.watch[self.values[end.cursor] % end.stages]

    def what(self, number: int) -> str:
        """What an agent waits for, as a clause."""
        step = self.at(number)
        if step.op is Op.SYNC:
            named = self.system.named[step.named]
            names = ", ".join(named.names)
            there = f"{self.values[named.state]} of {named.threads} threads"
            return f"at {named.title} ({names}), where {there} are"
        end = step.end
        assert end is not None
        if end.token:
            return f"for token '{end.port.reference}'"
        slot = f"'{end.port.reference}'[{self.values[end.cursor] % end.stages}]"
        return f"for slot {slot} to be {'given back' if end.producer else 'filled'}"

    def starved(self, number: int) -> _Said:
        """It waits for somebody who has finished, or for more arrivals than there are."""
        waited, step = self.missing(number), self.at(number)
        if step.op is not Op.SYNC:
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
                f"its users have {self.values[named.state]} threads together",
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
            "barrier-participation" if step.op is Op.SYNC else "rate-mismatch",
            f"{self.lane(number)} waits for ever {self.what(number)}: {self.lanes(done or waited)} {doing}",
            self.rate_hint(number, done or waited),
        )

    def short(self, number: int) -> bool:
        """Whether all who arrive at what an agent waits for have done so, and are too few."""
        if self.at(number).op is Op.SYNC:
            return False
        barrier = self.system.barriers[self.barrier(number)]
        arrived = self.values[barrier.phase + 1]
        return 0 < arrived < barrier.expected and self.complete(barrier.phase, barrier.arrivers)

    def complete(self, phase: int, arrivers: list[int]) -> bool:
        return all(self.values[phase + 3] >> arriver & 1 for arriver in arrivers)

    def rate_hint(self, number: int, done: list[int]) -> str | None:
        step = self.at(number)
        if step.op is Op.SYNC:
            return "all who take part in a barrier have to come equally often"
        if step.end is None:
            return None
        for other in done:
            for end in self.agents[other].endpoints:
                if end.producer is not step.end.producer and _meets(end, step.end) and self.held(end):
                    slots = "a slot" if self.held(end) == 1 else f"{self.held(end)} slots"
                    verb = "commits" if end.producer else "releases"
                    return f"{self.lane(other)} holds {slots} of '{end.port.reference}' that it never {verb}"
        return "both ends of a connection have to go through it equally often"

    def deadlock_hint(self, cycle: list[int]) -> str | None:
        for number in cycle:
            end = self.at(number).end
            if end is None or self.at(number).op is Op.SYNC:
                continue
            if end.token:
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
        tokens = [e for n in cycle if (e := self.at(n).end) is not None and e.token and self.at(n).op is not Op.SYNC]
        if tokens and not any(self.values[end.cursor] for end in tokens):
            return "nobody can begin: one of these tokens needs a first credit"
        return None

    # -- other violations

    def say(self) -> _Said:
        found = self.violation
        maker: Callable[[], _Said] | None = getattr(self, f"say_{found.kind.replace('-', '_')}", None)
        assert maker is not None, found.kind
        return maker()

    @property
    def me(self) -> str:
        return self.lane(self.violation.agent)

    @property
    def doing(self) -> str:
        step = self.violation.step
        assert step is not None
        return _text(step, self.violation.slot)

    def say_race(self) -> _Said:
        found = self.violation
        record = found.records & -found.records
        kind, other, place = self.system.record_names[record]
        mine, theirs = self.system.places[found.place], self.system.places[place]
        doing = "read" if kind == "read" else "write"
        events = self.found.events
        last = next((i for i in range(len(events) - 2, -1, -1) if _leaves(events[i], record)), None)
        conflict = (len(events) - 1,) if last is None else (last, len(events) - 1)
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

    def race_hint(self, found: Violation, other: int, place: int) -> str | None:
        end = found.step.end if found.step is not None else None
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
        return max(
            (s.units for step in self.agents[number].code for slot in (*step.signals, step.expect) for s in slot
             if s.barrier == barrier), default=0,
        )  # fmt: skip

    def name(self) -> str:
        return self.system.barriers[self.violation.barrier].name

    def count(self) -> tuple[int, int]:
        barrier = self.system.barriers[self.violation.barrier]
        return barrier.expected, sum(self.units(agent, self.violation.barrier) for agent in barrier.arrivers)

    def say_many(self) -> _Said:
        expected, _ = self.count()
        return _Said(
            "arrival-count",
            f"{self.me}: {self.doing} arrives at {self.name()}, which gets {self.violation.number} arrivals in a phase "
            f"of {expected}",
        )  # fmt: skip

    def say_twice(self) -> _Said:
        expected, shares = self.count()
        hint = f"it is initialised for {expected}, and its arrivers make {shares}" if expected != shares else None
        return _Said(
            "arrival-count", f"{self.me}: {self.doing} arrives at {self.name()} twice before a phase is complete", hint
        )  # fmt: skip

    def say_overrun(self) -> _Said:
        expected, shares = self.count()
        hint = f"it is initialised for {expected}, and its arrivers make {shares}" if expected != shares else None
        return _Said(
            "arrival-count",
            f"{self.me}: {self.doing} arrives at {self.name()}, where the phase before may not be complete yet",
            hint or "let it wait for somebody who has seen the phase complete",
        )  # fmt: skip

    def say_lost(self) -> _Said:
        end = self.violation.taker
        taker = self.lane(end.agent) if end is not None else "its taker"
        reference = end.port.reference if end is not None else self.name()
        hint = "pass again only after it was taken"
        if end is not None and end.offset < 0 and not self.values[end.cursor]:
            hint = f"the first take of '{end.port.reference}' needs no pass (its initial credit is {-end.offset})"
        return _Said(
            "arrival-count",
            f"{self.me}: {self.doing} completes another phase of '{reference}', which {taker} may not have taken yet",
            hint,
        )  # fmt: skip

    def say_phase(self) -> _Said:
        return _Said(
            "arrival-count",
            f"{self.me}: {self.doing} waits at {self.name()}, which is {self.violation.number - 1} phases ahead",
        )  # fmt: skip

    def say_uninitialised(self) -> _Said:
        return _Said("arrival-count", f"{self.me}: {self.doing} arrives at {self.name()}, which nobody initialises")

    def say_staging(self) -> _Said:
        return _Said(
            "slot-race", f"{self.me}: {self.doing}, while the staging tile still holds the slot before it",
            "the ring converts: commit a slot before acquiring the next",
        )  # fmt: skip

    def say_ended(self) -> _Said:
        return _Said(
            "rate-mismatch", f"{self.me}: {self.doing} finds the end mark, and takes it for data",
            "wait for an ending stream inside 'until'",
        )  # fmt: skip

    def say_unheld(self) -> _Said:
        step = self.violation.step
        fills = step is not None and step.end is not None and step.end.producer
        hint = "between its acquire and its commit" if fills else "between its wait and its release"
        return _Said("slot-race", f"{self.me}: {self.doing} without holding a slot", f"a slot is one's own {hint}")

    def say_nothing(self) -> _Said:
        step = self.violation.step
        fills = step is not None and step.end is not None and step.end.producer
        return _Said(
            "arrival-count",
            f"{self.me}: {self.doing} without holding a slot: an arrival too many",
            f"{'acquire' if fills else 'wait for'} a slot first; say that the loop before is never empty (n+), or "
            "'keep 0' if the code gives nothing where nothing is held",
        )

    def say_unwritten(self) -> _Said:
        place = self.system.places[self.violation.place]
        return _Said(
            "slot-race", f"{self.me}: {self.doing}, which holds nothing that was written",
            f"'{place.owner}' is not written before, or since something else was written there" if place.spoils else
            f"no step before writes '{place.owner}'",
        )  # fmt: skip

    def say_ahead(self) -> _Said:
        return _Said("slot-race", f"{self.me}: {self.doing} overwrites a slot that was not released")

    def say_early(self) -> _Said:
        end = self.violation.step.end if self.violation.step is not None else None
        stages = end.stages if end is not None else 0
        return _Said(
            "slot-race",
            f"{self.me}: {self.doing} reads a slot whose copies may still be under way: {self.violation.number} groups "
            f"are committed from it on, {max(stages - 2, 0) + 1} are needed",
            f"a wait leaves {max(stages - 2, 0)} groups in flight: commit {stages - 1} slots ahead",
        )  # fmt: skip

    def say_partial(self) -> _Said:
        return _Said(
            "barrier-participation",
            f"{self.me}: {self.doing} is reached by part of a warp, and the barrier is aligned",
        )

    def say_participants(self) -> _Said:
        named = self.named()
        return _Said(
            "barrier-participation",
            f"{self.me}: {self.doing} counts {self.violation.number} threads at {named.title}, others count "
            f"{named.threads}",
        )  # fmt: skip

    def say_met_twice(self) -> _Said:
        return _Said(
            "barrier-participation", f"{self.me}: {self.doing} arrives twice in one round of the barrier", _ROUNDS
        )

    def say_generations(self) -> _Said:
        return _Said(
            "barrier-participation",
            f"{self.me}: {self.doing} arrives at {self.named().title} and the round before may not be over",
            _ROUNDS,
        )  # fmt: skip

    def say_crowd(self) -> _Said:
        named = self.named()
        return _Said(
            "barrier-participation",
            f"{self.me}: {self.doing} brings {self.violation.number} threads to {named.title}, which counts "
            f"{named.threads}",
            f"its users are {', '.join(named.names)}",
        )  # fmt: skip

    def named(self):
        step = self.violation.step
        assert step is not None
        return self.system.named[step.named]

    def say_untaken(self) -> _Said:
        barrier = self.system.barriers[self.violation.barrier]
        end = next(
            e for e in self.agents[self.violation.agent].endpoints if self.violation.barrier in e.watch
        )  # fmt: skip
        self.where = end.location
        what = "a token of" if end.token else f"slot {self.violation.slot} of"
        return _Said(
            "rate-mismatch",
            f"{self.me} has finished, and {what} '{end.port.reference}' is left that "
            f"{self.lanes(barrier.arrivers)} gave",
            "both ends of a connection have to go through it equally often",
        )  # fmt: skip

    # -- the counterexample

    def trace(self, said: _Said) -> Trace:
        steps: list[Step] = []
        for event in self.found.events:
            agent = self.agents[event.agent]
            steps.append(
                Step(agent.lane, _text(event.step, event.slot), event.step.detail, event.after,
                     location=event.step.location)
            )  # fmt: skip
        if self.violation.kind == "blocked":
            for number in self.found.blocked:
                step, end = self.at(number), self.at(number).end
                slot = self.values[end.cursor] % end.stages if end is not None and not end.token else -1
                stuck = _stuck(self.agents[number], step, slot, self.what(number))
                if step.op is Op.SYNC:  # its arrival is among the steps already
                    steps[max(i for i, e in enumerate(self.found.events) if e.agent == number)] = stuck
                else:
                    steps.append(stuck)
        used = {step.lane for step in steps}
        lanes = tuple(dict.fromkeys(agent.lane for agent in self.agents if agent.lane in used))
        return Trace(said.message, lanes, tuple(steps), said.conflict or self.last(steps), said.cycle, self.counts())

    def last(self, steps: list[Step]) -> tuple[int, ...]:
        return (len(steps) - 1,) if steps and self.violation.kind not in ("blocked", "untaken") else ()

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


def _stuck(agent: Agent, step: Instruction, slot: int, what: str) -> Step:
    return Step(agent.lane, _text(step, slot), what, blocked=True, location=step.location)


def _text(step: Instruction, slot: int) -> str:
    return f"{step.text}[{slot}]" if slot >= 0 else step.text


def _leaves(event: Event, record: int) -> bool:
    """Whether the record of an access was made by this step."""
    end = event.step.end
    if event.step.op is Op.TOUCH:
        return any(access.record == record for access in event.step.accesses)
    if end is None or not end.accesses or event.slot < 0:
        return False
    return any(access.record == record for access in (*end.accesses[event.slot], *end.staging, *end.staged))


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
