"""Makes the agents of a placed kernel: protocols as flat code, calls inlined, roles split where some threads act alone.

Input: a placed kernel and its components.  Output: a :class:`.program.System`, or several, one for
each part of the kernel whose roles have nothing in common.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pipelink.analysis.protocol import program as ops
from pipelink.analysis.protocol.flow import parts_of, share_ends, split_symbols, symbols_from
from pipelink.analysis.protocol.followed import left_out
from pipelink.analysis.protocol.language import actions_of, count_names, count_value, place_of, protocol_of
from pipelink.analysis.protocol.program import Agent, Endpoint, Operation, PortName, Signal, Symbol, System, Take
from pipelink.analysis.protocol.resources import Resources, leaders
from pipelink.ir.placement import InstancePlacement, LocalRing, NamedBarrier, RingPlacement
from pipelink.ir.views import Component, Kernel, Port, Program, Role
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.support.diagnostics import UNKNOWN, LinkError, Location
from pipelink.support.protocol import Action, Block, Choose, Protocol, Rank, Repeat, Step, Until
from pipelink.target import WARP_THREADS
from pipelink.transfers import CLUSTER_CTAS, placement_of, transfer_of
from pipelink.transfers.binder import placed_instance

T = TypeVar("T", bound=Operation)

_MAX_DEPTH = 24  # calls within calls
_MAX_CODE = 20_000  # instructions of an agent
_EXACT = 256  # constant counts up to here are run exactly; longer loops repeat by a name of their own


@dataclass(eq=False, repr=False)
class Compiled:
    """A system, and the roles of the kernel that are not followed, with the reason of each."""

    system: System
    unproven: dict[str, str] = field(default_factory=dict[str, str])


def compile_kernel(kernel: Kernel, components: Mapping[str, Component]) -> list[Compiled]:
    """The systems of a kernel, each of roles that depend on each other."""
    whole = _Compiler(kernel, components, None).run()
    parts = parts_of(whole.system)
    if len(parts) <= 1:
        return [whole]
    found: list[Compiled] = []
    for part in parts:
        agents = [whole.system.agents[index] for index in part]
        wanted = frozenset((agent.role, agent.cta) for agent in agents)
        compiled = _Compiler(kernel, components, wanted).run()
        compiled.unproven = {} if found else whole.unproven
        found.append(compiled)
    return found


@dataclass(frozen=True)
class _Turn:
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


class _Compiler:
    def __init__(
        self, kernel: Kernel, components: Mapping[str, Component], wanted: frozenset[tuple[str, int]] | None
    ) -> None:
        self.kernel = kernel
        self.wanted = wanted
        placement = kernel.placement
        assert placement is not None, kernel.name
        paired = any(transfer_of(connect).joins_ctas(connect) for connect in kernel.connects)
        self.by_name = {name: components[i.component] for name, i in kernel.instances.items()}
        self.protocols: dict[tuple[str, str], Protocol] = {}
        clustered = bool(placement.cluster) and self._ranked()
        self.resources = Resources(kernel, components, placement, CLUSTER_CTAS if paired else 1)
        self.system = self.resources.system
        self.ctas = CLUSTER_CTAS if paired or clustered else 1
        self.symbols: dict[tuple[object, ...], int] = {}
        self.meetings: dict[tuple[object, ...], int] = {}
        self.lifetimes = Lifetimes(Program(kernel.op, dict(components), (kernel,)), kernel)
        self.left_out = left_out(kernel, components)
        self.unproven: dict[str, str] = {}

    def protocol(self, instance: str, name: str) -> Protocol:
        key = (instance, name)
        if key not in self.protocols:
            self.protocols[key] = protocol_of(self.by_name[instance], name)
        return self.protocols[key]

    def placed(self, instance: str) -> InstancePlacement:
        return placed_instance(self.kernel.instances[instance])

    def _ranked(self) -> bool:
        return any("rank" in stated.text for c in self.by_name.values() for stated in c.protocols.values())

    def run(self) -> Compiled:
        groups = {key: keys for keys in self.lifetimes.sequences().values() for key in keys}
        for instance, component in self.by_name.items():
            for role in component.roles.values():
                key = f"{instance}::{role.name}"
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

    def _turn(self, key: RoleKey) -> _Turn:
        instance, _, name = key.partition("::")
        return _Turn(instance, self.by_name[instance].roles[name], self.protocol(instance, name))

    def _alike(self, turns: list[_Turn]) -> bool:
        """Whether the same threads take every step of a group's roles, which are then one agent's."""
        threads = {turn.role.thread_count for turn in turns}
        return len(threads) == 1 and not any(
            n < max(threads)
            for turn in turns
            if len(turns) > 1
            for n in self._callers(turn.instance, turn.protocol.body, 0)
        )

    def _change(self, first: _Turn, second: _Turn, threads: int) -> NamedBarrier:
        """Where the second role of a group begins, of so many threads that arrive and wait."""
        return self.meeting((first.key, second.key), threads)

    def meeting(self, key: tuple[object, ...], threads: int) -> NamedBarrier:
        """Where threads wait for each other without a named barrier."""
        return NamedBarrier(self.meetings.setdefault(key, -1 - len(self.meetings)), threads)

    def _warps(self, turns: list[_Turn], at: int, cta: int, alike: bool) -> None:
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
        edges = sorted({0, threads, *(n for n in inner if n < threads)})
        lane = turn.name + (f", CTA {cta}" if self.ctas > 1 else "")
        for begin, end in itertools.pairwise(edges):
            part = "" if len(edges) == 2 else f", threads {begin}-{end - 1}" if end - begin > 1 else f", thread {begin}"
            agent = Agent(lane + part, turn.key, cta, first + begin, end - begin, role.location)
            agent.pc = self.system.counter()
            self.system.counter()
            self.system.agents.append(agent)
            writer = _Writer(self, agent, edges, begin, role)
            for number, one in enumerate(own, at):
                if number:
                    before = turns[number - 1]
                    writer.leave(before)
                    count = threads if alike else threads + before.role.thread_count
                    writer.turn("sync", self._change(before, one, count), one)
                writer.block(one.instance, one.protocol, one.role.name, one.protocol.body)
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
                    if verb == "call" and depth < _MAX_DEPTH:
                        yield from self._answer_callers(instance, step.subject, depth)
                case Repeat(count=count, body=body):
                    if count in self.by_name[instance].ports and depth < _MAX_DEPTH:
                        yield from self._answer_callers(instance, str(count), depth)
                    yield from self._callers(instance, body, depth)
                case Until(body=body) | Rank(body=body):
                    yield from self._callers(instance, body, depth)
                case Choose(ways=ways):
                    for way in ways:
                        yield from self._callers(instance, way, depth)
                case _:
                    pass

    def _answer_callers(self, instance: str, port: str, depth: int) -> Iterator[int]:
        found = self.answer(instance, port)
        if found is not None:
            yield from self._callers(found[0], self.protocol(*found).body, depth + 1)

    def answer(self, instance: str, port: str) -> tuple[str, str] | None:
        """The instance and port that answer a call."""
        for connect in self.resources.by_source.get((instance, port), ()):
            return connect.target.root, connect.target.leaf
        return None

    # -- counts

    def count(self, instance: str, text: str, at_least_once: bool) -> int | tuple[int, bool]:
        """A number, or the symbol that stands for it and whether a call decides it."""
        component, placed = self.by_name[instance], self.placed(instance)
        values: dict[str, int] = {}
        keys: dict[str, tuple[object, ...]] = {}
        shown: dict[str, str] = {}
        for name in count_names(text):
            if name.endswith(".stages"):
                values[name] = self._stages(instance, name.removesuffix(".stages"))
                continue
            port, param = component.ports.get(name), placed.params.get(name)
            if port is not None:
                keys[name] = self._call_key(instance, name)
            elif param is None:
                keys[name] = ("param", instance, name)
            elif param.value is not None:
                values[name] = int(param.value)
            else:
                keys[name] = ("field", param.field)
            shown[name] = name
        if not keys:
            try:
                number = max(count_value(text, values), 0)
            except LinkError:
                number = 0
            if number <= _EXACT:
                return number
            return self.symbol(("number", number), str(number), True), False
        if len(keys) == 1 and text in keys:
            found = self.symbol(keys[text], text, at_least_once)
            return found, text in component.ports
        spelled = re.sub(r"[A-Za-z_]\w*(\.stages)?", lambda m: str(keys.get(m[0], values.get(m[0], m[0]))), text)
        return self.symbol(("expression", spelled), text, at_least_once), False

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

    def symbol(self, key: tuple[object, ...], name: str, at_least_once: bool = False, ways: int = 0) -> int:
        if key not in self.symbols:
            self.symbols[key] = len(self.system.symbols)
            self.system.symbols.append(Symbol(name, ways=ways))
        found = self.system.symbols[self.symbols[key]]
        found.at_least_once |= at_least_once
        found.constant |= key[0] in ("field", "param", "number")
        found.value = int(name) if key[0] == "number" else -1
        return self.symbols[key]


class _Writer:
    """Code of one agent."""

    def __init__(self, compiler: _Compiler, agent: Agent, edges: list[int], begin: int, role: Role) -> None:
        self.compiler, self.agent, self.begin, self.role = compiler, agent, begin, role
        start = agent.first - begin
        #: The parts of the role, by their threads in the CTA.
        self.parts = [range(start + first, start + end) for first, end in itertools.pairwise(edges)]
        self.callers = role.thread_count  # the first threads of the role that take the steps of this call
        self.resources, self.system = compiler.resources, compiler.system
        self.index = self.system.agents.index(agent)
        self.ends: dict[tuple[str, str], Endpoint | None] = {}
        self.cursors: dict[int, Endpoint] = {}  # consumers by the ring positions of the frame
        self.locals: dict[tuple[str, str], tuple[Endpoint, Endpoint]] = {}
        self.untils: list[tuple[tuple[str, str], list[Take], int]] = []
        self.loops: list[int] = []  # counters of the loops around
        self.depth = 0

    def emit(self, step: T) -> T:
        if len(self.agent.code) > _MAX_CODE:
            raise ProtocolTooLong(self.agent.lane, self.agent.location)
        self.agent.code.append(step)
        return step

    @property
    def here(self) -> int:
        return len(self.agent.code)

    def block(self, instance: str, protocol: Protocol, of: str, block: Block) -> None:
        component = self.compiler.by_name[instance]
        where = place_of(component, of)
        text = component.protocols[of].text if of in component.protocols else None
        for step in block:
            location = where
            if text is not None:
                location = Location(where.file, where.line, step.column, re.sub(r"\s", " ", text))
            self.step(instance, component, protocol, of, step, location)

    def step(
        self, instance: str, component: Component, protocol: Protocol, of: str, step: Step, location: Location
    ) -> None:
        match step:
            case Action():
                if step.by is None or self.begin < step.by.threads:
                    begin, callers = self.here, self.callers
                    self.callers = callers if step.by is None else min(callers, step.by.threads)
                    self.action(instance, component, protocol, step)
                    self.callers = callers
                    for made in self.agent.code[begin:]:
                        if made.location is UNKNOWN:
                            made.location = location
                elif step.verb in ("release", "commit", "copy"):
                    self.given_by_others(instance, component, step)
            case Repeat(count=None, body=body):
                self.elastic(instance, protocol, of, body)
            case Repeat(count=str(count), body=body, at_least_once=least):
                self.repeat(instance, protocol, of, count, body, least, location)
            case Until(port=port, body=body):
                leave: list[Take] = []
                self.untils.append(((instance, port), leave, len(self.loops)))
                head = self.here
                self.block(instance, protocol, of, body)
                self.emit(ops.Jump(target=head))
                self.untils.pop()
                for one in leave:
                    one.leave = self.here
            case Choose(name=name, ways=ways):
                self.choose(instance, protocol, of, name, ways, step.column, location)
            case Rank(rank=rank, body=body):
                if rank == self.agent.cta:
                    self.block(instance, protocol, of, body)
            case _:
                pass

    # -- loops

    def repeat(
        self, instance: str, protocol: Protocol, of: str, count: str, body: Block, least: bool, location: Location
    ) -> None:
        found = self.compiler.count(instance, count, least)
        counter = self.system.counter()
        if isinstance(found, int):
            self.emit(ops.Count(counter=counter, count=found))
            head = self.here
            loop = self.emit(ops.CountDown(counter=counter))
        else:
            symbol, asked = found
            position = self.system.counter()
            assert position == counter + 1
            self.emit(ops.Begin(counter=counter, symbol=symbol))
            head = self.here
            if asked:
                self.call(instance, count)
            loop = self.emit(ops.Iterate(text=f"repeat {count}", counter=counter, symbol=symbol, location=location))
        self.loops.append(counter)
        self.block(instance, protocol, of, body)
        self.loops.pop()
        if self.agent.code[-1] is loop and self.here == head + 1:  # nothing is repeated
            del self.agent.code[head - 1 :]
            if isinstance(loop, ops.Iterate):
                self.emit(ops.Skip(symbol=loop.symbol))
            return
        self.emit(ops.Jump(target=head))
        loop.leave = self.here

    def elastic(self, instance: str, protocol: Protocol, of: str, body: Block) -> None:
        head = self.emit(ops.Elastic(text="iterate"))
        begin = self.here
        self.block(instance, protocol, of, body)
        if self.here == begin:  # it does nothing
            self.agent.code.pop()
            return
        first = self.agent.code[begin]
        head.driven = isinstance(first, Take) and not first.end.producer
        self.emit(ops.Jump(target=begin - 1))
        head.leave = self.agent.enough[begin - 1] = self.agent.enough[begin] = self.here

    def choose(
        self, instance: str, protocol: Protocol, of: str, name: str | None, ways: tuple[Block, ...], column: int,
        location: Location,
    ) -> None:  # fmt: skip
        key: tuple[object, ...]
        if name is None:
            key = ("choice", self.agent.role, self.agent.cta, instance, of, column)
        else:
            key = ("choice", name)
        symbol = self.compiler.symbol(key, name or "choose", ways=len(ways))
        symbol_ = self.system.symbols[symbol]
        symbol_.ways = max(symbol_.ways, len(ways))
        step = self.emit(ops.Branch(text=f"choose {name}" if name else "choose", symbol=symbol, location=location))
        targets: list[int] = []
        leaves: list[ops.Jump] = []
        for way in ways:
            targets.append(self.here)
            self.block(instance, protocol, of, way)
            leaves.append(self.emit(ops.Jump()))
        step.ways = tuple(targets)
        for leave in leaves:
            leave.target = self.here

    def call(self, instance: str, port: str) -> None:
        found = self.compiler.answer(instance, port)
        if found is None or self.depth > _MAX_DEPTH:
            return
        self.depth += 1
        protocol = self.compiler.protocol(*found)
        untils, self.untils = self.untils, []
        self.block(found[0], protocol, found[1], protocol.body)
        self.untils = untils
        self.depth -= 1

    # -- actions

    def action(self, instance: str, component: Component, protocol: Protocol, action: Action) -> None:
        name = action.subject
        label = name if instance == self.agent.role.split("::")[0] else f"{instance}.{name}"
        port = component.ports.get(name)
        if port is None:
            self.resource(instance, component, action, label)
        elif port.kind == "call":
            self.call(instance, name)
        elif port.direction == "local":
            self.local(instance, port, action, label)
        elif port.kind in ("stream", "token"):
            self.transfer(instance, port, protocol, action, label)

    def given_by_others(self, instance: str, component: Component, action: Action) -> None:
        """Some threads give a slot on for the whole role: these here no longer hold it either."""
        port = component.ports.get(action.subject)
        if port is None or port.kind != "stream" or port.direction == "local":
            return
        end = self.end(instance, port)
        if end is not None:
            self.emit(ops.Give(text=f"{action.verb} {end.port.label}", end=end, keep=action.keep))

    def end(self, instance: str, port: Port) -> Endpoint | None:
        """The end of a stream or token that this agent has; None where it is not connected."""
        key = (instance, port.name)
        if key not in self.ends:
            own = instance == self.agent.role.partition("::")[0]
            label = port.name if own else f"{instance}.{port.name}"
            connect = self.resources.by_target.get(key)
            placed = placement_of(connect) if connect is not None else None
            cursor = placed.consumer_cursor if isinstance(placed, RingPlacement) else -1
            before = self.cursors.get(cursor)  # of one exclusive group: its consumers go on where the last one was
            end = self.ends[key] = self.resources.endpoint(self.index, instance, port.name, label, before)
            if end is not None and cursor >= 0:
                self.cursors[cursor] = end
        return self.ends[key]

    def resource(self, instance: str, component: Component, action: Action, label: str) -> None:
        name = action.subject
        if name in component.mbarriers:
            end = self.resources.own_mbarrier(self.index, instance, name, label, action.verb == "arrive")
            if action.verb == "wait":
                self.emit(Take(text=f"{action.verb} {label}", end=end))
                return
            signals = self.resources.own_arrivals(end, action)
            self.emit(ops.Give(text=f"{action.verb} {label}", end=end, signals=signals))
            return
        if name in component.barriers:
            barrier = self.compiler.placed(instance).barriers[name]
            part = self.callers % 32
            self.meet(
                action.verb, barrier, f"@{instance}::@{name}", label, component.barriers[name].location, bool(part)
            )  # fmt: skip
            return
        place = self.resources.buffer(self.agent, instance, name)
        if place is not None:
            self.emit(ops.Touch(text=f"{action.verb} {label}", place=place, write=action.verb == "write"))

    def leave(self, turn: _Turn) -> None:
        """A role that ends its turn holds no slot of a ring in which another reads on, which would not know of it."""
        where = place_of(self.compiler.by_name[turn.instance], turn.role.name)
        for cursor, end in self.cursors.items():
            if self.resources.readers_at[cursor] > 1:
                self.emit(ops.EndTurn(text=f"end of the turn of {turn.name}", end=end, location=where))

    def turn(self, verb: str, change: NamedBarrier, turn: _Turn) -> None:
        self.meet(verb, change, turn.name, f"the turn of {turn.name}", turn.role.location)

    def meet(
        self, verb: str, placed: NamedBarrier, name: str, label: str, location: Location, partial: bool = False
    ) -> None:
        number = self.resources.barrier_of_threads(self.index, placed, name, location)
        text, waits = f"{verb} {label}", verb == "sync"
        self.emit(ops.Meet(text=text, named=number, threads=placed.threads, waits=waits, partial=partial))

    def transfer(self, instance: str, port: Port, protocol: Protocol, action: Action, label: str) -> None:
        key, end = (instance, port.name), self.end(instance, port)
        if end is None:
            return
        stated, one = protocol.stated, self.role.one_thread
        text = f"{action.verb} {label}"
        match action.verb:
            case "acquire" | "wait" | "take":
                expect = self.resources.expects(end, action, stated, one)
                step = self.emit(Take(text=text, end=end, expect=expect))
                for until, leave, loops in reversed(self.untils):
                    if until == key:
                        leave.append(step)
                        step.clears = tuple(self.loops[loops:])
                        step.signals = self.mark_release(end, protocol, port.name, stated, one)
                        break
            case "read" | "write":
                self.emit(ops.Hold(text=text, end=end))
            case "end":
                self.emit(ops.End(text=text, end=end, signals=self.resources.signals(end, action, stated, one)))
            case _:
                signals = self.resources.signals(end, action, stated, one)
                staged = placement_of(self.resources.by_source[key][0]) if end.producer else None
                barrier = staged.barrier if isinstance(staged, RingPlacement) else None
                name, staging = f"@{instance}::@{port.name} staging", f"{label} (staging)"
                met = self.gather(end, action, text, port.location)
                if barrier is not None:
                    self.meet("sync", barrier, name, staging, port.location)
                self.emit(
                    ops.Give(text=text, end=end, keep=action.keep, some=action.some, signals=signals, touched=met)
                )
                if barrier is not None:
                    self.meet("sync", barrier, name, staging, port.location)

    def gather(self, end: Endpoint, action: Action, text: str, location: Location) -> bool:
        """Let the parts of a warp or warpgroup meet before one thread arrives for it, where not each part arrives."""
        begin = self.here
        taking = [part for part in self.parts if part.start < self.parts[0].start + self.callers]
        for size, skews in self.resources.units(end, action).items():
            for unit in sorted({self.agent.first // size, (self.agent.first + self.agent.threads - 1) // size}):
                inside = [part for part in taking if part.start < (unit + 1) * size and part.stop > unit * size]
                if len(inside) > 1 and any(not leaders(part, size, skew) for part in inside for skew in skews):
                    key = (self.agent.role, end.port.reference, size, unit)
                    place = self.compiler.meeting(key, sum(map(len, inside)))
                    what = f"{text}: its {'warp' if size == WARP_THREADS else 'warpgroup'}"
                    if self.here == begin:
                        self.emit(ops.Finish(text=text, end=end, keep=action.keep))
                    self.meet("sync", place, end.port.reference, what, location)
        return self.here > begin

    def mark_release(self, end: Endpoint, protocol: Protocol, port: str, stated: bool, one: bool) -> list[list[Signal]]:
        """Arrivals of a slot that turned out to be the end mark: it is released as other slots are."""
        found = [a for a in actions_of(protocol.body) if (a.subject, a.verb) == (port, "release")]
        release = found[0] if found else Action(port, "release")
        if release.by is not None and self.begin >= release.by.threads:
            return []
        return self.resources.signals(end, release, stated, one)

    def local(self, instance: str, port: Port, action: Action, label: str) -> None:
        key = (instance, port.name)
        placed = self.compiler.placed(instance).locals[port.name]
        if key not in self.locals:
            self.locals[key] = self._local_ends(instance, port, placed, label)
        fill, read = self.locals[key]
        text = f"{action.verb} {label}"
        match action.verb:
            case "acquire":
                self.emit(ops.LocalAcquire(text=text, end=fill, partner=read))
            case "commit":
                self.emit(ops.LocalCommit(text=text, end=fill, partner=read, keep=action.keep))
            case "wait":
                self.meet("sync", placed.barrier, f"@{instance}::@{port.name}", f"{label} (wait)", port.location)
                self.emit(ops.LocalWait(text=text, end=read, partner=fill))
            case "release":
                self.emit(ops.LocalRelease(text=text, end=read, partner=fill, keep=action.keep))
            case _:
                self.emit(ops.Hold(text=text, end=fill if action.verb == "write" else read))

    def _local_ends(self, instance: str, port: Port, placed: LocalRing, label: str) -> tuple[Endpoint, Endpoint]:
        counter, stages = self.system.counter, placed.stages
        slots = self.resources.slots(self.agent.cta, (instance, port.name), port, placed)
        name = PortName(label, f"@{instance}::@{port.name}")
        ends: list[Endpoint] = []
        for producer in (True, False):
            end = Endpoint(
                name, self.index, producer, self.resources.ring(name.reference), stages,
                counter(), counter(), counter(), 0, location=port.location,
            )  # fmt: skip
            self.agent.endpoints.append(end)
            end.marks = [counter() for _ in slots] if producer else []
            self.resources.touches[id(end)] = [[(slot, producer)] for slot in slots]
            ends.append(end)
        self.resources.group([(c, stages) for end in ends for c in (end.cursor, end.done)])
        return ends[0], ends[1]


class ProtocolTooLong(Exception):
    """A protocol with its calls inlined is longer than is followed."""

    def __init__(self, lane: str, location: Location) -> None:
        super().__init__(lane)
        self.lane, self.location = lane, location


__all__ = ["Compiled", "ProtocolTooLong", "Signal", "compile_kernel"]
