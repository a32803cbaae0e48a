"""All ways through a role's code, step by step beside its protocol's automaton.

Input: a :class:`~pipelink.audit.graph.Graph` and, for each set of threads that a protocol tells apart, a
:class:`~pipelink.audit.language.Language`.  Output: a :class:`Finding` where a way does what the protocol does not say.
A state is a place in the code, the values that branches ahead depend on, what earlier branches said about unknown
numbers, the threads that go this way and the automaton's states.  States are explored breadth first; those that only a
way leads to that the code may never go come last, so that a finding that is certain is found first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pipelink.audit.flight import ISSUE, SILENT, Flight
from pipelink.audit.graph import Block, Graph, Step
from pipelink.audit.language import ACCESS, TAKES, Event, Language, States, UndecidedError, side
from pipelink.audit.terms import (
    Atom,
    Beyond,
    Compound,
    Slot,
    Term,
    Unknown,
    Value,
    answer,
    as_signed,
    atoms,
    compute,
    divided,
    evaluate,
    unknowns,
)
from pipelink.audit.values import number, registers, results, sources
from pipelink.backend.ptx import Instruction

_MOST_STATES: Final = 3_000
_EXACTLY: Final = 1 << 62  # the largest number that is counted to where the code compares with it
_ROUGHLY: Final = 16
_TRIES: Final = ("mbarrier.try_wait", "mbarrier.test_wait")
_ENUMERATED: Final = 64  # values of an unknown number that are all tried
_ANY: Final = 1 << 30  # bulk copies, where the protocol does not tell them apart
_QUOTED: Final = 8  # steps of a way that a message shows
_UNSAID: Final = frozenset((ACCESS, *SILENT))


@dataclass(frozen=True)
class Finding:
    """Where a way leaves the protocol: ``event`` is what the code does there, None where it ends.  ``certain``: the
    code goes this way for some numbers that it is given.  ``reader``: what still reads the slot that it gives back, or
    the buffer that it writes; ``apart`` where its warps
    may still wait for it, ``copy`` where it reads one that is not filled yet, ``proxy`` where wgmma would miss what
    threads wrote.  ``other``: what else is wrong with the step: ``slot`` where it gives
    back, or fills, another slot than it should, ``bytes`` where it fills some again, ``phase`` where it waits again for
    the same."""

    event: Event | None
    expected: tuple[str, ...]
    trail: tuple[str, ...]
    certain: bool
    reader: str = ""
    other: str = ""


Known = frozenset[tuple[Atom, bool]]
_Asked = tuple[Known, frozenset[Unknown]]  # what is known, and the numbers that are alive


@dataclass(frozen=True)
class _State:
    block: int
    step: int
    values: tuple[tuple[str, Value], ...]
    known: Known
    threads: int
    language: int
    states: States
    flight: Flight


@dataclass(frozen=True)
class _Way:
    """How a state was reached: the one before, what was done, and which unknown numbers branches have asked about."""

    before: _Way | None
    event: Event | None
    sure: bool
    asked: frozenset[Unknown] = frozenset()


@dataclass
class Walk:
    """``load`` says what is known of an instruction that is not followed, ``threads`` how many threads the role has,
    ``first`` what is known at the begin, ``reads`` the ports that asynchronous instructions of each kind read,
    ``keeps`` how many bulk copies out of a buffer may be in flight when it is written, ``slot`` the operand of a step
    that is a slot, ``slack`` how far beyond the numbers that the code compares with is counted, ``grid`` what special
    registers hold, and ``leaves`` whether nobody waits for bulk copies once it ends."""

    graph: Graph
    threads: int
    languages: Sequence[tuple[int, Language]]
    load: Callable[[Step], Unknown | int]
    refine: Callable[[Event, Mapping[str, Value], Instruction], Event]
    first: Mapping[Atom, bool]
    reads: Mapping[str, tuple[str, ...]]
    keeps: Mapping[str, int]
    slot: Callable[[Instruction], str] = lambda _: ""
    slack: int = 4
    grid: Mapping[str, int] = field(default_factory=dict[str, int])
    leaves: bool = False
    caps: dict[str, int] = field(default_factory=dict[str, int])
    _still: dict[tuple[Known, frozenset[Unknown]], Known] = field(
        default_factory=dict[tuple[Known, frozenset[Unknown]], Known]
    )

    def run(self) -> Finding | None:
        """The first way that leaves the protocol; None if none does.  Raises UndecidedError."""
        for most in (_EXACTLY, _ROUGHLY):
            self.caps = _caps(self.graph, most, self.slack)
            try:
                return self._explore()
            except _TooManyError:
                continue
        raise UndecidedError("it has too many ways through its code")

    def _explore(self) -> Finding | None:
        sure: deque[tuple[_State, _Way]] = deque()
        other: deque[tuple[_State, _Way]] = deque()
        known = frozenset(self.first.items())
        for at, (mask, language) in enumerate(self.languages):
            sure.append((_State(0, 0, (), known, mask, at, language.begin, Flight()), _Way(None, None, True)))
        seen: set[_State] = set()
        doubt: Finding | None = None
        while sure or other:
            state, way = (sure or other).popleft()
            if state in seen:
                continue
            seen.add(state)
            if len(seen) > _MOST_STATES:
                raise _TooManyError
            found = self._go(state, way)
            if isinstance(found, Finding):
                if found.certain:
                    return found
                doubt = doubt or found
                continue
            for next_, on in found:
                (sure if on.sure else other).append((next_, on))
        return doubt

    # -- one state

    def _go(self, state: _State, way: _Way) -> list[tuple[_State, _Way]] | Finding:
        blocks = self.graph.blocks
        language = self.languages[state.language][1]
        if state.block == len(blocks):
            if self.leaves and state.flight.copies:
                return replace(self._finding(None, state, way), reader="bulk")
            return [] if language.ends(state.states) else self._finding(None, state, way)
        block, values = blocks[state.block], dict(state.values)
        for number_ in range(state.step, len(block.steps)):
            step = block.steps[number_]
            try:
                if step.event is None:
                    values = self._compute(step, values, state)
                else:
                    done = self._event(step, values, state, way)
                    if isinstance(done, Finding):
                        return done
                    tries = step.place.code.opcode.startswith(_TRIES)
                    if tries:  # the wait is over, or it is tried again
                        made = results(step.place.code)
                        return [
                            (replace(one, step=number_ + 1, values=_kept(values | dict.fromkeys(made, truth))), on)
                            for one, on, truth in ((*done, 1), (state, way, 0))
                        ]  # fmt: skip
                    state, way = done
                    for register in step.made:
                        taken = step.event.verb in TAKES and language.moves(step.event)
                        key = f"{step.event.subject} {side(step.event.verb)}"
                        values[register] = Slot(key, 0) if taken else Term(self._unknown(step))
            except _AskedError as asked:
                here = replace(state, step=number_, values=_kept(values))
                return self._decide(asked.atom, here, way, block.quiet)
            known = self._forget(values, step, state.known) if step.made else state.known
            if known is not state.known:
                state = replace(state, known=known)
        if block.skip is not None:
            lost = {r: Unknown((block.begin, r), block.divided, False) for r in block.lost & _live(blocks, block.skip)}
            values |= {register: Term(one) for register, one in lost.items()}
            state = replace(state, known=_renewed(values, set(lost), frozenset(lost.values()), state.known))
            for event in block.met:
                on = replace(way, sure=False)
                states = language.advance(state.states, event)
                if not states:
                    return self._finding(event, state, on)
                flight = state.flight.after(event, self.reads) if event.verb == "write" else state.flight
                state, way = replace(state, states=states, flight=flight), _Way(on, event, way.sure, way.asked)
            return [(self._enter(state, block.skip, values), way)]
        if len(block.ways) < 2:
            return [(self._enter(state, way_, values), way) for way_ in block.ways]
        if block.predicate == "?":
            raise UndecidedError("its code has a branch by a table")
        said = self._predicate(block.predicate, values)
        said = answer(said, lambda atom: _decided(atom, state.known))
        if isinstance(said, int):
            return [(self._enter(state, block.ways[0 if said & 1 else 1], values), way)]
        if isinstance(said, tuple):
            return self._part(state, said, block.ways, values, way)
        here = replace(state, step=len(block.steps), values=_kept(values))
        if not atoms(said):
            raise UndecidedError("its code has a branch that is not followed")
        return self._decide(atoms(said)[0], here, way, block.quiet)

    def _part(
        self, state: _State, said: tuple[int, ...], ways: tuple[int, ...], values: dict[str, Value], way: _Way
    ) -> list[tuple[_State, _Way]]:
        """A branch by the thread's number."""
        taken = sum(1 << thread for thread, one in enumerate(said) if one & 1)
        found: list[tuple[_State, _Way]] = []
        for mask, to in ((state.threads & taken, ways[0]), (state.threads & ~taken, ways[1])):
            if mask:
                found.append((replace(self._enter(state, to, values), threads=mask), way))
        return found

    def _decide(self, atom: Atom, here: _State, way: _Way, quiet: bool = False) -> list[tuple[_State, _Way]]:
        """Go on both ways from a question that is open."""
        if divided(atom) and self.threads > 1 and not quiet:
            raise UndecidedError("whether it takes a step depends on the thread and on data")
        involved = unknowns(atom)
        simple = isinstance(atom.base, Unknown)
        free = all(one.free for one in involved) and bool(involved)
        sure = way.sure and free and (simple or not involved & way.asked)
        asked = way.asked if simple else way.asked | involved
        if simple and involved & way.asked:
            sure = False
        found: list[tuple[_State, _Way]] = []
        for truth in (True, False):
            known = here.known | {(atom, truth)}
            on = _Way(way.before, way.event, sure, asked)
            found.append((replace(here, known=known), on))
        return found

    def _event(self, step: Step, values: dict[str, Value], state: _State, way: _Way) -> tuple[_State, _Way] | Finding:
        assert step.event is not None
        event = self.refine(step.event, values, step.place.code)
        language = self.languages[state.language][1]
        flight = state.flight.after(event, self.reads)
        on = _Way(way, event, way.sure, way.asked)
        if event.verb in SILENT:
            ports = self.reads.get(event.subject, ()) if event.verb == ISSUE else ()
            if event.source is not None:
                ports = tuple(port for port in ports if port in event.source)
            if ports and not any(language.holding(state.states, port) for port in ports):
                return self._finding(Event(next(iter(ports)), ACCESS), state, way)
            if unfenced := sorted(state.flight.written & set(event.source or ())):
                return replace(self._finding(Event(unfenced[0], ACCESS), state, way), reader="proxy")
            return _at(state, state.states, flight), on
        states = language.advance(state.states, event)
        if not states:
            return self._finding(event, state, way)
        if language.moves(event):
            flight, wrong = self._slots(step, event, values, state, states, flight)
            if wrong:
                return replace(self._finding(event, state, way), other=wrong)
        elif event.verb == "wait" and language.waits(event):
            phased = flight.waited(event)
            if phased is None:
                return replace(self._finding(event, state, way), other="phase")
            flight = phased
        if event.verb == "release" and (reader := state.flight.reading(event.subject, state.states)):
            return replace(self._finding(event, state, way), reader=reader)
        if event.verb == "write" and state.flight.stores(event.subject) > self.keeps.get(event.subject, _ANY):
            return replace(self._finding(event, state, way), reader="bulk")
        if event.verb == "write" and state.flight.multiplying(event.subject):
            return replace(self._finding(event, state, way), reader="wgmma")
        if event.verb == "read" and state.flight.empty(event.subject):
            return replace(self._finding(event, state, way), reader="copy")
        return _at(state, states, flight), on

    def _slots(
        self, step: Step, event: Event, values: dict[str, Value], state: _State, states: States, flight: Flight
    ) -> tuple[Flight, str]:
        """The slots that are held after a step, and what is wrong: ``slot`` where it gives back or fills one that it
        should not, ``bytes`` where it fills some again."""
        key = f"{event.subject} {side(event.verb)}"
        ages = flight.held(key)
        if event.verb in TAKES:
            for register, value in values.items():
                if isinstance(value, Slot) and value.key == key and value.age is not None:
                    values[register] = Slot(key, value.age + 1)
            left = max(one.count(key) for one in states)
            return flight.holding(key, None if ages is None else (*(age + 1 for age in ages), 0)[-left:]), ""
        given = values.get(self.slot(step.place.code))
        kept = max(one.count(key) for one in states)
        if event.verb == "copy" and kept == max(one.count(key) for one in state.states):
            wrong = isinstance(given, Slot) and ages is not None and given.age not in ages
            more = flight.copied(event)  # the slot is not full yet
            return more or flight, "slot" if wrong else "" if more is not None else "bytes"
        if event.verb == "copy":
            if flight.copied(event) is None:
                return flight, "bytes"
            flight = flight.full(event.subject)
        if not isinstance(given, Slot):
            raise UndecidedError(f"which slot of '{event.subject}' it gives back is not known")
        if ages is None:
            return flight.holding(key, None if kept else ()), ""
        least = self.languages[state.language][1].keeps(state.states, event)
        if given.key != key or given.age not in ages or given.age < least:
            return flight, "slot"
        for register, value in values.items():
            if value == given:
                values[register] = Slot(key, None)
        return flight.holding(key, tuple(age for age in ages if age != given.age)), ""

    def _finding(self, event: Event | None, state: _State, way: _Way) -> Finding:
        trail: list[str] = []
        at: _Way | None = way
        while at is not None and len(trail) < _QUOTED:
            if at.event is not None and at.event.verb not in _UNSAID:
                trail.append(str(at.event))
            at = at.before
        expected = self.languages[state.language][1].expected(state.states)
        return Finding(event, tuple(expected), tuple(reversed(trail)), way.sure)

    # -- values

    def _enter(self, state: _State, block: int, values: dict[str, Value]) -> _State:
        kept = _kept(values, _live(self.graph.blocks, block))
        alive = frozenset[Unknown]().union(*(unknowns(value) for _, value in kept)) if kept else frozenset[Unknown]()
        known = self._still.get((state.known, alive))
        if known is None:
            known = frozenset(
                (atom, truth) for atom, truth in state.known
                if all(isinstance(one.at, str) or one in alive for one in unknowns(atom))
            )  # fmt: skip
            self._still[state.known, alive] = known
        return _State(block, 0, kept, known, state.threads, state.language, state.states, state.flight)

    def _operand(self, operand: str, values: dict[str, Value]) -> Value:
        if (known := number(operand)) is not None:
            return known
        if operand in values:
            return values[operand]
        if operand in self.grid:
            return self.grid[operand]
        match operand:
            case "%tid.x":
                return tuple(range(self.threads)) if self.threads > 1 else 0
            case "%tid.y" | "%tid.z":
                return 0
            case "%laneid":
                return tuple(t % 32 for t in range(self.threads)) if self.threads > 1 else 0
            case _:
                return Term(Unknown(operand, not operand.startswith(("%ctaid", "%nctaid", "%cluster"))))

    def _predicate(self, text: str, values: dict[str, Value]) -> Value:
        from pipelink.audit.terms import negation

        found = self._operand(text.lstrip("!"), values)
        if isinstance(found, Term):
            found = Atom(found.base)
        return negation(found) if text.startswith("!") else found

    def _unknown(self, step: Step) -> Unknown:
        found = self.load(step)
        return found if isinstance(found, Unknown) else Unknown(step.at)

    def _compute(self, step: Step, values: dict[str, Value], state: _State) -> dict[str, Value]:
        code = step.place.code
        made = step.made
        if not made:
            return values
        found: Value | None = None
        if not code.callee:
            given: tuple[Value, ...] = tuple(self._operand(operand, values) for operand in sources(code))
            if code.parts[0] == "selp" and len(given) == 3:
                found = self._selected(given[0], given[1], given[2], state)
            elif code.parts[0] == "shfl" and len(given) > 1:
                found = _shuffled(code.parts[2], given[0], given[1])
            else:
                found = compute(code.parts, given) if given else None
        if found is None:
            loaded = self.load(step)
            found = Term(loaded) if isinstance(loaded, Unknown) else loaded
        after = dict(values)
        for register in made:
            after[register] = self._capped(register, found)
        if code.predicate:
            said = answer(self._predicate(code.predicate, values), lambda atom: _decided(atom, state.known))
            if open_ := atoms(said):
                raise _AskedError(open_[0])
            old = values.get(made[0])
            if isinstance(said, int):
                return after if said & 1 else values
            after[made[0]] = compute(("selp", "b32"), ()) if old is None else _chosen(said, after[made[0]], old)
        return after

    @staticmethod
    def _selected(one: Value, other: Value, said: Value, state: _State) -> Value | None:
        said = Atom(said.base) if isinstance(said, Term) else said
        said = answer(said, lambda atom: _decided(atom, state.known))
        if open_ := atoms(said):
            if one == other:
                return one
            raise _AskedError(open_[0])
        if isinstance(said, int):
            return one if said & 1 else other
        return _chosen(said, one, other)

    def _capped(self, register: str, value: Value) -> Value:
        if isinstance(value, int):
            cap = self.caps.get(register, self.slack)
            if value > cap:
                return Beyond(cap + 1, None)
            if value < -cap:
                return Beyond(None, -cap - 1)
        return value

    @staticmethod
    def _forget(values: dict[str, Value], step: Step, known: Known) -> Known:
        """An instruction that makes an unknown number makes another one now."""
        again = frozenset(one for register in step.made if register in values
                          for one in unknowns(values[register]) if one.at == step.at)  # fmt: skip
        return _renewed(values, set(step.made), again, known) if again else known


def _renewed(values: dict[str, Value], made: set[str], again: frozenset[Unknown], known: Known) -> Known:
    """What is known once the numbers ``again`` are others than before: ``made`` have the new ones."""
    for register, value in values.items():
        if register not in made and unknowns(value) & again:
            values[register] = Term(Unknown((-1, register), divided(value), False))
    return frozenset((atom, truth) for atom, truth in known if not unknowns(atom) & again)


class _TooManyError(Exception):
    """There are more states than are explored."""


class _AskedError(Exception):
    """A question that has to be decided before a value is known."""

    def __init__(self, atom: Atom) -> None:
        super().__init__(atom)
        self.atom = atom


def _at(state: _State, states: States, flight: Flight) -> _State:
    """A state after an event."""
    one = state
    return _State(one.block, one.step, one.values, one.known, one.threads, one.language, states, flight)


def _kept(values: dict[str, Value], live: frozenset[str] | None = None) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(((r, v) for r, v in values.items() if live is None or r in live), key=_first))


def _live(blocks: Sequence[Block], number_: int) -> frozenset[str]:
    return blocks[number_].live if number_ < len(blocks) else frozenset()


def _first(item: tuple[str, Any]) -> str:
    return item[0]


def _shuffled(how: str, value: Value, lane: Value) -> Value | None:
    """What lanes of a warp tell each other."""
    if isinstance(value, tuple) and how == "idx" and isinstance(lane, int):
        return tuple(value[t - t % 32 + lane % 32] for t in range(len(value)))
    return value if isinstance(value, int) else None


def _chosen(said: Value, one: Value, other: Value) -> Value | None:
    if not isinstance(said, tuple):
        return None
    ones = one if isinstance(one, tuple) else (one,) * len(said)
    others = other if isinstance(other, tuple) else (other,) * len(said)
    found = tuple(a if p & 1 else b for p, a, b in zip(said, ones, others, strict=True))
    return found if all(isinstance(v, int) for v in found) else None


def _range(base: Any, known: Known) -> tuple[int | None, int | None]:
    """The least and the greatest that an unknown number may be."""
    low: int | None = None
    high: int | None = None
    for other, truth in known:
        if other.base != base or not other.compared:
            continue
        if other.compared == "<=":
            if truth:
                high = other.number if high is None else min(high, other.number)
            else:
                low = other.number + 1 if low is None else max(low, other.number + 1)
        elif truth:
            low = high = other.number
    for other, truth in known:
        if other.base == base and other.compared == "==" and not truth:
            low = other.number + 1 if low == other.number else low
            high = other.number - 1 if high == other.number else high
    return low, high


def _decided(atom: Atom, known: Known) -> Value | None:
    """What follows for a question from those that were decided before."""
    for other, truth in known:
        if other == atom:
            return truth
    if (compared := as_signed(atom)) is not None:
        term, question = compared
        least = _range(term.base, known)[0]
        if least is not None and least + term.offset >= 0:
            return answer(question, lambda one: _decided(one, known))
    low, high = _range(atom.base, known)
    if atom.compared == "<=":
        if high is not None and high <= atom.number:
            return True
        if low is not None and low > atom.number:
            return False
    elif atom.compared == "==":
        if (low is not None and low > atom.number) or (high is not None and high < atom.number):
            return False
        if low is not None and low == high == atom.number:
            return True
    involved = unknowns(atom)
    if len(involved) != 1 or isinstance(atom.base, Unknown):
        return None
    (one,) = involved
    low, high = _range(one, known)
    if low is not None and high is not None and high - low < _ENUMERATED:
        answers = {evaluate(atom, one, number_) for number_ in range(low, high + 1)}
        return answers.pop() if len(answers) == 1 else None
    return None


def _caps(graph: Graph, most: int, slack: int) -> dict[str, int]:
    """How far each register is counted: to the largest number that it, or what it is made of, is compared with."""
    above: dict[str, str] = {}

    def find(register: str) -> str:
        while above.get(register, register) != register:
            register = above[register]
        return register

    numbers: dict[str, int] = {}
    for block in graph.blocks:
        for step in block.steps:
            code = step.place.code
            names = [r for operand in (*results(code), *sources(code)) for r in registers(operand)]
            for one in names[1:]:
                above[find(one)] = find(names[0])
    for block in graph.blocks:
        for step in block.steps:
            code = step.place.code
            if code.parts[0] not in ("setp", "min", "max"):
                continue
            for operand in sources(code):
                value = number(operand)
                if value is not None and abs(value) <= most:
                    for register in (r for other in sources(code) for r in registers(other)):
                        root = find(register)
                        numbers[root] = max(numbers.get(root, 0), abs(value))
    return {register: numbers.get(find(register), 0) + slack for register in above}


__all__ = ["Beyond", "Compound", "Finding", "Walk"]
