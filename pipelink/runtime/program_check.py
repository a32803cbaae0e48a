"""Whether a program ends, and nobody goes on too early: from what instructions await of each other, before any launch.

Input: the instructions of each CTA, and what the contract says that they await and add.  Output: nothing, or a
diagnostic with the instruction and the counter.  Each CTA is taken to do one instruction after the other.  Interpreters
whose roles run ahead do no less: what they begin early has no more to wait for.

Counters only rise, so whatever can happen stays possible: one execution that goes on while any CTA can decides for all
orders.  Every threshold is its counter's total, so a counter lets go of everybody at once, and that is linear in the
number of instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from pipelink.runtime.manifest import LaunchContract
from pipelink.runtime.operations import Operation
from pipelink.support import expr
from pipelink.support.diagnostics import Diagnostic, LinkError, Note, error, nearest, shown
from pipelink.support.launch import BUILTINS

MAX_COUNT: Final = 2**32 - 1  # a counter has 32 bits
MAX_REPORTED: Final = 8  # counters that are reported, each once
COUNTER_BYTES: Final = 128  # each counter's line; the first is the memory's own (transfers/signal.cu)


class Instruction(NamedTuple):
    """An operation, and the bytes of one instruction up to where its operands end."""

    operation: Operation
    data: bytes


class _Event(NamedTuple):
    """What the ``number``-th instruction of a CTA does to a counter: it adds ``amount``, or awaits as much as the
    negative of it."""

    number: int
    counter: tuple[str, int]
    amount: int


@dataclass
class _Plan:
    """How an operation's steps follow from the operands."""

    run: Callable[[tuple[int | float, ...]], tuple[tuple[int, int], ...]]
    steps: tuple[tuple[str, bool, int], ...]  # the memory, whether it is an await, how many counters there are


@dataclass
class _Checker:
    contract: LaunchContract
    ctas: Sequence[Sequence[Instruction]]
    events: list[list[_Event]] = field(default_factory=list[list[_Event]])
    totals: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    def place(self, cta: int, number: int) -> str:
        return f"instruction {number} of CTA {cta} ('{self.ctas[cta][number].operation.name}')"

    def thresholds(self) -> None:
        """Whether each is its counter's total.  Raises LinkError ``unmet-await`` and ``counter-reuse``."""
        wrong: dict[tuple[str, int], tuple[int, _Event]] = {}
        for cta, events in enumerate(self.events):
            for event in events:
                if event.amount < 0 and -event.amount != self.totals.get(event.counter, 0):
                    wrong.setdefault(event.counter, (cta, event))
        if wrong:
            reported = dict(list(wrong.items())[:MAX_REPORTED])
            found = [self._threshold(*one, len(wrong)) for one in reported.values()]
            raise LinkError(found)

    def _threshold(self, cta: int, event: _Event, counters: int) -> Diagnostic:
        total, place = self.totals.get(event.counter, 0), self.place(cta, event.number)
        message = f"{place} awaits {-event.amount} at {_shown(event.counter)}, which gets {total}"
        adders = [
            Note(f"{self.place(other, one.number)} adds {one.amount}")
            for other, events in enumerate(self.events)
            for one in events
            if one.counter == event.counter and one.amount > 0
        ]
        more = f"of {counters} such counters these are the first" if counters > MAX_REPORTED else None
        if -event.amount > total:
            return Diagnostic("error", "unmet-await", message, notes=tuple(adders), hint=more)
        message += ": it goes on before all of them are there"
        hint = more or "await the total, and give what is awaited earlier a counter of its own"
        return Diagnostic("error", "counter-reuse", message, notes=tuple(adders), hint=hint)

    def order(self) -> None:
        """Whether the CTAs get to their ends.  Raises LinkError ``program-deadlock``."""
        have = dict.fromkeys(self.totals, 0)
        waiting: dict[tuple[str, int], list[int]] = {}
        at = [0] * len(self.events)
        ready = list(range(len(self.events)))
        while ready:
            cta = ready.pop()
            events = self.events[cta]
            for position in range(at[cta], len(events)):
                _, counter, amount = events[position]
                if amount > 0:
                    have[counter] += amount
                    if have[counter] == self.totals[counter]:
                        ready += waiting.pop(counter, ())
                elif have[counter] < -amount:
                    waiting.setdefault(counter, []).append(cta)
                    at[cta] = position
                    break
            else:
                at[cta] = len(events)
        if waiting:
            raise self._deadlock(have, at)

    def _deadlock(self, have: Mapping[tuple[str, int], int], at: Sequence[int]) -> LinkError:
        """Follows the waits: each counter to an instruction that would add to it, and that to where its CTA stands."""
        adders: dict[tuple[str, int], tuple[int, int]] = {}
        stopped = [cta for cta, events in enumerate(self.events) if at[cta] < len(events)]
        for cta in stopped:
            for event in self.events[cta][at[cta] :]:
                if event.amount > 0:
                    adders.setdefault(event.counter, (cta, event.number))
        path = [stopped[0]]
        while True:
            following = adders[self.events[path[-1]][at[path[-1]]].counter][0]
            if following in path:
                break
            path.append(following)
        circle = path[path.index(following) :]

        def waits(cta: int) -> tuple[str, tuple[str, int]]:
            event = self.events[cta][at[cta]]
            said = f"awaits {-event.amount} at {_shown(event.counter)}, which has {have[event.counter]}"
            return f"{self.place(cta, event.number)} {said}", event.counter

        message, counter = waits(circle[0])
        notes: list[Note] = []
        for cta in (*circle[1:], circle[0]):
            adder = self.place(*adders[counter])
            said, following_counter = waits(cta)
            notes.append(Note(f"{adder}, which adds to {_shown(counter)}, is not reached: {said}"))
            counter = following_counter
        who = "the CTA waits for itself" if len(circle) == 1 else f"{len(circle)} CTAs wait for each other in a circle"
        return LinkError([Diagnostic("error", "program-deadlock", f"{message}: {who}", notes=tuple(notes))])


def check(
    contract: LaunchContract, ctas: Sequence[Sequence[Instruction]], header: int, values: Mapping[str, Any]
) -> None:
    """``header`` is where the operands of an instruction begin; ``values`` are dimensions and scalars of the launch.

    Raises LinkError ``unmet-await``, ``counter-reuse``, ``program-deadlock``; ``unproven`` for an operation that does
    not state what it awaits or adds; ``argument-range`` for a counter that there is not, or that does not hold what is
    added; ``missing-argument``, ``unknown-argument``, ``argument-type``, ``bad-expression`` for ``values``."""
    used = {one.operation.name: one.operation for stream in ctas for one in stream}
    for operation in used.values():
        if operation.unstated:
            message = f"operation '{operation.name}' does not say what it does at {', '.join(operation.unstated)}"
            hint = "PL_AWAITS, PL_ADDS; nothing is known of counters that other GPUs, or other instances, add to"
            raise error("unproven", message, hint=hint)
    plans = _plans(contract, used, values)
    checker = _Checker(contract, ctas)
    totals = checker.totals
    for cta, stream in enumerate(ctas):
        events: list[_Event] = []
        for number, (operation, data) in enumerate(stream):
            plan = plans[operation.name]
            if not plan.steps:
                continue
            try:
                found = plan.run(operation.unpack(data, header))
            except ZeroDivisionError:
                raise error("bad-expression", f"{checker.place(cta, number)} divides by zero") from None
            for (memory, awaits, limit), (index, count) in zip(plan.steps, found, strict=True):
                if count == 0:
                    continue
                if not (0 <= index < limit and 0 < count <= MAX_COUNT):
                    verb = "awaits" if awaits else "adds"
                    message = f"{checker.place(cta, number)} {verb} {count} at counter {index} of '{memory}': "
                    raise error("argument-range", f"{message}it has {limit}, and each holds up to {MAX_COUNT}")
                counter = (memory, index)
                total = totals.get(counter, 0)
                totals[counter] = total if awaits else total + count
                events.append(_Event(number, counter, -count if awaits else count))
        checker.events.append(events)
    for counter, total in totals.items():
        if total > MAX_COUNT:
            raise error("argument-range", f"{_shown(counter)} gets {total}, and holds up to {MAX_COUNT}")
    checker.thresholds()
    checker.order()


def _plans(contract: LaunchContract, used: Mapping[str, Operation], values: Mapping[str, Any]) -> dict[str, _Plan]:
    sizes = {workspace.name: workspace.bytes for workspace in contract.workspaces}
    steps = [step for operation in used.values() for step in operation.signals]
    texts = [sizes[step.counters] for step in steps] + [text for step in steps for _, text in step.given]
    known = _launch_values(contract, texts, values)
    plans: dict[str, _Plan] = {}
    for operation in used.values():
        lowered: list[str] = []
        for step in operation.signals:
            names = {name: f"o[{position}]" for name, position in operation.integers(step.instance).items()}
            names |= {name: f"({expr.evaluate(text, known)})" for name, text in step.given}
            pair = [expr.lower(text, names, lambda *_: None) for text in (step.index, step.count)]
            lowered.append(f"({pair[0]}, {pair[1]}),")
        source = f"lambda o: ({''.join(lowered)})"
        scope = {"__builtins__": {}, "min": min, "max": max}
        run = eval(compile(source, f"<signals of {operation.name!r}>", "eval"), scope)
        limits = (expr.evaluate(sizes[step.counters], known) // COUNTER_BYTES - 1 for step in operation.signals)
        plans[operation.name] = _Plan(
            cast("Callable[[tuple[int | float, ...]], tuple[tuple[int, int], ...]]", run),
            tuple(
                (step.counters, step.does == "await", limit)
                for step, limit in zip(operation.signals, limits, strict=True)
            ),
        )
    return plans


def _launch_values(contract: LaunchContract, texts: Sequence[str], values: Mapping[str, Any]) -> dict[str, int]:
    """The names in ``texts`` with their values, as a launch would compute them."""
    scalars = [name for name, scalar in contract.scalars.items() if scalar.is_integer]
    known = [*contract.dimensions, *scalars, *BUILTINS]
    for name, value in values.items():
        if name not in known:
            message = f"kernel '{contract.kernel}' has no dimension or integer {shown(name)}"
            raise error("unknown-argument", message, hint=nearest(name, known))
        if type(value) is not int:
            raise error("argument-type", f"'{name}': expected an integer, given {shown(value)}")
    found: dict[str, int] = dict(values)

    needed = {name for text in texts for name in expr.numbers(text)}
    derived = [(name, text) for name, text in contract.derived if name not in values]
    for name, text in reversed(derived):  # each depends on those before it
        if name in needed:
            needed |= set(expr.numbers(text))
    missing = needed - found.keys() - {name for name, _ in derived}
    if missing:
        listed = ", ".join(f"{name}=" for name in sorted(missing))
        raise error("missing-argument", f"what the instructions await depends on the launch: pass {listed}")
    for name, text in derived:
        if name in needed:
            found[name] = expr.evaluate(text, found)
    return found


def _shown(counter: tuple[str, int]) -> str:
    return f"counter {counter[1]} of '{counter[0]}'"
