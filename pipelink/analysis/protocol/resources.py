"""What the agents of a placed kernel share: mbarriers, slots, buffers, named barriers, the ends of rings and tokens.

Reads what ``place`` wrote; a connection's transfer says for each end which mbarrier it waits for and where it arrives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pipelink.analysis.protocol.places import accesses, overlaps
from pipelink.analysis.protocol.program import Agent, Barrier, Endpoint, Named, Place, PortName, Signal, System, Touch
from pipelink.analysis.protocol.regular import regular
from pipelink.ir.placement import (
    InstancePlacement,
    KernelPlacement,
    LocalRing,
    NamedBarrier,
    RingPlacement,
    TokenPlacement,
)
from pipelink.ir.views import Component, Connect, Kernel, Port
from pipelink.support.diagnostics import Location
from pipelink.support.protocol import UNIT_THREADS, Action
from pipelink.target import MBARRIER_BYTES
from pipelink.transfers import placement_of, transfer_of
from pipelink.transfers.base import Arrival
from pipelink.transfers.binder import placed_instance
from pipelink.transfers.stream import columns_of
from pipelink.transfers.touch import COMMIT, TX

Part = tuple[int, bool]  # a place that is touched, and whether it is written


class Resources:
    """The shared things of one system, made when they are first named."""

    def __init__(
        self, kernel: Kernel, components: Mapping[str, Component], placement: KernelPlacement, ctas: int, cluster: int
    ) -> None:
        """``ctas`` share tiles; ``cluster`` are all that reach into each other, in whatever way."""
        self.kernel, self.cluster = kernel, cluster
        self.components = {name: components[i.component] for name, i in kernel.instances.items()}
        self.ctas = ctas
        self.system = System(kernel.name)
        self.by_source: dict[tuple[str, str], list[Connect]] = {}
        self.by_target: dict[tuple[str, str], Connect] = {}
        for connect in kernel.connects:
            self.by_source.setdefault((connect.source.root, connect.source.leaf), []).append(connect)
            self.by_target[connect.target.root, connect.target.leaf] = connect
        rings = (placement_of(connect) for connect in kernel.connects)
        self.readers_at = Counter(ring.consumer_cursor for ring in rings if isinstance(ring, RingPlacement))
        self.initialised: dict[int, int] = {}  # address -> arrivals
        for group in placement.mbarriers:
            for index in range(group.count):
                self.initialised[group.address + MBARRIER_BYTES * index] = group.arrivals
        self.rings: dict[str, int] = {}
        self.barriers: dict[tuple[int, int], int] = {}
        self.places: dict[tuple[object, ...], int] = {}
        self.named: dict[tuple[int, int], int] = {}
        self.marks: dict[tuple[int, int], int] = {}  # (CTA, address of a word) -> counter
        self.touches: dict[int, list[list[Part]]] = {}  # of an endpoint, by slot
        self.staging: dict[int, tuple[list[Part], list[Part]]] = {}  # of a conversion: at the take; at the commit
        self.links: list[tuple[int, int]] = []  # counters that are counted from one base, with their steps
        self.grouped: dict[int, list[tuple[int, int]]] = {}

    # -- things

    def ring(self, reference: str) -> int:
        """The number of the ring, token or mbarrier that is named so."""
        return self.rings.setdefault(reference, len(self.rings))

    def barrier(self, cta: int, address: int, name: str, location: Location) -> int:
        key = (cta, address)
        if key not in self.barriers:
            system = self.system
            phase = system.counter()
            for _ in range(3):
                system.counter()
            self.barriers[key] = len(system.barriers)
            expected = self.initialised.get(address, 0)
            where = f"{name} of CTA {cta}" if max(self.ctas, self.cluster) > 1 else name
            system.barriers.append(Barrier(where, expected, phase, address=address, location=location))
        return self.barriers[key]

    def place(self, key: tuple[object, ...], name: str, owner: str, ranges: list[tuple[str, int, int]]) -> int:
        if key not in self.places:
            self.places[key] = len(self.system.places)
            self.system.places.append(Place(name, tuple(ranges), owner))
        return self.places[key]

    def instance(self, name: str) -> InstancePlacement:
        return placed_instance(self.kernel.instances[name])

    def barrier_of_threads(
        self, agent: int, placed: NamedBarrier, name: str, location: Location, *, cluster: bool = False
    ) -> int:
        """A named barrier of a CTA, or another meeting of its threads or those of a ``cluster``, by its number."""
        key = (-1 if cluster else self.system.agents[agent].cta, placed.id)
        if key not in self.named:
            state = self.system.counter()
            self.system.counter()
            self.named[key] = len(self.system.named)
            self.system.named.append(Named(placed.id, placed.threads, state, location=location, cluster=cluster))
        found = self.system.named[self.named[key]]
        if agent not in found.users:
            found.users.append(agent)
        if name not in found.names:
            found.names.append(name)
        return self.named[key]

    def buffer(self, cta: int, instance: str, name: str) -> int | None:
        """A component's own shared or tensor memory."""
        placed, component = self.instance(instance), self.components[instance]
        if name in placed.smem and name in component.smem:
            at = placed.smem[name]
            ranges = [(f"smem{cta}", at, at + component.smem[name].bytes)]
        elif name in placed.tmem and name in component.tmem:
            at = placed.tmem[name]
            ranges = [(f"tmem{cta}", at, at + component.tmem[name].columns)]
        else:
            return None
        found = self.place(("buffer", cta, instance, name), name, f"@{instance}::@{name}", ranges)
        if self.system.places[found].written < 0:
            self.system.places[found].private = not self.meets(component)
            self.system.places[found].written = self.system.counter()
        return found

    def peers(self, instance: str, name: str, write: bool) -> tuple[int, ...]:
        """Such a buffer in each CTA of the cluster, as all of them reach it.  What they write is a place over the
        buffer, which holds something as soon as any of them has written there."""
        found: list[int] = []
        for cta in range(self.cluster):
            own = self.buffer(cta, instance, name)
            if own is None:
                return ()
            place = self.system.places[own]
            place.private = False
            if not write:
                found.append(own)
                continue
            at = self.place(("peers", cta, instance, name), place.name, place.owner, list(place.ranges))
            self.system.places[at].peers, self.system.places[at].written = True, place.written
            found.append(at)
        return tuple(found)

    @staticmethod
    def meets(component: Component) -> bool:
        """Whether a component's threads can wait for each other: only then can one read what another wrote."""
        return bool(component.barriers or component.cluster_barriers or component.turns)

    def slots(self, cta: int, key: tuple[str, str], port: Port, placed: RingPlacement | LocalRing) -> list[int]:
        """The places of a ring's slots."""
        found: list[int] = []
        if isinstance(placed, RingPlacement) and placed.lease is not None:
            owner, _, name = placed.lease.partition("::")
            pages, size = self.instance(owner).leases[name], self.components[owner].leases[name].page_bytes
            for page in range(pages.pages):
                begin = pages.address + page * pages.stride
                where, spelled = [(f"smem{cta}", begin, begin + size)], f"@{owner}::@{name}"
                found.append(self.place((cta, placed.lease, page), f"{name}[{page}]", spelled, where))
            return found
        columns = placed.columns if isinstance(placed, RingPlacement) else ()
        for slot in range(placed.stages):
            ranges = [
                (f"smem{cta}", part.address + slot * part.stride, part.address + slot * part.stride + part.bytes)
                for part in placed.buffers
            ]
            ranges += [
                (f"tmem{cta}", part.column + slot * part.stride, part.column + slot * part.stride + width)
                for part, width in zip(columns, map(columns_of, port.tiles), strict=False)
            ]
            found.append(self.place((cta, *key, slot), f"{key[1]}[{slot}]", f"@{key[0]}::@{key[1]}", ranges))
        return found

    # -- ends

    def endpoint(
        self, index: int, instance: str, name: str, label: str, before: Endpoint | None = None
    ) -> Endpoint | None:
        """The end of a connected stream or token port that an agent uses; None where it is not placed.  ``before`` is
        another end of the agent, which goes through the same slots."""
        component = self.components[instance]
        port = component.ports[name]
        agent = self.system.agents[index]
        producer = port.direction == "out"
        connects = self.by_source.get((instance, name), [])
        connect = connects[0] if producer and connects else self.by_target.get((instance, name))
        placed = placement_of(connect) if connect is not None else None
        if connect is None or placed is None:
            return None
        transfer, counter = transfer_of(connect), self.system.counter
        lease = placed.lease if isinstance(placed, RingPlacement) else None
        ring = self.ring(lease or str(connect.source))
        counters = (counter(), counter(), counter())
        if before is not None and before.ring == ring:
            counters = (before.cursor, before.done, before.ended)
        end = Endpoint(
            PortName(label, f"@{instance}::@{name}"), index, producer, ring, transfer.depth(placed), *counters,
            -1 if producer else 0, location=port.location,
        )  # fmt: skip
        agent.endpoints.append(end)
        if isinstance(placed, TokenPlacement):
            self._token(end, agent, connect, placed)
        elif isinstance(placed, RingPlacement):
            self._ring(end, agent, connect, placed)
        return end

    def _token(self, end: Endpoint, agent: Agent, connect: Connect, placed: TokenPlacement) -> None:
        end.token = True
        barrier = self.barrier(agent.cta, placed.full, f"token {connect.source}", connect.location)
        if not end.producer:
            end.offset = -placed.initial
            end.watch = [barrier]
            self.system.barriers[barrier].takers.append(end)
            self._wait(end, agent)
        self.group([*self._barrier_counters([barrier]), (self._progress(end), 1)])

    def own_mbarrier(self, index: int, instance: str, name: str, label: str, arrives: bool) -> Endpoint:
        """An agent's end of an mbarrier of its component's own: the n-th step is at the n-th of them, in turn."""
        agent, component = self.system.agents[index], self.components[instance]
        for end in agent.endpoints:
            if end.port.reference == f"@{instance}::@{name}" and end.producer is arrives:
                return end
        declared, counter = component.mbarriers[name], self.system.counter
        port = PortName(label, f"@{instance}::@{name}")
        end = Endpoint(
            port, index, arrives, self.ring(port.reference), declared.count,
            counter(), counter(), counter(), 0, token=True, own=True, location=declared.location,
        )  # fmt: skip
        agent.endpoints.append(end)
        at = self.instance(instance).mbarriers[name]
        barriers = [
            self.barrier(agent.cta, at + MBARRIER_BYTES * slot, f"@{instance}::@{name}[{slot}]", declared.location)
            for slot in range(declared.count)
        ]
        if not arrives:
            end.watch = barriers
            for barrier in barriers:
                self.system.barriers[barrier].takers.append(end)
            self._wait(end, agent)
        self.group([*self._barrier_counters(barriers), (self._progress(end), declared.count)])
        return end

    def own_arrivals(self, end: Endpoint, action: Action) -> list[list[Signal]]:
        """Arrivals at such an mbarrier: as many as the protocol names, or one a thread."""
        agent = self.system.agents[end.agent]
        instance, name = (part.removeprefix("@") for part in end.port.reference.split("::"))
        at = self.instance(instance).mbarriers[name]
        units = agent.threads if action.by is None else _units(action.by.unit, agent)
        found: list[list[Signal]] = []
        for slot in range(end.stages):
            barrier = self.barrier(agent.cta, at + MBARRIER_BYTES * slot, f"{end.port.reference}[{slot}]", end.location)
            self._arriver(barrier, end)
            found.append([Signal(barrier, units)])
        return found

    def _wait(self, end: Endpoint, agent: Agent) -> None:
        for barrier in end.watch:
            waiters = self.system.barriers[barrier].waiters
            if end.agent not in waiters:
                waiters.append(end.agent)

    def _ring(self, end: Endpoint, agent: Agent, connect: Connect, placed: RingPlacement) -> None:
        key = (connect.source.root, connect.source.leaf)
        stages, cta = placed.stages, agent.cta
        watched = placed.empty if end.producer else placed.full
        kind = "empty" if end.producer else "full"
        for slot in range(stages):
            at = watched + MBARRIER_BYTES * slot
            end.watch.append(self.barrier(cta, at, f"{key[1]}[{slot}] {kind}", connect.location))
            if placed.end is not None:
                end.marks.append(self.mark(cta, placed.end + 4 * slot))
        self._wait(end, agent)
        slots = self.slots(cta, key, self.components[key[0]].ports[key[1]], placed)
        self.touches[id(end)] = [[(slot, end.producer)] for slot in slots]
        if end.producer and placed.staging:
            staged = [
                self.place(
                    ("staging", cta, *key, number), f"{key[1]} staging", f"@{key[0]}::@{key[1]}",
                    [(f"smem{cta}", part.address, part.address + part.bytes)],
                )
                for number, part in enumerate(placed.staging)
            ]  # fmt: skip
            self.staging[id(end)] = ([(s, True) for s in staged], [(s, False) for s in staged])
        counters = self._barrier_counters(end.watch)
        self.group([*counters, (end.cursor, stages), (end.done, stages)])

    def mark(self, cta: int, address: int) -> int:
        key = (cta, address)
        if key not in self.marks:
            self.marks[key] = self.system.counter()
        return self.marks[key]

    def connection(self, end: Endpoint) -> Connect:
        instance, name = (part.removeprefix("@") for part in end.port.reference.split("::"))
        return self.by_source[instance, name][0] if end.producer else self.by_target[instance, name]

    def arrivals(self, end: Endpoint, action: Action) -> tuple[Arrival, ...]:
        """How a give of this action arrives at the first slot."""
        agent, connect = self.system.agents[end.agent], self.connection(end)
        instance, name = (part.removeprefix("@") for part in end.port.reference.split("::"))
        port, placed = self.components[instance].ports[name], placement_of(connect)
        if placed is None:
            return ()
        transfer = transfer_of(connect)
        return transfer.arrivals(action.verb, end.producer, connect, placed, port, agent.cta, self.ctas)

    def signals(self, end: Endpoint, action: Action) -> list[list[Signal]]:
        """Where a give of this action arrives, by slot."""
        connect = self.connection(end)
        arrivals = self.arrivals(end, action)
        kind = "full" if end.producer else "empty"
        found: list[list[Signal]] = []
        for slot in range(end.stages):
            what = f"token {connect.source}" if end.token else f"{connect.source.leaf}[{slot}] {kind}"
            found.append(self._signals(arrivals, slot, end, connect, what))
        return found

    def units(self, end: Endpoint, action: Action) -> dict[int, tuple[int, ...]]:
        """Threads of the units of which one thread arrives in such a give, and how far behind the first it may be."""
        found: dict[int, tuple[int, ...]] = {}
        for arrival in self.arrivals(end, action):
            size = UNIT_THREADS.get(arrival.unit, 1)
            if size > 1 and not arrival.bytes:
                found[size] = (*found.get(size, ()), arrival.skew)
        return found

    def _signals(
        self, arrivals: tuple[Arrival, ...], slot: int, end: Endpoint, connect: Connect, what: str
    ) -> list[Signal]:
        """What arrives at the mbarriers of one slot."""
        agent = self.system.agents[end.agent]
        found: list[Signal] = []
        for arrival in arrivals:
            units = 0 if arrival.bytes else _units(arrival.unit, agent, arrival.skew)
            if units or arrival.bytes:
                address = arrival.address + MBARRIER_BYTES * slot
                barrier = self.barrier(arrival.cta, address, what, connect.location)
                self._arriver(barrier, end)
                found.append(Signal(barrier, units, arrival.bytes))
        return found

    def expects(self, end: Endpoint) -> list[Signal]:
        """What an acquire announces on a ring that TMA fills, by slot."""
        instance, name = (part.removeprefix("@") for part in end.port.reference.split("::"))
        connects = self.by_source.get((instance, name)) if end.producer else None
        placed = placement_of(connects[0]) if connects else None
        if not connects or placed is None:
            return []
        agent = self.system.agents[end.agent]
        expected = transfer_of(connects[0]).expectation(placed, agent.cta, self.ctas)
        if expected is None:
            return []
        found: list[Signal] = []
        for slot in range(end.stages):
            address = expected.address + MBARRIER_BYTES * slot
            barrier = self.barrier(expected.cta, address, f"{name}[{slot}] full", connects[0].location)
            self._arriver(barrier, end)
            found.append(Signal(barrier, agent.threads, expected.bytes))
        return found

    def _arriver(self, barrier: int, end: Endpoint) -> None:
        found = self.system.barriers[barrier]
        if end.agent not in found.arrivers:
            found.arrivers.append(end.agent)
        self.group([*self._barrier_counters([barrier]), (self._progress(end), end.stages)])

    @staticmethod
    def _progress(end: Endpoint) -> int:
        """The counter of an end that always rises: a token is passed by one end and taken by the other."""
        return end.done if end.token and end.producer else end.cursor

    # -- bases

    def _barrier_counters(self, barriers: list[int]) -> list[tuple[int, int]]:
        return [(self.system.barriers[barrier].phase, 1) for barrier in barriers]

    def group(self, counters: list[tuple[int, int]]) -> None:
        """Let counters be counted from one base: a state in which all are higher by their steps is the same."""
        merged: list[tuple[int, int]] = []
        for counter in counters:
            known = self.grouped.get(counter[0])
            if known is None:
                merged.append(counter)
            elif known is not merged:
                merged, known = (known, merged) if len(known) > len(merged) else (merged, known)
                merged.extend(known)
                for other in known:
                    self.grouped[other[0]] = merged
        for counter in merged:
            self.grouped[counter[0]] = merged

    # -- the end of building

    def finish(self) -> System:
        """Give out the records, and say what each access must know."""
        system = self.system
        seen: set[int] = set()
        for group in self.grouped.values():
            if id(group) not in seen:
                seen.add(id(group))
                system.groups.append(sorted(set(group)))
        proved = self._proved()
        self._places()
        for number, barrier in enumerate(system.barriers):
            if number in proved:
                continue
            alone = len(barrier.arrivers) == 1 and barrier.expected == 1
            alone = alone and not system.agents[barrier.arrivers[0]].several
            if not alone:
                barrier.record = system.new_record("phase", -1, number)
            for end in barrier.takers:
                end.takes.append(system.new_record("take", end.agent, number))
                system.agents[end.agent].own |= end.takes[-1]
        for number, named in enumerate(system.named):
            named.record = system.new_record("generation", -1, number)
        return system

    def _proved(self) -> set[int]:
        """The barriers of regular rings whose slots nothing else lies over: there is nothing to be known of them."""
        found: set[int] = set()
        shared = overlaps(self.system)
        for group in self.system.groups:
            ring = regular(self.system, [counter for counter, _ in group])
            if ring is None:
                continue
            ends, barriers = ring
            places = {place for end in ends for slot in self.touches.get(id(end), []) for place, _ in slot}
            if not any(shared[place] for place in places):
                found.update(barriers)
                for end in ends:
                    self.touches.pop(id(end), None)
        return found

    def _places(self) -> None:
        make = accesses(self.system, self._all_touches())
        for agent in self.system.agents:
            for end in agent.endpoints:
                end.accesses = [[make(agent, t) for t in slot] for slot in self.touches.get(id(end), [])]
                taken, given = self.staging.get(id(end), ([], []))
                end.staging = [make(agent, touch) for touch in taken]
                end.staged = [make(agent, touch) for touch in given]
            for step in agent.code:
                if isinstance(step, Touch):
                    step.accesses = tuple(make(agent, (place, step.write)) for place in step.places)

    def _all_touches(self) -> list[tuple[int, Part]]:
        found: list[tuple[int, Part]] = []
        for number, agent in enumerate(self.system.agents):
            for end in agent.endpoints:
                for slot in self.touches.get(id(end), []):
                    found += [(number, touch) for touch in slot]
                for part in self.staging.get(id(end), ()):
                    found += [(number, touch) for touch in part]
            touching = (step for step in agent.code if isinstance(step, Touch))
            found += [(number, (place, step.write)) for step in touching for place in step.places]
        return found


def _units(unit: str, agent: Agent, skew: int = 0) -> int:
    """Arrivals that an agent's threads make: each, or one of each warp or warpgroup, ``skew`` threads behind its
    first."""
    if unit in (TX, COMMIT):
        return agent.threads
    return leaders(range(agent.first, agent.first + agent.threads), UNIT_THREADS[unit], skew)


def leaders(threads: range, size: int, skew: int) -> int:
    """How many of the CTA's threads are those that arrive for a unit of so many, ``skew`` behind its first."""
    return -(-(threads.stop - skew) // size) - -(-(threads.start - skew) // size)


__all__ = ["Resources", "leaders"]
