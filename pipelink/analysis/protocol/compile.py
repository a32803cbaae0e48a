"""Makes the agents of a placed kernel: protocols as flat code, calls inlined, roles split where some threads act alone.

Input: a placed kernel and its components.  Output: a :class:`.program.System`, or several, one for
each part of the kernel whose roles have nothing in common.
"""

from __future__ import annotations

import itertools
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pipelink.analysis.protocol import program as ops
from pipelink.analysis.protocol.counts import EXACT, Counts, Loop
from pipelink.analysis.protocol.flow import parts_of, share_ends, split_symbols, symbols_from
from pipelink.analysis.protocol.followed import left_out
from pipelink.analysis.protocol.language import actions_of, protocol_of, steps_of
from pipelink.analysis.protocol.polynomial import Leaf, Polynomial, of_atom
from pipelink.analysis.protocol.program import Agent, Symbol, System
from pipelink.analysis.protocol.resources import Resources
from pipelink.analysis.protocol.writer import Named, ProtocolTooLong, Writer
from pipelink.ir.placement import InstancePlacement, NamedBarrier
from pipelink.ir.views import Component, Kernel, Program, Role
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.support import limits
from pipelink.support.protocol import Action, Block, Choose, Protocol, Rank, Repeat, Until
from pipelink.transfers import CLUSTER_CTAS, placement_of, transfer_of
from pipelink.transfers.binder import placed_instance
from pipelink.transfers.operations import arms
from pipelink.transfers.turns import WARPGROUP


@dataclass(eq=False, repr=False)
class Compiled:
    """A system, and the roles of the kernel that are not followed, with the reason of each."""

    system: System
    unproven: dict[str, str] = field(default_factory=dict[str, str])


def compile_kernel(
    kernel: Kernel, components: Mapping[str, Component], rounds: Mapping[tuple[str, str], str] | None = None
) -> list[Compiled]:
    """The systems of a kernel, each of roles that depend on each other.  ``rounds``: the parameters by which roles
    without a protocol repeat, by component and role.

    Operations are followed one at a time: a system for each, in which every instruction names it.  What is right by
    itself is right in every sequence, as docs/protocols.md shows."""
    found: list[Compiled] = []
    for operation in kernel.operations or (None,):
        only = None if operation is None else operation.name
        for compiled in _compile(kernel, components, rounds, only):
            compiled.unproven = {} if found else compiled.unproven
            found.append(compiled)
    return found


def _compile(
    kernel: Kernel,
    components: Mapping[str, Component],
    rounds: Mapping[tuple[str, str], str] | None,
    only: str | None,
) -> list[Compiled]:
    """The systems in which instructions name operation ``only``, if there are operations."""
    whole = Compiler(kernel, components, None, rounds, only).run()
    parts = parts_of(whole.system)
    if len(parts) <= 1:
        return [whole]
    found: list[Compiled] = []
    for part in parts:
        agents = [whole.system.agents[index] for index in part]
        wanted = frozenset((agent.role, agent.cta) for agent in agents)
        compiled = Compiler(kernel, components, wanted, rounds, only).run()
        compiled.unproven = {} if found else whole.unproven
        found.append(compiled)
    return found


def _promised(kernel: Kernel, components: Iterable[Component], ctas: int) -> bool:
    """Whether the kernel or a component promises that the CTAs of a cluster do equally much."""
    views = (kernel, *components)
    return any((promise.name, promise.value) == ("cluster_lockstep", ctas) for v in views for promise in v.promises)


@dataclass(frozen=True)
class Turn:
    """A role with what it does."""

    instance: str
    role: Role
    protocol: Protocol

    @property
    def key(self) -> RoleKey:
        return f"{self.instance}::{self.role.name}"

    @property
    def name(self) -> str:
        return f"@{self.instance}::@{self.role.name}"


#: Verbs of steps that wait for others.
_WAITING = ("acquire", "wait", "take", "sync", "await", "end")


class Compiler:
    """What the agents of a kernel have in common while their code is written."""

    def __init__(
        self,
        kernel: Kernel,
        components: Mapping[str, Component],
        wanted: frozenset[tuple[str, int]] | None,
        rounds: Mapping[tuple[str, str], str] | None,
        only: str | None,
    ) -> None:
        self.rounds, self.only = rounds or {}, only
        self.kernel = kernel
        self.wanted = wanted
        placement = kernel.placement
        assert placement is not None, kernel.name
        paired = any(transfer_of(connect).joins_ctas(connect) for connect in kernel.connects)
        self.by_name = {name: components[i.component] for name, i in kernel.instances.items()}
        self.protocols: dict[tuple[str, str], Protocol] = {}
        clustered = bool(placement.cluster) and self._ranked()
        cluster = placement.ctas if self._reaching() else 1
        self.resources = Resources(kernel, components, placement, CLUSTER_CTAS if paired else 1, cluster)
        self.system = self.resources.system
        self.ctas = max(CLUSTER_CTAS if paired or clustered else 1, cluster)
        #: Whether the CTAs of a cluster are known to go the same ways: connections that join them need a promise of it.
        self.lockstep = paired or cluster == 1 or _promised(kernel, self.by_name.values(), cluster)
        self.symbols: dict[tuple[object, ...], int] = {}
        self.meetings: dict[tuple[object, ...], int] = {}
        self.lifetimes = Lifetimes(Program(kernel.op, dict(components), (kernel,)), kernel)
        self.left_out = left_out(kernel, components)
        self.counts = Counts(kernel, self.by_name, self.bodies, self._call_key, self._stages)
        self.unproven: dict[str, str] = {}
        self.meetings_of = placement.meetings

    def protocol(self, instance: str, name: str) -> Protocol:
        key = (instance, name)
        if key not in self.protocols:
            self.protocols[key] = self._repeated(instance, name, protocol_of(self.by_name[instance], name))
        return self.protocols[key]

    def _repeated(self, instance: str, name: str, protocol: Protocol) -> Protocol:
        """A default with the count that is known of it."""
        count = self.rounds.get((self.kernel.instances[instance].component, name))
        if protocol.stated or count is None:
            return protocol
        body = (
            replace(step, count=count) if isinstance(step, Repeat) and step.count is None else step
            for step in protocol.body
        )
        return replace(protocol, body=tuple(body))

    def bodies(self, instance: str) -> list[Block]:
        """What the roles and answers of an instance do."""
        component = self.by_name[instance]
        return [self.protocol(instance, name).body for name in (*component.roles, *component.protocols)]

    def placed(self, instance: str) -> InstancePlacement:
        return placed_instance(self.kernel.instances[instance])

    def _ranked(self) -> bool:
        return any("rank" in stated.text for c in self.by_name.values() for stated in c.protocols.values())

    def _reaching(self) -> bool:
        """Whether components meet the other CTAs of a cluster, or reach into their memory."""
        stated = (stated.text for c in self.by_name.values() for stated in c.protocols.values())
        return any(c.cluster_barriers for c in self.by_name.values()) or any("peer_" in text for text in stated)

    def run(self) -> Compiled:
        groups = {key: keys for keys in self.lifetimes.sequences().values() for key in keys}
        for instance, component in self.by_name.items():
            for role in component.roles.values():
                key = f"{instance}::{role.name}"
                if key in self.lifetimes.runner_of:
                    continue  # a part of the role that runs it
                turns = [self._turn(other) for other in groups.get(key, (key,))]
                at = next(n for n, turn in enumerate(turns) if turn.key == key)
                alike = self._alike(turns)
                for cta in range(self.ctas):
                    if (self.wanted is None or (key, cta) in self.wanted) and not (alike and at):
                        self._warps(turns, at, cta, alike)
        split_symbols(self.system)
        share_ends(self.system)
        for agent in self.system.agents:
            agent.symbols = symbols_from(agent.code)
        return Compiled(self.resources.finish(), self.unproven)

    def _turn(self, key: RoleKey) -> Turn:
        instance, _, name = key.partition("::")
        return Turn(instance, self.by_name[instance].roles[name], self.protocol(instance, name))

    def _alike(self, turns: list[Turn]) -> bool:
        """Whether the same threads take every step of a group's roles, which are then one agent's."""
        threads = {turn.role.thread_count for turn in turns}
        if len(turns) > 1 and any(self._orders(turn.instance, turn.protocol.body) for turn in turns):
            return False
        return len(threads) == 1 and not any(
            n < max(threads)
            for turn in turns
            if len(turns) > 1
            for n in self._callers(turn.instance, turn.protocol.body, 0)
        )

    def _change(self, first: Turn, second: Turn, threads: int) -> NamedBarrier:
        """Where the second role of a group begins, of so many threads that arrive and wait."""
        return self.meeting((first.key, second.key), threads)

    def meeting(self, key: tuple[object, ...], threads: int) -> NamedBarrier:
        """Where threads wait for each other without a named barrier."""
        return NamedBarrier(self.meetings.setdefault(key, -1 - len(self.meetings)), threads)

    def _warps(self, turns: list[Turn], at: int, cta: int, alike: bool) -> None:
        """The agents of one role of a group.  It waits for the role before it and arrives for the one after it; where
        the same threads take all steps, the agents do what each role does in turn."""
        own = turns if alike else turns[at : at + 1]
        left_out = {turn.key: self.left_out[turn.key] for turn in own if turn.key in self.left_out}
        if left_out:
            self.unproven.update(left_out)
            return
        turn = own[0]
        role, threads = turn.role, turn.role.thread_count
        first = self.placed(turn.instance).roles[role.name].first_thread
        inner = self._callers(turn.instance, turn.protocol.body, 0)
        apart = any(self.waits_apart(one.instance, one.protocol.body, threads) for one in own)
        parts = sorted({0, *(n for n in inner if n < threads)})
        orders = self._orders(turn.instance, turn.protocol.body)
        edges = sorted({threads, *parts, *(range(0, threads, WARPGROUP) if orders else ())})
        lane = turn.name + (f", CTA {cta}" if self.ctas > 1 else "")
        for begin, end in itertools.pairwise(edges):
            part = "" if len(edges) == 2 else f", threads {begin}-{end - 1}" if end - begin > 1 else f", thread {begin}"
            agent = Agent(lane + part, turn.key, cta, first + begin, end - begin, role.location)
            agent.part = bisect(parts, begin)
            agent.pc = self.system.counter()
            self.system.counter()
            self.system.agents.append(agent)
            writer = Writer(self, agent, edges, begin, role)
            writer.apart = apart
            writer.warpgroup = begin // WARPGROUP if orders else 0
            for number, one in enumerate(own, at):
                if number:
                    before = turns[number - 1]
                    writer.leave(before)
                    count = threads if alike else threads + before.role.thread_count
                    writer.turn("sync", self._change(before, one, count), one)
                writer.orders("begin", orders)
                writer.block(one.instance, one.protocol, one.role.name, one.protocol.body)
                writer.orders("end", orders)
            if not alike and at + 1 < len(turns):
                after = turns[at + 1]
                writer.turn("arrive", self._change(turn, after, threads + after.role.thread_count), turn)
            writer.emit(ops.Stop())

    def _callers(self, instance: str, block: Block, depth: int) -> Iterator[int]:
        """Threads that some step is taken by."""
        for step in block:
            match step:
                case Action(verb=verb, by=by):
                    if by is not None:
                        yield by.threads
                    if verb == "call" and depth < limits.CALLS:
                        yield from self._answer_callers(instance, step.subject, depth)
                    for other, role in self.run_by(instance, step):
                        yield from self._callers(other, self.protocol(other, role).body, depth + 1)
                case Repeat(count=count, body=body):
                    if count in self.by_name[instance].ports and depth < limits.CALLS:
                        yield from self._answer_callers(instance, str(count), depth)
                    yield from self._callers(instance, body, depth)
                case Until(body=body) | Rank(body=body):
                    yield from self._callers(instance, body, depth)
                case Choose(ways=ways):
                    for way in ways:
                        yield from self._callers(instance, way, depth)
                case _:
                    pass

    def _orders(self, instance: str, block: Block, depth: int = 0) -> tuple[tuple[str, str], ...]:
        """The orders of turns, by instance and name, that steps of a role go by, those of what it calls too."""
        found: dict[tuple[str, str], None] = {}
        for step in steps_of(block):
            called: str | None = None
            match step:
                case Action(subject=subject, verb="call"):
                    called = subject
                case Action(subject=subject) if subject in self.by_name[instance].turns:
                    found[instance, subject] = None
                case Repeat(count=str(count)) if count in self.by_name[instance].ports:
                    called = count
                case _:
                    pass
            if isinstance(step, Action):
                for other, role in self.run_by(instance, step):
                    found |= dict.fromkeys(self._orders(other, self.protocol(other, role).body, depth + 1))
            answer = self.answer(instance, called) if called is not None and depth < limits.CALLS else None
            if answer is not None:
                found |= dict.fromkeys(self._orders(answer[0], self.protocol(*answer).body, depth + 1))
        return tuple(found)

    def waits_apart(self, instance: str, block: Block, threads: int, depth: int = 0) -> bool:
        """Whether fewer than so many threads wait for something by themselves."""
        for step in steps_of(block):
            match step:
                case Action(verb=verb, by=by) if by is not None and by.threads < threads:
                    if verb in _WAITING or (verb == "call" and self._waits(instance, step.subject, depth)):
                        return True
                case Action(verb="run"):
                    for other, role in self.run_by(instance, step):
                        if self.waits_apart(other, self.protocol(other, role).body, threads, depth + 1):
                            return True
                case Action(verb="call") if depth < limits.CALLS:
                    found = self.answer(instance, step.subject)
                    if found is not None:
                        body = self.protocol(*found).body
                        if self.waits_apart(found[0], body, threads, depth + 1):
                            return True
                case _:
                    pass
        return False

    def _waits(self, instance: str, port: str, depth: int) -> bool:
        """Whether the answer to a call waits for something."""
        found = self.answer(instance, port)
        return found is not None and any(
            action.verb in _WAITING
            or (action.verb == "call" and depth < limits.CALLS and self._waits(found[0], action.subject, depth + 1))
            for action in actions_of(self.protocol(*found).body)
        )

    def _answer_callers(self, instance: str, port: str, depth: int) -> Iterator[int]:
        found = self.answer(instance, port)
        if found is not None:
            yield from self._callers(found[0], self.protocol(*found).body, depth + 1)

    def run_by(self, instance: str, action: Action) -> list[tuple[str, str]]:
        """The instance and the role that a step of a dispatcher runs; none where the operation that is followed has no
        role there."""
        component = self.by_name[instance]
        dispatch = component.dispatches.get(action.subject)
        role = component.role_of(dispatch) if dispatch is not None else None
        if role is None:
            return []
        run = arms(self.kernel, self.lifetimes, f"{instance}::{role.name}")
        found = [arm.role.partition("::") for arm in run if arm.operation.name == self.only]
        return [(own, name) for own, _, name in found]

    def answer(self, instance: str, port: str) -> tuple[str, str] | None:
        """The instance and port that answer a call."""
        for connect in self.resources.by_source.get((instance, port), ()):
            return connect.target.root, connect.target.leaf
        return None

    # -- counts

    def told(self, cta: int) -> tuple[int, ...]:
        """What goes with a name that is asked for or chosen by: the CTA, where others may be told otherwise."""
        return () if self.lockstep else (cta,)

    def count(self, cta: int, instance: str, text: str, at_least_once: bool) -> int | Named | list[Loop]:
        """A number, a name that is asked for, or loops by names that are known at launch."""
        if text in self.by_name[instance].ports:
            symbol = self.symbol((*self._call_key(instance, text), *self.told(cta)), text, int(at_least_once))
            return Named(symbol, asked=True)
        count = self.counts.of(instance, text)
        if count is None:
            return Named(self.symbol(("expression", instance, text), text, int(at_least_once)))
        if not count.unknown:
            if count.constant <= EXACT:
                return max(count.constant, 0)
            count = of_atom(Leaf(("number", count.constant), str(count.constant)))
            return [Loop((count,), 1)]
        loops = self.counts.loops(instance, text, at_least_once)
        if loops is not None:
            return loops
        if self.counts.asks(count):
            return Named(self.symbol(("expression", count, *self.told(cta)), text, int(at_least_once)))
        return self.whole(instance, text, at_least_once)

    def whole(self, instance: str, text: str, at_least_once: bool) -> list[Loop]:
        """A count as a loop by itself."""
        count = self.counts.of(instance, text)
        assert count is not None
        return [Loop((count,), int(at_least_once))]

    def name(self, count: Polynomial, least: int) -> int:
        """The symbol of loops by what is known at launch."""
        symbol = self.symbol(("count", count), self.counts.name(count), least)
        self.system.symbols[symbol].count = self.counts.known(count)
        match count.terms:
            case (((Leaf(key=("number", int(value))),), 1),):
                self.system.symbols[symbol].value = value
            case _:
                pass
        return symbol

    def _stages(self, instance: str, port: str) -> int:
        placed = self.placed(instance)
        if port in placed.locals:
            return placed.locals[port].stages
        source = self.resources.by_source.get((instance, port))
        connect = source[0] if source else self.resources.by_target.get((instance, port))
        ring = placement_of(connect) if connect is not None else None
        return transfer_of(connect).depth(ring) if connect is not None and ring is not None else 1

    def _call_key(self, instance: str, port: str) -> tuple[object, ...]:
        """Two roles ask equally often if the same component answers, with the same parameters."""
        found = self.answer(instance, port)
        if found is None:
            return ("call", instance, port)
        params = tuple(sorted((name, str(source)) for name, source in self.placed(found[0]).params.items()))
        return ("answer", self.kernel.instances[found[0]].component, params, found[1])

    def symbol(self, key: tuple[object, ...], name: str, least: int = 0, ways: int = 0) -> int:
        if key not in self.symbols:
            self.symbols[key] = len(self.system.symbols)
            self.system.symbols.append(Symbol(name, ways=ways))
        found = self.system.symbols[self.symbols[key]]
        found.least = max(found.least, least)
        return self.symbols[key]


__all__ = ["Compiled", "ProtocolTooLong", "compile_kernel"]
