"""What follows from the finished code of agents: which of them belong together, what they may still ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pipelink.analysis.protocol.partition import Partition
from pipelink.analysis.protocol.program import (
    Agent,
    Begin,
    Branch,
    CountDown,
    Elastic,
    End,
    Exchange,
    Give,
    Iterate,
    Jump,
    Meet,
    Operation,
    Skip,
    SlotOperation,
    Stop,
    System,
    Take,
    Touch,
)


def parts_of(system: System) -> list[list[int]]:
    """Agents that share a barrier or a place, directly or through others."""
    parts = Partition[int]()
    for barrier in system.barriers:
        parts.join([*barrier.arrivers, *barrier.waiters])
    for named in system.named:
        parts.join(named.users)
    by_role: dict[tuple[str, int], list[int]] = {}
    for index, agent in enumerate(system.agents):
        by_role.setdefault((agent.role, agent.cta), []).append(index)
        for step in agent.code:
            for access in step.accesses if isinstance(step, Touch) else ():
                parts.join([index, *_users(system, access.need)])
        for end in agent.endpoints:
            for slot in end.accesses:
                for access in slot:
                    parts.join([index, *_users(system, access.need)])
    for members in by_role.values():
        parts.join(members)
    found: dict[int, list[int]] = {}
    for index in range(len(system.agents)):
        found.setdefault(parts.representative(index), []).append(index)
    return list(found.values())


def _users(system: System, records: int) -> Iterator[int]:
    while records:
        bit = records & -records
        records ^= bit
        yield system.record_names[bit][1]


def share_ends(system: System) -> None:
    """Threads that neither take nor give slots themselves touch those that others of their role have taken."""
    for agent in system.agents:
        for end in agent.endpoints:
            steps = [step for step in agent.code if isinstance(step, SlotOperation) and step.end is end]
            if end.token or not end.watch or any(isinstance(step, Take | End) for step in steps):
                continue
            others = (
                other for a in system.agents if (a.role, a.cta) == (agent.role, agent.cta) for other in a.endpoints
            )
            if any(step.signals for step in steps if isinstance(step, Exchange)):
                continue  # they give on what they do not have: nothing
            for other in others:
                if other.port == end.port and other.agent < end.agent:
                    end.cursor, end.done = other.cursor, other.done
                    break
            for number, step in enumerate(agent.code):
                if isinstance(step, Give) and step.end is end and not step.signals:
                    agent.code[number] = Jump(target=number + 1)


def symbols_from(code: list[Operation]) -> list[frozenset[int]]:
    """The symbols that may be asked for from each operation on."""
    found: list[frozenset[int]] = [frozenset()] * len(code)
    changed = True
    while changed:
        changed = False
        for number in range(len(code) - 1, -1, -1):
            step = code[number]
            after: set[int] = {step.symbol} if isinstance(step, Begin | Iterate | Skip | Branch) else set()
            for other in _following(step, number):
                if other < len(code):
                    after |= found[other]
            if len(after) > len(found[number]):
                found[number] = frozenset(after)
                changed = True
    return found


def _following(step: Operation, number: int) -> Iterator[int]:
    """What may come after the operation of this number."""
    match step:
        case Stop():
            return
        case Jump(target=target):
            yield target
        case Branch(ways=ways):
            yield number + 1
            yield from ways
        case Iterate(leave=leave) | CountDown(leave=leave) | Elastic(leave=leave) | Take(leave=leave):
            yield number + 1
            if leave >= 0:
                yield leave
        case _:
            yield number + 1


def split_symbols(system: System) -> None:
    """Let loops by one parameter of the launch correspond only where they work at the same rings.

    All of them run equally often, so any of them may be taken to correspond: the n-th loop over one ring is that of the
    other ends' n-th at the same depth.  Loops that have nothing in common get symbols of their own."""
    found: list[tuple[Begin, list[Iterate], list[object]]] = []  # a loop, and what it works at
    together = Partition[object]()

    for agent in system.agents:
        around: dict[int, list[int]] = {}  # by symbol, where the loops around end
        for number, step in enumerate(agent.code):
            if not isinstance(step, Begin) or system.symbols[step.symbol].count is None:
                continue
            heads = [at for at in agent.code if isinstance(at, Iterate) and at.counter == step.counter]
            end = heads[-1].leave
            keys = list(dict.fromkeys(_meetings(agent, number, end)))
            outer = around.setdefault(step.symbol, [])
            outer[:] = [other for other in outer if other > number]
            keys = [(step.symbol, len(outer), key) for key in keys or [agent.role]]
            outer.append(end)
            found.append((step, heads, list(keys)))
            together.join(keys)
    made: dict[object, int] = {}
    for begin, heads, keys in found:
        key = together.representative(keys[0])
        if key not in made:
            origin = begin.symbol
            made[key] = len(system.symbols)
            system.symbols.append(replace(system.symbols[origin], origin=origin))
        for step in (begin, *heads):
            step.symbol = made[key]


def _meetings(agent: Agent, first: int, end: int) -> Iterator[object]:
    """The rings, tokens and named barriers that some of an agent's code works at."""
    for step in agent.code[first:end]:
        match step:
            case SlotOperation(end=used):
                yield used.ring
            case Meet(named=named):
                yield named
            case _:
                pass
