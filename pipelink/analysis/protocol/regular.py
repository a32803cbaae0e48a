"""Rings that are right whatever their roles do in between, so that nobody's knowledge about their slots matters.

A ring is *regular* if each phase of each of its barriers is made of one arrival of each of its arrivers, every producer
waits for all consumers, and every consumer for all producers.  Then, slot by slot, the n-th take of a producer comes
after every consumer's (n-1)-th give, and that after its take, which comes after every producer's (n-1)-th give: a slot
is never touched from both ends at once, no arrival comes into the wrong phase, and no phase is missed.  Whether
anybody waits for ever is another question, which exploration answers.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipelink.analysis.protocol.program import End, Endpoint, Exchange, System, Take


def regular(system: System, counters: Iterable[int]) -> tuple[list[Endpoint], list[int]] | None:
    """The ends and barriers whose counters are counted from one base, if they make regular rings; otherwise None."""
    wanted = set(counters)
    ends = [end for agent in system.agents for end in agent.endpoints if end.cursor in wanted and end.watch]
    barriers = [number for number, barrier in enumerate(system.barriers) if barrier.phase in wanted]
    if not ends or not barriers or any(not _plain(system, end, ends[0].stages) for end in ends):
        return None
    places = {barrier: slot for end in ends for slot, barrier in enumerate(end.watch)}
    if set(places) != set(barriers):
        return None  # somebody arrives where nobody waits
    arrivals: dict[int, dict[int, set[int]]] = {barrier: {} for barrier in barriers}
    copies: dict[int, dict[int, set[int]]] = {barrier: {} for barrier in barriers}
    announced: dict[int, set[tuple[int, int]]] = {barrier: set() for barrier in barriers}
    for end in ends:
        for step in _steps(system, end):
            for slot, signals in enumerate(step.signals):
                for signal in signals:
                    if places.get(signal.barrier) != slot:
                        return None
                    if signal.units:
                        arrivals[signal.barrier].setdefault(end.agent, set()).add(signal.units)
                    if signal.bytes:
                        copies[signal.barrier].setdefault(end.agent, set()).add(signal.bytes)
            for slot, signal in enumerate(step.expect if isinstance(step, Take) else ()):
                if places.get(signal.barrier) != slot:
                    return None
                arrivals[signal.barrier].setdefault(end.agent, set()).add(signal.units)
                announced[signal.barrier].add((end.agent, signal.bytes))
    for barrier in barriers:
        made, copied = arrivals[barrier], copies[barrier]
        if any(len(units) != 1 for units in (*made.values(), *copied.values())):
            return None
        if sum(sum(units) for units in made.values()) != system.barriers[barrier].expected:
            return None
        sizes = [size for _, size in announced[barrier]]
        if sizes != ([sum(sum(size) for size in copied.values())] if copied else []):
            return None
    for producer in ends:
        for consumer in ends:
            if producer.producer and not consumer.producer:
                for mine, theirs in zip(producer.watch, consumer.watch, strict=True):
                    if consumer.agent not in arrivals[mine]:
                        return None
                    if producer.agent not in arrivals[theirs] and producer.agent not in copies[theirs]:
                        return None
    return ends, barriers


def _plain(system: System, end: Endpoint, stages: int) -> bool:
    """Whether an agent takes slots and gives every one of them back itself."""
    steps = list(_steps(system, end))
    takes = [step for step in steps if isinstance(step, Take | End)]
    gives = [step for step in steps if not isinstance(step, Take)]
    whole = all(len(step.signals) == stages and all(step.signals) for step in gives)
    leaving = [step for step in takes if isinstance(step, Take) and step.leave >= 0]
    marks = all(len(step.signals) == stages and all(step.signals) for step in leaving)
    fits = not end.token and end.stages == stages and end.offset == (-1 if end.producer else 0)
    return fits and bool(takes) and bool(gives) and whole and marks


def _steps(system: System, end: Endpoint) -> Iterable[Exchange]:
    return (step for step in system.agents[end.agent].code if isinstance(step, Exchange) and step.end is end)
