"""The key of a state: what its future depends on, and nothing else, so that a system has finitely many.

* A ring looks the same from every slot: counters count from its producer's cursor, and everything that belongs to a
  slot is listed from there.  Other counters are counted from the lowest of those that go together.
* Knowledge that can make no difference is left out: of a phase that everybody who waits for it has seen; what all who
  will wait know already; what those who will arrive bring with them.
* Of loops by one name only those are kept that somebody has not finished (:mod:`names`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelink.analysis.protocol.names import Names
from pipelink.analysis.protocol.places import overlaps
from pipelink.analysis.protocol.program import Endpoint, Exchange, Take, Touch
from pipelink.analysis.protocol.run import Machine
from pipelink.analysis.protocol.state import State


@dataclass(eq=False, repr=False)
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
        self.names = Names(machine)
        self.watched: list[list[tuple[Endpoint, int]]] = [[] for _ in self.system.barriers]
        self.coming = self._coming()
        self.tokens = [bool(barrier.takers) for barrier in self.system.barriers]
        for agent in self.agents:
            for end in agent.endpoints:
                for slot, barrier in enumerate(end.watch):
                    self.watched[barrier].append((end, slot))
        self.ended = [(end.ended, end.cursor) for agent in self.agents for end in agent.endpoints if end.watch]
        self.rings: list[_Ring] = []
        self.groups: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        self._sort_groups()
        self.own = [self._useless(number) for number in range(len(self.agents))]

    def _coming(self) -> list[tuple[int, ...]]:
        """For each barrier the agents whose arrival every phase has to have; none where the counts do not fit."""
        units: list[dict[int, set[int]]] = [{} for _ in self.system.barriers]
        for number, agent in enumerate(self.agents):
            for signal in agent.arrivals():
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
            if isinstance(step, Touch):
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
        if not ends or any(end.token or end.stages != ends[0].stages for end in ends):
            return None
        stages = ends[0].stages
        producers = [end for end in ends if end.producer] or ends
        ring = _Ring(stages, producers[0].cursor, ends)
        arrays: dict[int, list[int]] = {}
        records: dict[int, None] = {}
        for end in ends:
            lists = [end.watch] if end.watch else []
            for step in self.agents[end.agent].code:
                if isinstance(step, Exchange) and step.end is end:
                    each = min(map(len, step.signals), default=0)
                    lists += [[slot[number].barrier for slot in step.signals] for number in range(each)]
                    if isinstance(step, Take) and step.expect:
                        lists.append([signal.barrier for signal in step.expect])
            for found in lists:
                if len(found) != stages or arrays.setdefault(found[0], found) != found:
                    return None
            for slot in end.accesses:
                if len(slot) != 1 or not apart[slot[0].place]:
                    return None
            if end.accesses and not self._block([slot[0].record for slot in end.accesses], records):
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
        logs: list[tuple[int, ...]] = []
        for symbol in range(len(self.system.symbols)):
            logs += self.names.normalise(state, values, symbol)
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
