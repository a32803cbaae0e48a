"""Which places overlap, and so which earlier accesses each access must come after."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pipelink.analysis.protocol.program import Access, Agent, System


def overlaps(system: System) -> list[set[int]]:
    """For each place the others that share bytes or columns with it."""
    found: list[set[int]] = [set() for _ in system.places]
    ranges = sorted(
        (space, first, end, number)
        for number, place in enumerate(system.places)
        for space, first, end in place.ranges
        if first < end
    )
    open_: list[tuple[str, int, int]] = []  # space, end, place
    for space, first, end, number in ranges:
        open_ = [other for other in open_ if other[0] == space and other[1] > first]
        for _, _, other in open_:
            if other != number:
                found[number].add(other)
                found[other].add(number)
        open_.append((space, end, number))
    return found


def accesses(
    system: System, touches: Iterable[tuple[int, tuple[int, bool]]]
) -> Callable[[Agent, tuple[int, bool]], Access]:
    """Make a record for each agent and place that it reads or writes; return what turns a touch into an access.

    A write comes after all reads of others and after all writes of other roles: what one role writes in a step, its
    threads have divided among themselves, and so have its CTAs what they write in each other's memory.  A read comes
    after all writes.  An agent of several warps must know of its own as of another's, because its warps run apart; but
    not of a buffer in which each has a part to itself."""
    agents, places = system.agents, system.places
    for number, (place, write) in dict.fromkeys(touches):
        table = places[place].writes if write else places[place].reads
        if number not in table:
            table[number] = system.new_record("write" if write else "read", number, place)
            agents[number].own |= table[number]
    shared = overlaps(system)
    for place, others in zip(places, shared, strict=True):
        spoils = {places[other].written for other in others} - {place.written, -1}
        place.spoils = tuple(sorted(spoils))
    made: dict[tuple[int, int, bool], Access] = {}
    numbers = {id(agent): number for number, agent in enumerate(agents)}

    def own(user: int, agent: Agent, divided: bool) -> bool:
        """Whether an access is the agent's own, or that of another warpgroup that has another part to itself."""
        other = agents[user]
        return other is agent or (
            divided and (other.role, other.cta, other.part) == (agent.role, agent.cta, agent.part)
        )

    def make(agent: Agent, touch: tuple[int, bool]) -> Access:
        number, (place, write) = numbers[id(agent)], touch
        key = (number, place, write)
        if key not in made:
            need = 0
            for other in (place, *shared[place]):
                divided = other == place and places[place].private
                apart = agent.several and not divided
                for user, record in places[other].writes.items():
                    alike = agents[user].cta == agent.cta or (other == place and places[place].peers)
                    sibling = agents[user].role == agent.role and alike
                    if not (write and sibling) and (apart or not own(user, agent, divided)):
                        need |= record
                if write:
                    for user, record in places[other].reads.items():
                        if apart or not own(user, agent, divided):
                            need |= record
            record = (places[place].writes if write else places[place].reads)[number]
            made[key] = Access(need, record, not agent.several, write, place)
        return made[key]

    return make
