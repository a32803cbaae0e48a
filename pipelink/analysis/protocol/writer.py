"""Writes the code of one agent: the steps of its role's protocol that it takes, and of the answers to its calls."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pipelink.analysis.protocol import program as ops
from pipelink.analysis.protocol.counts import Loop
from pipelink.analysis.protocol.dispatch import write_operation
from pipelink.analysis.protocol.language import actions_of, owner_of, place_of
from pipelink.analysis.protocol.program import Agent, Endpoint, Operation, PortName, Take
from pipelink.analysis.protocol.resources import leaders
from pipelink.ir.placement import LocalRing, NamedBarrier, RingPlacement
from pipelink.ir.views import Component, Port, Role
from pipelink.support import limits
from pipelink.support.diagnostics import UNKNOWN, Location
from pipelink.support.protocol import Action, Block, Choose, Protocol, Rank, Repeat, Step, Until
from pipelink.support.protocol_text import place_in
from pipelink.target import WARP_THREADS
from pipelink.transfers import placement_of
from pipelink.transfers.turns import WARPGROUP

if TYPE_CHECKING:
    from pipelink.analysis.protocol.compile import Compiler, Turn

T = TypeVar("T", bound=Operation)

_MOST_COPIES = 8


@dataclass(frozen=True)
class Named:
    """A loop by a symbol alone; ``asked``: by a call."""

    symbol: int
    asked: bool = False


class ProtocolTooLong(Exception):
    """A protocol with its calls inlined is longer than is followed."""

    def __init__(self, lane: str, location: Location) -> None:
        super().__init__(lane)
        self.lane, self.location = lane, location


class Writer:
    """Code of one agent."""

    def __init__(self, compiler: Compiler, agent: Agent, edges: list[int], begin: int, role: Role) -> None:
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
        #: Of each loop around until a port ends: the steps that leave it, and what is done then.
        self.untils: list[tuple[tuple[str, str], list[tuple[Take, Callable[[], None] | None]], int]] = []
        self.loops: list[int] = []  # counters of the loops around
        self.joined: dict[tuple[int, int], int] = {}  # (symbol, rounds made) -> counter of a loop that goes on later
        self.depth = 0
        self.warpgroup = 0  # the agent's, in a role whose warpgroups take turns
        self.apart = False  # some threads of the role wait for something by themselves
        self.copies = 1  # of the code that is written, in the loops of sums

    def emit(self, step: T) -> T:
        if len(self.agent.code) > limits.ROLE_STEPS:
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
        for number, step in enumerate(block):
            location = where
            if text is not None:
                location = place_in(text, step.column, where)
            stays = isinstance(step, Repeat) and self.goes_on(instance, step, block[number + 1 :])
            self.step(instance, component, protocol, of, step, stays, location)

    def step(
        self, instance: str, component: Component, protocol: Protocol, of: str, step: Step, stays: bool,
        location: Location,
    ) -> None:  # fmt: skip
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
                inner = partial(self.block, instance, protocol, of, body)
                self.repeat(instance, count, least, stays, inner, location)
            case Until():
                self.until(instance, protocol, of, step, location)
            case Choose(name=name, ways=ways):
                self.choose(instance, protocol, of, name, ways, step.column, location)
            case Rank(rank=rank, body=body):
                if rank == self.agent.cta:
                    self.block(instance, protocol, of, body)
            case _:
                pass

    # -- loops

    def until(self, instance: str, protocol: Protocol, of: str, step: Until, location: Location) -> None:
        leave: list[tuple[Take, Callable[[], None] | None]] = []
        self.untils.append(((instance, step.port), leave, len(self.loops)))
        head = self.here
        self.block(instance, protocol, of, step.body)
        self.untils.pop()
        if not leave:  # others find the end; how often these here go round is not followed
            idle = self.here == head
            del self.agent.code[head:]
            if not idle:
                key = ("until", self.agent.role, self.agent.cta, instance, of, step.column)
                symbol, body = self.compiler.symbol(key, f"until {step.port}"), step.body
                inner = partial(self.block, instance, protocol, of, body)
                self.named(symbol, f"until {step.port}", None, inner, location)
            return
        self.emit(ops.Jump(target=head))
        jumps: list[ops.Jump] = []
        for take, gives in leave:
            if gives is not None:
                take.leave = self.here
                gives()
                jumps.append(self.emit(ops.Jump()))
        for jump in jumps:
            jump.target = self.here
        for take, gives in leave:
            if gives is None:
                take.leave = self.here

    def repeat(
        self, instance: str, count: str, least: bool, stays: bool, body: Callable[[], None], location: Location
    ) -> None:
        match self.compiler.count(self.agent.cta, instance, count, least):
            case int(number):
                self.counted(number, body, location)
            case Named(symbol=symbol, asked=asked):
                self.named(
                    symbol, f"repeat {count}", (lambda: self.call(instance, count)) if asked else None, body, location
                )
            case loops:
                if self.copies * len(loops) > _MOST_COPIES:
                    loops = self.compiler.whole(instance, count, least)
                self.copies *= len(loops)
                for loop in loops:
                    self.launched(loop, f"repeat {count}", stays, body, location)
                self.copies //= len(loops)

    def goes_on(self, instance: str, step: Repeat, later: Block) -> bool:
        """Whether a loop of the first rounds is followed by one of the others: min(n, 4), then n - 4."""
        if step.count is None or "min" not in step.count:
            return False
        match self.compiler.count(self.agent.cta, instance, step.count, step.at_least_once):
            case [Loop(names=names, times=1, skipped=skipped, limit=int(limit))]:
                rest = Loop(names, 0, 1, skipped + limit)
                counts = (other.count for other in later if isinstance(other, Repeat))
                return any(
                    count is not None and self.compiler.count(self.agent.cta, instance, count, False) == [rest]
                    for count in counts
                )
            case _:
                return False

    def counted(self, number: int, body: Callable[[], None], location: Location) -> None:
        begin, counter = self.here, self.system.counter()
        self.emit(ops.Count(counter=counter, count=number))
        loop = self.emit(ops.CountDown(counter=counter, location=location))
        if self.inside(begin + 1, [counter], body):
            loop.leave = self.here
        else:
            del self.agent.code[begin:]

    def named(
        self, symbol: int, text: str, asks: Callable[[], None] | None, body: Callable[[], None], location: Location
    ) -> None:
        """A loop by a name of which nothing is known but who else repeats by it."""
        begin, counter = self.here, self.pair()
        self.emit(ops.Begin(counter=counter, symbol=symbol))
        if asks is not None:
            asks()
        asked = self.here > begin + 1
        loop = self.emit(ops.Iterate(text=text, counter=counter, symbol=symbol, location=location))
        if self.inside(begin + 1, [counter], body) or asked:
            loop.leave = self.here
        else:
            del self.agent.code[begin:]
            self.emit(ops.Skip(symbol=symbol))

    def launched(self, loop: Loop, text: str, stays: bool, body: Callable[[], None], location: Location) -> None:
        """A loop that what is known at launch counts: a loop by each of its names within the one before, of which the
        first rounds are left out and no more than the first are made.  ``stays``: a later one goes on with it."""
        if not loop.names:
            self.counted(loop.times, body, location)
            return
        outer, *inner = loop.names
        symbol, begin = self.compiler.name(outer, loop.least), self.here
        start, rest = divmod(loop.skipped, loop.times) if not inner else (0, 0)
        joined = self.joined.pop((symbol, start), None) if loop.limit is None and not rest else None
        if joined is not None:
            self.loops.pop()
        counter = self.pair() if joined is None else joined
        rounds, limit = self.system.counter(), self.system.counter()
        several = loop.times > 1 and not inner
        if several:
            self.emit(ops.Count(counter=rounds, count=loop.times - rest))
        if loop.limit is not None:
            self.emit(ops.Count(counter=limit, count=loop.limit))
        if joined is None:
            self.emit(ops.Begin(counter=counter, symbol=symbol, start=start))
        head = self.here
        enough = self.emit(ops.CountDown(counter=limit)) if loop.limit is not None else None
        whole = self.emit(ops.Iterate(text=text, counter=counter, symbol=symbol, location=location))
        again = self.emit(ops.CountDown(counter=rounds)) if several else None
        if inner:
            body = partial(self.launched, replace(loop, names=tuple(inner)), text, False, body, location)
        if not self.inside(head if again is None else self.here - 1, [counter, rounds, limit], body):
            del self.agent.code[begin:]
            if joined is not None:
                self.emit(ops.Leave(counter=counter))
            return
        if again is not None:
            again.leave = self.here
            self.emit(ops.Count(counter=rounds, count=loop.times))
            self.emit(ops.Jump(target=head))
        whole.leave = self.here
        if enough is not None and loop.limit is not None:
            self.emit(ops.Count(counter=limit, count=0))
            enough.leave = self.here
            if stays:
                whole.stays = True
                self.joined[symbol, start + loop.limit] = counter
                self.loops.append(counter)
            else:
                self.emit(ops.Leave(counter=counter))

    def inside(self, head: int, counters: list[int], body: Callable[[], None]) -> bool:
        """The body of a loop, and back to its head; whether it does anything."""
        begin = self.here
        self.loops += counters
        body()
        del self.loops[-len(counters) :]
        if self.here == begin:
            return False
        self.emit(ops.Jump(target=head))
        return True

    def pair(self) -> int:
        """Two counters, one behind the other."""
        first = self.system.counter()
        self.system.counter()
        return first

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
        begin = self.here
        if name is None:  # warpgroups that take turns go each its own way
            key = ("choice", self.agent.role, self.agent.cta, self.warpgroup, instance, of, column)
        else:
            owner = owner_of(self.compiler.by_name[instance], name)
            key = ("choice", *owner, *self.compiler.told(self.agent.cta))
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
        if name is None and self.here == begin + 1 + len(ways):  # nothing is done on any way
            del self.agent.code[begin:]
            return
        step.ways = tuple(targets)
        for leave in leaves:
            leave.target = self.here

    def call(self, instance: str, port: str) -> None:
        found = self.compiler.answer(instance, port)
        if found is None:
            return
        if self.depth >= limits.CALLS:
            raise ProtocolTooLong(self.agent.lane, self.agent.location)
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
            made = self.resources.by_source.get(key)
            filled = placement_of(made[0]) if made else None
            if connect is None and isinstance(filled, RingPlacement) and filled.lease is not None:
                cursor = filled.producer_cursor  # of several operations: each goes on where the last one was
            before = self.cursors.get(cursor)  # of one exclusive group: its consumers go on where the last one was
            end = self.ends[key] = self.resources.endpoint(self.index, instance, port.name, label, before)
            if end is not None and cursor >= 0:
                self.cursors[cursor] = end
        return self.ends[key]

    def resource(self, instance: str, component: Component, action: Action, label: str) -> None:
        name = action.subject
        if name in component.cluster_barriers:
            self.cluster_meet(instance, component, name, label)
            return
        if name in component.turns:
            self.order(action.verb, instance, name, label)
            return
        if name in component.dispatches:
            write_operation(self, instance, component, action)
            return
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
            part = self.callers % WARP_THREADS
            self.meet(
                action.verb, barrier, f"@{instance}::@{name}", label, component.barriers[name].location, bool(part)
            )  # fmt: skip
            return
        verb, text = action.verb, f"{action.verb} {label}"
        if verb.startswith("peer_"):
            write = verb == "peer_write"
            places = self.resources.peers(instance, name, write)
            if places:
                self.emit(ops.Touch(text=text, places=places, write=write, peers=True))
            return
        place = self.resources.buffer(self.agent.cta, instance, name)
        if place is not None:  # copies out of it read until they were waited for
            self.emit(ops.Touch(text=text, places=(place,), write=verb == "write", waits=verb == "stored"))

    def cluster_meet(self, instance: str, component: Component, name: str, label: str) -> None:
        """Meet the threads of the role in every CTA of the cluster.  They arrive at an mbarrier of each CTA and wait at
        their own; that amounts to a round of all of them, as docs/protocols.md shows."""
        reference, ctas = f"@{instance}::@{name}", self.resources.cluster
        place = self.compiler.meeting(("cluster", reference), self.role.thread_count * ctas)
        where = component.cluster_barriers[name].location
        self.meet("sync", place, reference, label, where, cluster=True)

    def orders(self, verb: str, orders: tuple[tuple[str, str], ...]) -> None:
        """What the linker adds where a role whose warpgroups take turns begins, and where it ends: the last one makes
        the first turn, and the first one takes the last."""
        taking = (
            range(self.role.thread_count - WARPGROUP, self.role.thread_count) if verb == "begin" else range(WARPGROUP)
        )
        for instance, name in orders if self.begin in taking else ():
            self.order(verb, instance, name, name)

    def order(self, verb: str, instance: str, name: str, label: str) -> None:
        """A warpgroup waits for its turn at its own barrier, and passes it on at that of the next."""
        placed, waits = self.compiler.placed(instance).turns[name], verb in ("take", "end")
        barrier = placed[(self.begin // WARPGROUP + (not waits)) % len(placed)]
        where = self.compiler.by_name[instance].turns[name].location
        number = self.resources.barrier_of_threads(self.index, barrier, f"@{instance}::@{name}", where)
        self.system.named[number].turns = True
        step = self.emit(
            ops.Meet(
                text=f"{verb} {label}", named=number, threads=barrier.threads, waits=waits,
                partial=bool(self.callers % WARP_THREADS),
            )
        )  # fmt: skip
        if verb in ("begin", "end"):
            step.location = where

    def leave(self, turn: Turn) -> None:
        """A role that ends its turn holds no slot of a ring in which another reads on, which would not know of it."""
        where = place_of(self.compiler.by_name[turn.instance], turn.role.name)
        for cursor, end in self.cursors.items():
            if self.resources.readers_at[cursor] > 1:
                self.emit(ops.EndTurn(text=f"end of the turn of {turn.name}", end=end, location=where))

    def turn(self, verb: str, change: NamedBarrier, turn: Turn) -> None:
        self.meet(verb, change, turn.name, f"the turn of {turn.name}", turn.role.location)

    def meet(
        self, verb: str, placed: NamedBarrier, name: str, label: str, location: Location, partial: bool = False, *,
        cluster: bool = False,
    ) -> None:  # fmt: skip
        number = self.resources.barrier_of_threads(self.index, placed, name, location, cluster=cluster)
        text, waits = f"{verb} {label}", verb == "sync"
        self.emit(ops.Meet(text=text, named=number, threads=placed.threads, waits=waits, partial=partial))

    def transfer(self, instance: str, port: Port, protocol: Protocol, action: Action, label: str) -> None:
        key, end = (instance, port.name), self.end(instance, port)
        if end is None:
            return
        text = f"{action.verb} {label}"
        match action.verb:
            case "acquire" | "wait" | "take":
                expect = self.resources.expects(end)
                step = self.emit(Take(text=text, end=end, expect=expect))
                for until, leave, loops in reversed(self.untils):
                    if until == key:
                        step.clears = tuple(self.loops[loops:])
                        leave.append((step, self.mark_release(step, protocol, port)))
                        break
            case "read" | "write":
                self.emit(ops.Hold(text=text, end=end))
            case "end":
                step = self.emit(ops.End(text=text, end=end))
                gives = self.mark_given(step, action, port)
                if gives is not None:
                    gives()
            case _:
                signals = self.resources.signals(end, action)
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
        meetings = self.meetings(end, action)
        if meetings:
            self.emit(ops.Finish(text=text, end=end, keep=action.keep))
            self.meet_all(meetings, end, text, location)
        return bool(meetings)

    def meetings(self, end: Endpoint, action: Action) -> list[tuple[int, int, int]]:
        """The units that meet before a give of this action: their size, number and threads that come."""
        found: list[tuple[int, int, int]] = []
        taking = [part for part in self.parts if part.start < self.parts[0].start + self.callers]
        for size, skews in self.resources.units(end, action).items():
            if size > WARP_THREADS and self.apart:
                continue  # warps that wait by themselves are where the others are not
            for unit in sorted({self.agent.first // size, (self.agent.first + self.agent.threads - 1) // size}):
                inside = [part for part in taking if part.start < (unit + 1) * size and part.stop > unit * size]
                if len(inside) > 1 and any(not leaders(part, size, skew) for part in inside for skew in skews):
                    found.append((size, unit, sum(map(len, inside))))
        return found

    def meet_all(
        self, meetings: list[tuple[int, int, int]], end: Endpoint, text: str, location: Location
    ) -> None:  # fmt: skip
        for size, unit, threads in meetings:
            place = self.compiler.meeting((self.agent.role, end.port.reference, size, unit), threads)
            what = f"{text}: its {'warp' if size == WARP_THREADS else 'warpgroup'}"
            self.meet("sync", place, end.port.reference, what, location)

    def mark_release(self, take: Take, protocol: Protocol, port: Port) -> Callable[[], None] | None:
        """A slot that turned out to be the end mark is released as other slots are."""
        found = [a for a in actions_of(protocol.body) if (a.subject, a.verb) == (port.name, "release")]
        release = found[0] if found else Action(port.name, "release")
        if release.by is not None and self.begin >= release.by.threads:
            return None
        return self.mark_given(take, release, port)

    def mark_given(self, step: Take | ops.End, action: Action, port: Port) -> Callable[[], None] | None:
        """Let the slot of an end mark be given on: by the step itself; or by what is returned, where parts of a unit
        meet before."""
        callers = self.callers if action.by is None else min(self.callers, action.by.threads)
        signals, before, self.callers = self.resources.signals(step.end, action), self.callers, callers
        meetings = self.meetings(step.end, action)
        self.callers = before
        if not meetings:
            step.signals = signals
            return None

        def give() -> None:
            self.meet_all(meetings, step.end, step.text, port.location)
            self.emit(ops.GiveMark(text=f"{step.text} (end)", end=step.end, signals=signals))

        return give

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
