"""Part of ``prove``: warps, registers and named barriers as placed.

``setmaxnreg.inc`` waits until the CTA's pool can supply it, so a split that needs more than the kernel was launched
with never starts.  Named barriers are sixteen numbers that all objects of a CTA share: two owners of one number mix
their arrivals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from pipelink.analysis.protocol.callers import Steps
from pipelink.analysis.protocol.language import actions_of, protocol_of
from pipelink.ir.placement import KernelPlacement, NamedBarrier, RingPlacement
from pipelink.ir.views import Component, Kernel, Role
from pipelink.model.demand import ALWAYS, Scope, spelled
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.support.diagnostics import Diagnostics, Location, Note
from pipelink.target import (
    MAX_CTA_WARPS,
    NAMED_BARRIERS,
    SETMAXNREG_MIN,
    SETMAXNREG_STEP,
    WARP_THREADS,
    WARPGROUP_WARPS,
    Target,
)
from pipelink.transfers import placement_of
from pipelink.transfers.binder import placed_instance
from pipelink.transfers.turns import MEETING

_MAX_REGISTERS = 256  # setmaxnreg's largest operand


@dataclass(frozen=True)
class PlacedRole:
    """A role of an instance on its warps."""

    key: RoleKey
    role: Role
    first: int
    location: Location

    @property
    def end(self) -> int:
        return self.first + self.role.warps

    @property
    def warpgroups(self) -> range:
        return range(self.first // WARPGROUP_WARPS, (self.end - 1) // WARPGROUP_WARPS + 1)


def placed_roles(kernel: Kernel, components: Mapping[str, Component]) -> list[PlacedRole]:
    """The roles of all instances; ``components`` by instance."""
    return [
        PlacedRole(f"{name}::{role.name}", role, placed_instance(instance).roles[role.name].first_warp, where)
        for name, instance in kernel.instances.items()
        for where in (instance.location,)
        for role in components[name].roles.values()
    ]


def check_threads(
    kernel: Kernel, lifetimes: Lifetimes, placement: KernelPlacement, target: Target, diagnostics: Diagnostics
) -> None:
    """Reports ``bad-placement``, ``placement-range``, ``placement-overlap``, ``unaligned-warpgroup``,
    ``register-pool``, ``unsupported-by-target``, ``barrier-shared``, ``barrier-mismatch`` and
    ``barrier-participation``."""
    roles = placed_roles(kernel, lifetimes.components)
    before = len(diagnostics.errors)
    _check_warps(kernel, roles, lifetimes, placement.warps, diagnostics)
    if len(diagnostics.errors) == before:
        _check_registers(kernel, placement, roles, target, diagnostics)
    _check_barriers(kernel, lifetimes, diagnostics)
    _check_turns(kernel, lifetimes, diagnostics)


def _check_warps(
    kernel: Kernel, roles: list[PlacedRole], lifetimes: Lifetimes, warps: int, diagnostics: Diagnostics
) -> None:
    if not 1 <= warps <= MAX_CTA_WARPS:
        message = f"kernel '{kernel.name}' is placed on {warps} warps, a CTA has 1 to {MAX_CTA_WARPS}"
        diagnostics.error("placement-range", message, kernel.location)
    joined = {role: name for name, members in lifetimes.warp_sharers().items() for role in members}
    for placed in roles:
        instance = kernel.instances[placed.key.partition("::")[0]]
        stated = placed_instance(instance).roles[placed.role.name].warps
        notes = [Note("the role is declared here", placed.role.location)]
        if stated != placed.role.warps:
            message = f"{spelled(placed.key)} is placed on {stated} warps, it has {placed.role.warps}"
            diagnostics.error("bad-placement", message, placed.location, notes=notes)
        if placed.first % placed.role.align:
            message = f"{spelled(placed.key)} starts at warp {placed.first}, not at a multiple of {placed.role.align}"
            diagnostics.error("unaligned-warpgroup", message, placed.location, notes=notes)
        if placed.end > warps:
            message = f"{spelled(placed.key)} is placed on warps {placed.first} to {placed.end - 1}, there are {warps}"
            diagnostics.error("placement-range", message, placed.location, notes=notes)
    ordered = sorted(roles, key=lambda placed: placed.first)
    for index, placed in enumerate(ordered):
        for other in ordered[index + 1 :]:
            if other.first >= placed.end:
                break
            if placed.key not in joined or joined.get(other.key) != joined[placed.key]:
                message = f"{spelled(placed.key)} and {spelled(other.key)} are both placed on warp {other.first}, and "
                message += "nothing says that they never run at once"
                notes = [Note("placed here", placed.location)]
                diagnostics.error("placement-overlap", message, other.location, notes=notes)


def _check_registers(
    kernel: Kernel, placement: KernelPlacement, roles: list[PlacedRole], target: Target, diagnostics: Diagnostics
) -> None:
    where = kernel.location
    entry = target.entry_registers(placement.warps, placement.min_ctas)
    values = placement.registers
    if not values:
        _check_share(roles, lambda placed: entry, diagnostics)
        return
    if not target.setmaxnreg:
        message = f"kernel '{kernel.name}' is placed with a register split, {target.name} has no setmaxnreg"
        diagnostics.error("unsupported-by-target", message, where)
        return
    groups = -(-placement.warps // WARPGROUP_WARPS)
    if len(values) != groups or placement.warps % WARPGROUP_WARPS:
        message = f"registers are placed for {len(values)} warpgroups, the {placement.warps} warps are "
        message += f"{placement.warps / WARPGROUP_WARPS:g}; setmaxnreg takes whole ones"
        diagnostics.error("register-pool", message, where)
        return
    for group, value in enumerate(values):
        if value % SETMAXNREG_STEP or not SETMAXNREG_MIN <= value <= _MAX_REGISTERS:
            message = f"warpgroup {group} is placed with {value} registers, setmaxnreg takes multiples of "
            message += f"{SETMAXNREG_STEP} from {SETMAXNREG_MIN} to {_MAX_REGISTERS}"
            diagnostics.error("register-pool", message, where)
    total, pool = sum(values), entry * groups
    if total > pool:
        raised = [f"warpgroup {g} to {value}" for g, value in enumerate(values) if value > entry]
        lowered = sum(entry - value for value in values if value < entry)
        gives = f"the others give {lowered} back" if lowered else "no other gives any back"
        message = f"the {groups} warpgroups start with {entry} registers a thread each, {pool} together; placed are "
        message += (
            f"{' + '.join(map(str, values))} = {total}: {', '.join(raised)} waits for ever for registers, {gives}"
        )
        hint = f"lower the sum by {total - pool}"
        diagnostics.error("register-pool", message, where, hint=hint)
    for placed in roles:
        own = {values[group] for group in placed.warpgroups}
        if len(own) > 1:
            listed = ", ".join(f"{values[group]} in warpgroup {group}" for group in placed.warpgroups)
            message = f"{spelled(placed.key)} has {listed}; its warps run one setmaxnreg"
            diagnostics.error("register-pool", message, placed.location)
    _check_share(roles, lambda placed: min(values[group] for group in placed.warpgroups), diagnostics)


def _check_share(roles: list[PlacedRole], share: Callable[[PlacedRole], int], diagnostics: Diagnostics) -> None:
    """A role has at least the registers that it states."""
    for placed in roles:
        if placed.role.registers is not None and share(placed) < placed.role.registers[0]:
            message = f"{spelled(placed.key)} needs {placed.role.registers[0]} registers a thread, it is placed with "
            notes = [Note("the role is declared here", placed.role.location)]
            diagnostics.error("register-pool", f"{message}{share(placed)}", placed.location, notes=notes)


# ---------------------------------------------------------------------------------------------- named barriers
@dataclass(frozen=True)
class BarrierUse:
    """A named barrier as placed: ``participants`` is the number of threads that can reach it, ``stated`` what the
    contract says; ``callers`` how many sets of warps these threads are."""

    key: str
    what: str
    id: int
    threads: int
    stated: int
    participants: int
    users: tuple[RoleKey, ...]
    scope: Scope
    location: Location
    callers: int


def barrier_uses(kernel: Kernel, lifetimes: Lifetimes) -> Iterator[BarrierUse]:
    """All named barriers of a kernel: the components', those of turns, of local rings, of conversions and of
    exclusive groups."""
    components = lifetimes.components

    def threads_of(users: tuple[RoleKey, ...]) -> list[int]:
        """Threads of each set of warps that the users run on."""
        groups: dict[str, int] = {}
        for user in users:
            instance, _, role = user.partition("::")
            group = lifetimes.group_of.get(user, user)
            groups[group] = max(groups.get(group, 0), components[instance].roles[role].warps * WARP_THREADS)
        return list(groups.values())

    def use(
        key: str, what: str, placed: NamedBarrier, stated: int | None, users: tuple[RoleKey, ...], where: Location
    ) -> BarrierUse:
        sets = threads_of(users)
        total = sum(sets)
        return BarrierUse(
            key=key,
            what=what,
            id=placed.id,
            threads=placed.threads,
            stated=stated or total,
            participants=total,
            users=users,
            scope=lifetimes.scope(users),
            location=where,
            callers=len(sets),
        )

    for name, instance in kernel.instances.items():
        placed = placed_instance(instance)
        for barrier in components[name].barriers.values():
            key, users = f"{name}::{barrier.name}", lifetimes.users(name, barrier.role)
            yield use(key, spelled(key), placed.barriers[barrier.name], barrier.threads, users, instance.location)
        for turns, barriers in placed.turns.items():
            key, users = f"{name}::{turns}", lifetimes.users(name, components[name].turns[turns].role)
            for number, barrier in enumerate(barriers):
                what = f"the turn of warpgroup {number} by {spelled(key)}"
                yield use(key, what, barrier, MEETING, users, instance.location)
        for port in components[name].ports.values():
            if port.direction == "local":
                key, users = f"{name}::{port.name}", lifetimes.port_users(name, port.name)
                what = f"the meeting of {spelled(key)}"
                yield use(key, what, placed.locals[port.name].barrier, None, users, instance.location)
    meetings = kernel.placement.meetings if kernel.placement is not None else {}
    for group in kernel.exclusives:
        if group.name in meetings:
            users = lifetimes.sequences()[group.name]
            found = use(
                group.name, f"exclusive group '{group.name}'", meetings[group.name], None, users, group.location
            )
            yield replace(found, scope=ALWAYS)
    done: set[tuple[str, ...]] = set()
    for connect in kernel.connects:
        ring = placement_of(connect)
        barrier = ring.barrier if isinstance(ring, RingPlacement) else None
        if barrier is not None and connect.source.path not in done:
            done.add(connect.source.path)
            key = f"{connect.source.root}::{connect.source.leaf}"
            users = lifetimes.port_users(connect.source.root, connect.source.leaf)
            what = f"the conversion of {spelled(key)}"
            yield use(f"{key}.staging", what, barrier, None, users, connect.location)


def _check_barriers(kernel: Kernel, lifetimes: Lifetimes, diagnostics: Diagnostics) -> None:
    by_id: dict[int, list[BarrierUse]] = {}
    steps = Steps(kernel, lifetimes.components)
    for use in barrier_uses(kernel, lifetimes):
        if use.id == 0:
            message = f"{use.what} is placed on named barrier 0, where the entry lets all threads of the CTA meet"
            diagnostics.error("barrier-shared", message, use.location)
        elif use.id >= NAMED_BARRIERS:
            message = f"{use.what} is placed on named barrier {use.id}, a CTA has 0 to {NAMED_BARRIERS - 1}"
            diagnostics.error("barrier-shared", message, use.location)
        for other in by_id.setdefault(use.id, []):
            if not other.scope.excludes(use.scope) and 0 < use.id < NAMED_BARRIERS:
                message = f"{use.what} and {other.what} are both placed on named barrier {use.id}, and nothing keeps "
                message += "them apart in time: the arrivals of one count for the other"
                notes = [Note("the other is placed here", other.location)]
                diagnostics.error("barrier-shared", message, use.location, notes=notes)
        by_id[use.id].append(use)
        instance, _, name = use.key.partition("::")
        owner = lifetimes.components.get(instance)
        met: list[int] = []
        if owner is not None and not owner.roles and use.callers > 1:
            met = _meeting(lifetimes, steps, instance, name, use.users)
        if len(met) > 1 and use.threads < sum(met):
            listed = ", ".join(spelled(user) for user in use.users)
            message = f"{use.what} waits for {use.threads} threads, and is reached by those of {listed}, "
            message += f"{sum(met)} together: the arrivals of one count for the other"
            hint = "give each caller an instance of its own"
            diagnostics.error("barrier-shared", message, use.location, hint=hint)
        else:
            _check_participants(use, diagnostics)


def _meeting(lifetimes: Lifetimes, steps: Steps, instance: str, name: str, users: tuple[RoleKey, ...]) -> list[int]:
    """Threads of each set of warps that come to a passive component's barrier, as far as protocols say."""
    sets: dict[str, int] = {}
    for user in users:
        group = lifetimes.group_of.get(user, user)
        sets[group] = max(sets.get(group, 0), steps.reaching(user, instance, name))
    return [threads for threads in sets.values() if threads]


def _check_turns(kernel: Kernel, lifetimes: Lifetimes, diagnostics: Diagnostics) -> None:
    """Nobody comes to the turns of another role: it would have no barrier among theirs."""
    steps = Steps(kernel, lifetimes.components)
    every = [(f"{name}::{role}", one) for name, c in lifetimes.components.items() for role, one in c.roles.items()]
    for name, component in lifetimes.components.items():
        stated = {
            action.subject for of in component.protocols for action in actions_of(protocol_of(component, of).body)
        }
        for turns in component.turns.values():
            users = lifetimes.users(name, turns.role)
            for key, role in every if turns.name in stated else ():
                if key not in users and steps.reaching(key, name, turns.name):
                    message = f"{spelled(key)} takes turns by '@{name}::@{turns.name}', which are those of "
                    notes = [Note("the role is declared here", role.location)]
                    message += ", ".join(map(spelled, users))
                    diagnostics.error("barrier-participation", message, turns.location, notes=notes)


def _check_participants(use: BarrierUse, diagnostics: Diagnostics) -> None:
    if use.threads % WARP_THREADS or use.threads == 0:
        message = f"{use.what} is placed for {use.threads} threads, a named barrier counts whole warps"
    elif use.threads != use.stated:
        message = f"{use.what} is placed for {use.threads} threads, {use.stated} take part"
    elif use.users and use.threads > use.participants:
        listed = ", ".join(spelled(user) for user in use.users)
        message = f"{use.what} waits for {use.threads} threads, {listed} {'have' if len(use.users) > 1 else 'has'} "
        message += f"{use.participants}"
    else:
        return
    diagnostics.error("barrier-mismatch", message, use.location)
