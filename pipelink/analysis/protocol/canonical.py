"""The key of a state: what its future depends on, and nothing else, so that a system has finitely many.

* A ring looks the same from every slot: counters count from its producer's cursor, and everything that belongs to a
  slot is listed from there.  Other counters are counted from the lowest of those that go together.
* Knowledge that can make no difference is left out: of a phase that everybody who waits for it has seen; what all who
  will wait know already; what those who will arrive bring with them.
* Of loops by one name only those are kept that somebody has not finished, counted from the last reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pipelink.analysis.protocol.model import Endpoint, Op
from pipelink.analysis.protocol.places import overlaps
from pipelink.analysis.protocol.run import Machine, State


@dataclass
class _Ring:
    """Slots that can be listed from any one on.  ``blocks`` are the first of ``stages`` adjacent records."""

    stages: int
    reference: int
    ends: list[Endpoint] = field(default_factory=list[Endpoint])
    arrays: list[list[int]] = field(default_factory=list[list[int]])  # barriers by slot
    marks: list[list[int]] = field(default_factory=list[list[int]])
    blocks: list[int] = field(default_factory=list[int])


class Keys:
    """Makes the keys of one system's states."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.system = machine, machine.system
        self.agents = machine.agents
        self.loops = [[step for step in agent.code if step.op is Op.START] for agent in self.agents]
        self.watched: list[list[tuple[Endpoint, int]]] = [[] for _ in self.system.barriers]
        self.coming = self._coming()
        self.tokens = [bool(barrier.takers) for barrier in self.system.barriers]
        for agent in self.agents:
            for end in agent.endpoints:
                for slot, barrier in enumerate(end.watch):
                    self.watched[barrier].append((end, slot))
        self.ended = [(end.ended, end.cursor) for agent in self.agents for end in agent.endpoints if not end.producer]
        self.rings: list[_Ring] = []
        self.groups: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        self._sort_groups()
        self.own = [self._useless(number) for number in range(len(self.agents))]

    def _coming(self) -> list[tuple[int, ...]]:
        """For each barrier the agents whose arrival every phase has to have; none where the counts do not fit."""
        units: list[dict[int, set[int]]] = [{} for _ in self.system.barriers]
        for number, agent in enumerate(self.agents):
            for step in agent.code:
                for slot in (*step.signals, step.expect):
                    for signal in slot:
                        if signal.units:
                            units[signal.barrier].setdefault(number, set()).add(signal.units)
        found: list[tuple[int, ...]] = []
        for barrier, arrivers in zip(self.system.barriers, units, strict=True):
            fits = all(len(made) == 1 for made in arrivers.values())
            fits = fits and sum(sum(made) for made in arrivers.values()) == barrier.expected
            found.append(tuple(arrivers) if fits else ())
        return found

    def _useless(self, number: int) -> int:
        """An agent's own records that it never has to know: it brings them along wherever it arrives."""
        agent = self.agents[number]
        needed = 0
        for end in agent.endpoints:
            for slot in (*end.accesses, end.staging, end.staged):
                for access in slot:
                    needed |= access.need
        for step in agent.code:
            for access in step.accesses:
                needed |= access.need
        return agent.own & ~needed

    def _sort_groups(self) -> None:
        owners: dict[int, list[Endpoint]] = {}
        for agent in self.agents:
            for end in agent.endpoints:
                owners.setdefault(end.cursor, []).append(end)
        barriers = {barrier.phase: number for number, barrier in enumerate(self.system.barriers)}
        apart = [not others for others in overlaps(self.system)]
        for group in self.system.groups:
            if not group:
                continue
            counters = {counter for counter, _ in group}
            ends = [end for counter in counters for end in owners.get(counter, [])]
            ring = self._ring(sorted(ends, key=lambda end: end.cursor), counters & set(barriers), apart)
            if ring is not None:
                self.rings.append(ring)
            else:
                found = tuple(zip(*group, strict=True))
                self.groups.append((found[0], found[1]))

    def _ring(self, ends: list[Endpoint], phases: set[int], apart: list[bool]) -> _Ring | None:
        """A group of counters as a ring, if all its slots are alike."""
        if not ends or any(end.token or end.stages != ends[0].stages or not end.accesses for end in ends):
            return None
        stages = ends[0].stages
        producers = [end for end in ends if end.producer] or ends
        ring = _Ring(stages, producers[0].cursor, ends)
        arrays: dict[int, list[int]] = {}
        records: dict[int, None] = {}
        for end in ends:
            lists = [end.watch] if end.watch else []
            for step in self.agents[end.agent].code:
                if step.end is end:
                    each = min(map(len, step.signals), default=0)
                    lists += [[slot[number].barrier for slot in step.signals] for number in range(each)]
                    lists += [[signal.barrier for signal in step.expect]] if step.expect else []
            for found in lists:
                if len(found) != stages or arrays.setdefault(found[0], found) != found:
                    return None
            for slot in end.accesses:
                if len(slot) != 1 or not apart[slot[0].place]:
                    return None
            if not self._block([slot[0].record for slot in end.accesses], records):
                return None
            if end.marks and end.marks not in ring.marks:
                ring.marks.append(end.marks)
        ring.arrays = list(arrays.values())
        covered = {self.system.barriers[b].phase for found in ring.arrays for b in found}
        if covered != phases or len(covered) != stages * len(ring.arrays):
            return None
        for found in ring.arrays:
            if len({self.system.barriers[b].expected for b in found}) > 1:
                return None
            if not self._block([self.system.barriers[b].record for b in found], records):
                return None
        ring.blocks = list(records)
        return ring

    @staticmethod
    def _block(records: list[int], blocks: dict[int, None]) -> bool:
        """Whether records, one a slot, are adjacent; then their first is noted."""
        if not any(records):
            return True
        first = records[0].bit_length() - 1
        if records != [1 << (first + slot) for slot in range(len(records))]:
            return False
        blocks[first] = None
        return True

    # -- keys

    def key(self, state: State) -> object:
        """What the future depends on."""
        values, known = state.values[:], self._known(state)
        for counters, steps in self.groups:
            base = min(values[c] // s for c, s in zip(counters, steps, strict=True))
            if base:
                for c, s in zip(counters, steps, strict=True):
                    values[c] -= base * s
        for ended, cursor in self.ended:
            if values[ended]:
                values[ended] = 1 + state.values[cursor] - state.values[ended]
        for ring in self.rings:
            self._rotate(ring, state, values, known)
        logs: list[tuple[int, int, int, bool, bool]] = []
        for index, symbol in enumerate(self.system.symbols):
            logs += self._normalise(state, values, index, symbol.at_least_once)
        return tuple(values), tuple(known), tuple(logs)

    def _known(self, state: State) -> list[int]:
        """Knowledge without what makes no difference."""
        values, known, pending = state.values, state.known, self.machine.pending
        made = known[:]
        for index, barrier in enumerate(self.system.barriers):
            if self.tokens[index]:
                continue
            at = pending + 2 * index
            everybody = -1
            waiting = False
            for end, slot in self.watched[index]:
                visit = (values[end.cursor] - slot + end.stages - 1) // end.stages
                waiting |= values[barrier.phase] > visit + end.offset
                everybody &= known[end.agent]
            made[at + 1] = known[at + 1] & ~everybody if waiting else 0
            coming = everybody if self.watched[index] else -1
            arrived = values[barrier.phase + 3]
            for arriver in self.coming[index]:
                if not arrived >> arriver & 1:
                    coming |= known[arriver]
            made[at] &= ~coming
        for number, useless in enumerate(self.own):
            made[number] &= ~useless
        return made

    def _rotate(self, ring: _Ring, state: State, values: list[int], known: list[int]) -> None:
        """List a ring's slots from its producer's cursor on."""
        stages, position = ring.stages, state.values[ring.reference]
        for counter in {c for end in ring.ends for c in (end.cursor, end.done)}:
            values[counter] -= position
        first = position % stages
        order = [(first + slot) % stages for slot in range(stages)]
        barriers, pending = self.system.barriers, self.machine.pending
        for found in ring.arrays:
            held = [known[pending + 2 * b : pending + 2 * b + 2] for b in found]
            for slot, old in enumerate(order):
                at, source = barriers[found[slot]].phase, barriers[found[old]].phase
                values[at] = (state.values[source] * stages + old - position - slot) // stages
                values[at + 1 : at + 4] = state.values[source + 1 : source + 4]
                known[pending + 2 * found[slot] : pending + 2 * found[slot] + 2] = held[old]
        for marks in ring.marks:
            for slot, old in enumerate(order):
                values[marks[slot]] = state.values[marks[old]]
        if not first:
            return
        ones = (1 << stages) - 1
        for block in ring.blocks:
            mask = ones << block
            for index, holder in enumerate(known):
                bits = (holder & mask) >> block
                if bits and bits != ones:
                    turned = (bits >> first | bits << (stages - first)) & ones
                    known[index] = holder & ~mask | turned << block

    # -- names

    def readers(self, state: State, symbol: int) -> Iterator[int]:
        """The agents that may still ask for a name."""
        for number, agent in enumerate(self.agents):
            if symbol in agent.symbols[state.values[agent.pc]]:
                yield number

    def reading(self, state: State, number: int, symbol: int) -> tuple[int, int]:
        """The loop by a name, and its iteration, that an agent is at: the earliest, if it is in several."""
        values = state.values
        active = [
            (values[step.counter] - 1, values[step.counter + 1])
            for step in self.loops[number]
            if step.symbol == symbol and values[step.counter]
        ]
        return min(active) if active else (values[self.machine.instances[number][symbol]], 0)

    def _normalise(
        self, state: State, values: list[int], symbol: int, least: bool
    ) -> list[tuple[int, int, int, bool, bool]]:
        """Count loops by one name, and their iterations, from where the last reader is; forget what came before."""
        at = {number: self.reading(state, number, symbol) for number in self.readers(state, symbol)}
        base = min((instance for instance, _ in at.values()), default=0)
        for number, counters in enumerate(self.machine.instances):
            if symbol in counters:
                counter = counters[symbol]
                values[counter] = values[counter] - base if number in at else 0
        found: list[tuple[int, int, int, bool, bool]] = []
        kept: dict[int, int] = {}
        for (other, instance), (count, all_) in list(state.logs.items()):
            if other != symbol:
                continue
            if instance < base or not at:
                del state.logs[other, instance]
                continue
            low = 0
            if not self.system.symbols[symbol].ways:
                low = min((p if i == instance else 0 for i, p in at.values() if i <= instance), default=count)
                low = min(low, *self._positions(state, symbol, instance), count)
            kept[instance] = low
            found.append((symbol, instance - base, count - low, all_, least and not count))
        for number in range(len(self.agents)):
            for step in self.loops[number]:
                if step.symbol == symbol and values[step.counter]:
                    values[step.counter + 1] -= kept.get(values[step.counter] - 1, 0)
                    values[step.counter] -= base
        found.sort()
        return found

    def _positions(self, state: State, symbol: int, instance: int) -> Iterator[int]:
        for number in range(len(self.agents)):
            for step in self.loops[number]:
                if step.symbol == symbol and state.values[step.counter] == instance + 1:
                    yield state.values[step.counter + 1]
