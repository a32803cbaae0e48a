"""Reads the placement problem of a kernel from its views.

Beside the :class:`Problem`, which knows only amounts, the result keeps the plan of each transfer: what the amounts
stand for, and who arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipelink.analysis.protocol.callers import Steps
from pipelink.analysis.protocol.language import place_of
from pipelink.ir.attributes import SymbolRef
from pipelink.ir.views import ClusterBarrier, Connect, Kernel, Lease, Port, Program, Turns
from pipelink.ir.views import Role as RoleView
from pipelink.model.demand import (
    ALWAYS,
    Barrier,
    Buffer,
    Group,
    Interval,
    Mbarriers,
    Part,
    Problem,
    Ring,
    Role,
    Scope,
    spelled,
)
from pipelink.model.graph import ConnectionGraph
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.support.diagnostics import Diagnostics, Location, Note
from pipelink.support.protocol import Callers
from pipelink.target import WARP_THREADS, WARPGROUP_WARPS, target
from pipelink.transfers import BY_NAME, legal
from pipelink.transfers.base import End, Plan, Site, Transfer
from pipelink.transfers.stream import TMEM_ALIGN, StreamPlan
from pipelink.transfers.turns import MEETING, warpgroups

TMEM_WORD = "tensor memory"  # key of the shared-memory word that holds where the allocation begins
TMEM_WORD_BYTES = 4


@dataclass(frozen=True)
class LocalPlan:
    """A ring that one role fills and reads itself."""

    key: str
    instance: str
    port: Port
    threads: int


@dataclass(frozen=True)
class MeetingPlan:
    """Where a role meets that of the other CTAs; every ``unit`` of it arrives at each CTA's mbarrier."""

    key: str
    instance: str
    name: str
    unit: Literal["thread", "warp"]


@dataclass(frozen=True)
class TurnsPlan:
    """An order of a role's warpgroups, with the key of each one's barrier."""

    instance: str
    name: str
    keys: tuple[str, ...]


@dataclass
class Built:
    """The problem and what its keys stand for; ``plans`` by the index of the connection."""

    problem: Problem
    plans: dict[int, Plan]
    locals: list[LocalPlan]
    meetings: list[MeetingPlan]
    turns: list[TurnsPlan]
    meeting_groups: list[str]


def build(
    program: Program,
    kernel: Kernel,
    diagnostics: Diagnostics,
    avoid: frozenset[tuple[str, str]] = frozenset(),
    *,
    elect: bool = True,
) -> Built:
    """The problem of one kernel.  ``avoid`` holds (connect, transfer) pairs that an earlier attempt ruled out; without
    ``elect`` every thread that touches a slot arrives for itself.

    Reports ``ambiguous-role``, ``unaligned-warpgroup``, ``no-transfer`` and ``arrival-disagreement``; raises LinkError
    ``unknown-target``.
    """
    return _Builder(program, kernel, diagnostics, avoid, elect).run()


def meetings(lifetimes: Lifetimes) -> dict[str, int]:
    """The exclusive groups whose warps meet at a named barrier between one role and the next, and with how many
    threads: those of several warps.  So do the warps of a role that dispatches, between operations that have something
    of their own."""
    groups = {
        **lifetimes.sequences(),
        **{runner: roles for runner, roles in lifetimes.dispatched.items() if any(map(lifetimes.private, roles))},
    }
    warps = {
        name: max(lifetimes.components[instance].roles[role].warps for instance, _, role in map(_split, roles))
        for name, roles in groups.items()
    }
    return {name: WARP_THREADS * count for name, count in warps.items() if count > 1}


def _split(key: RoleKey) -> tuple[str, str, str]:
    return key.partition("::")


class _Builder:
    def __init__(
        self, program: Program, kernel: Kernel, diagnostics: Diagnostics, avoid: frozenset[tuple[str, str]], elect: bool
    ) -> None:
        self.kernel = kernel
        self.kernel_ctas = ConnectionGraph(program, kernel).cluster_size
        self.elect = elect
        self.diagnostics = diagnostics
        self.avoid = avoid
        self.lifetimes = Lifetimes(program, kernel)
        self.components = self.lifetimes.components
        self.steps = Steps(kernel, self.components)
        self.buffers: list[Buffer] = []
        self.barriers: list[Barrier] = []
        self.mbarriers: list[Mbarriers] = []
        self.columns: list[Buffer] = []
        self.rings: list[Ring] = []
        self.plans: dict[int, Plan] = {}
        self.locals: list[LocalPlan] = []
        self.meetings: list[MeetingPlan] = []
        self.turns: list[TurnsPlan] = []
        self.ends: dict[SymbolRef, End | None] = {}

    def run(self) -> Built:
        kernel = self.kernel
        facts = target(kernel.target, kernel.location)
        roles = self.roles()
        for name in kernel.instances:
            self.own_resources(name)
        self.connections()
        groups = meetings(self.lifetimes)
        for name, threads in groups.items():
            self.barriers.append(Barrier(name, threads, ALWAYS, self.group_location(name)))
        if self.columns or any(ring.columns for ring in self.rings):
            word = Buffer(TMEM_WORD, TMEM_WORD_BYTES, TMEM_WORD_BYTES, location=kernel.location)
            self.buffers.append(word)
        overlays = tuple(frozenset(f"{ref.root}::{ref.leaf}" for ref in overlay.buffers) for overlay in kernel.overlays)
        problem = Problem(
            target=facts,
            min_ctas=kernel.min_ctas or 1,
            roles=tuple(roles),
            groups=tuple(
                Group(name, roles, self.group_location(name)) for name, roles in self.lifetimes.warp_sharers().items()
            ),
            buffers=tuple(self.buffers),
            rings=tuple(self.rings),
            barriers=tuple(self.barriers),
            mbarriers=tuple(self.mbarriers),
            columns=tuple(self.columns),
            overlays=overlays,
            name=kernel.name,
            location=kernel.location,
        )
        return Built(problem, self.plans, self.locals, self.meetings, self.turns, list(groups))

    # -- roles and what instances own

    def group_location(self, name: str) -> Location:
        """Where a set of roles that share warps is declared: the exclusive group, or the role that dispatches."""
        for group in self.kernel.exclusives:
            if group.name == name:
                return group.location
        return self.role_view(name).location

    def roles(self) -> list[Role]:
        found: list[Role] = []
        for name, component in self.components.items():
            found += [
                Role(f"{name}::{role.name}", role.warps, role.align, role.registers, role.location)
                for role in component.roles.values()
            ]
        return found

    def own_resources(self, name: str) -> None:
        component = self.components[name]

        def scope(role: str | None) -> Scope:
            return self.lifetimes.scope(self.lifetimes.users(name, role))

        def interval(live: tuple[int, int] | None) -> Interval | None:
            return None if live is None else Interval(name, *live)

        for smem in component.smem.values():
            key = f"{name}::{smem.name}"
            self.buffers.append(
                Buffer(key, smem.bytes, smem.align, scope(smem.role), interval(smem.live), smem.location)
            )
        for barrier in component.barriers.values():
            self.barriers.append(
                Barrier(f"{name}::{barrier.name}", barrier.threads, scope(barrier.role), barrier.location)
            )
        for mbarrier in component.mbarriers.values():
            self.mbarriers.append(
                Mbarriers(f"{name}::{mbarrier.name}", mbarrier.count, mbarrier.arrivals, mbarrier.location)
            )
        for meeting in component.cluster_barriers.values():
            self.cluster_barrier(name, meeting)
        for turns in component.turns.values():
            self.order(name, turns)
        for tmem in component.tmem.values():
            key = f"{name}::{tmem.name}"
            self.columns.append(
                Buffer(key, tmem.columns, TMEM_ALIGN, scope(tmem.role), interval(tmem.live), tmem.location)
            )
        for lease in component.leases.values():
            self.lease(name, lease)
        for port in component.ports.values():
            if port.direction == "local":
                self.local_ring(name, port)

    def cluster_barrier(self, name: str, barrier: ClusterBarrier) -> None:
        """An mbarrier at which the one role that meets there arrives in every CTA, a warp or a thread at a time."""
        users, key = self.lifetimes.users(name, barrier.role), f"{name}::{barrier.name}"
        if len(users) != 1:
            self.ambiguous(f"cluster barrier '@{name}::@{barrier.name}'", users, barrier.location)
            return
        role = self.role_view(users[0])
        elected = self.elect and not role.one_thread
        arrivals = (role.warps if elected else role.thread_count) * self.kernel_ctas
        self.mbarriers.append(Mbarriers(key, 1, arrivals, barrier.location))
        self.meetings.append(MeetingPlan(key, name, barrier.name, "warp" if elected else "thread"))

    def order(self, name: str, turns: Turns) -> None:
        """A barrier for each warpgroup of the one role whose warpgroups take turns."""
        users = self.lifetimes.users(name, turns.role)
        if len(users) != 1:
            self.ambiguous(f"order of turns '@{name}::@{turns.name}'", users, turns.location)
            return
        role = self.role_view(users[0])
        if not warpgroups(role):
            has = "one thread" if role.one_thread else f"{role.warps} warp{'s' if role.warps > 1 else ''}"
            message = f"the warpgroups of {spelled(users[0])} take turns by '@{name}::@{turns.name}', and it has {has}"
            notes = [Note("the role is declared here", role.location)]
            hint = f"two warpgroups or more: {2 * WARPGROUP_WARPS} warps, {3 * WARPGROUP_WARPS}, …"
            self.diagnostics.error("unaligned-warpgroup", message, turns.location, notes=notes, hint=hint)
            return
        keys = tuple(f"{name}::{turns.name}[{number}]" for number in range(warpgroups(role)))
        scope = self.lifetimes.scope(users)
        self.barriers += [Barrier(key, MEETING, scope, turns.location) for key in keys]
        self.turns.append(TurnsPlan(name, turns.name, keys))

    def lease(self, name: str, lease: Lease) -> None:
        """A ring of pages, whose slots any operation fills and reads."""
        key, part = f"{name}::{lease.name}", Part(lease.page_bytes, lease.align)
        ring = Ring(key, *lease.pages, parts=(part,), mbarriers=2, unit="pages", location=lease.location)
        if any(
            connect.lease is not None and connect.lease.path == (name, lease.name) for connect in self.kernel.connects
        ):
            self.rings.append(ring)

    def local_ring(self, name: str, port: Port) -> None:
        users = self.lifetimes.port_users(name, port.name)
        role = self.only_role(name, port, users)
        if role is None:
            return
        key = f"{name}::{port.name}"
        scope = self.lifetimes.scope(users)
        parts = tuple(Part(tile.bytes, max(tile.align, 1)) for tile in port.tiles)
        self.rings.append(Ring(key, *port.stages, parts=parts, scope=scope, location=port.location))
        threads = role.warps * WARP_THREADS
        self.barriers.append(Barrier(key, threads, scope, port.location))
        self.locals.append(LocalPlan(key, name, port, threads))

    def only_role(self, name: str, port: Port, users: tuple[RoleKey, ...]) -> RoleView | None:
        """The one role that uses a port; roles of one exclusive group count as one if they have equally many warps."""
        found = [self.role_view(user) for user in users]
        groups = {self.lifetimes.group_of.get(user, user) for user in users}
        if len(groups) == 1 and len({role.warps for role in found}) == 1:
            return found[0]
        self.ambiguous(f"port '@{name}::@{port.name}'", users, port.location)
        return None

    def ambiguous(self, what: str, users: tuple[RoleKey, ...], where: Location) -> None:
        used = "is used by no role" if not users else f"is used by {', '.join(spelled(user) for user in users)}"
        notes = [Note(f"{spelled(user)} is declared here", self.role_view(user).location) for user in users]
        self.diagnostics.error("ambiguous-role", f"{what} {used}; it needs exactly one", where, notes=notes)

    def role_view(self, key: RoleKey) -> RoleView:
        instance, _, role = key.partition("::")
        return self.components[instance].roles[role]

    # -- connections

    def connections(self) -> None:
        by_source: dict[str, list[int]] = {}
        for index, connect in enumerate(self.kernel.connects):
            by_source.setdefault(f"{connect.source.root}::{connect.source.leaf}", []).append(index)
        for key, indices in by_source.items():
            connects = tuple(self.kernel.connects[i] for i in indices)
            transfer = self.choose_transfer(connects)
            if transfer is None:
                continue
            site = Site(key, connects, self.lifetimes, self.elect, self.diagnostics, self.find_end)
            plan = transfer.demand(site)
            if plan is None:
                continue
            self.plans.update((i, plan) for i in indices)
            self.rings += plan.rings
            self.buffers += plan.buffers
            self.barriers += plan.barriers
            self.mbarriers += plan.mbarriers
        self.one_way()

    def one_way(self) -> None:
        """All that fill the pages of a lease arrive alike, and so do all that read them."""
        first: dict[str, StreamPlan] = {}
        for plan in self.plans.values():
            if not isinstance(plan, StreamPlan) or plan.lease is None:
                continue
            known = first.setdefault(plan.lease, plan)
            ways = [
                (str(one.producer), f"{one.total} arrivals, one a {one.consumers[0].unit}") for one in (known, plan)
            ]
            if ways[0] != ways[1]:
                what = "filled" if ways[0][0] != ways[1][0] else "given back"
                how = [way[what == "given back"] for way in ways]
                message = f"pages of {spelled(plan.lease)} are {what} with {how[1]} by {spelled(plan.site.key)}, "
                message += f"with {how[0]} by {spelled(known.site.key)}"
                self.diagnostics.error("lease-mismatch", message, plan.site.connects[0].location)

    def port(self, ref: SymbolRef) -> Port:
        return self.components[ref.root].ports[ref.leaf]

    def find_end(self, ref: SymbolRef) -> End | None:
        """An end of a connection; None where no one role uses the port, which is reported once."""
        if ref not in self.ends:
            port, users = self.port(ref), self.lifetimes.port_users(ref.root, ref.leaf)
            role = self.only_role(ref.root, port, users)
            self.ends[ref] = None if role is None else End(
                ref.root, port, role, users, self.callers(ref.root, role, port), self.lifetimes.group_of.get(users[0])
            )  # fmt: skip
        return self.ends[ref]

    def choose_transfer(self, connects: tuple[Connect, ...]) -> Transfer | None:
        """The first transfer that suits every consumer of the port and is not ruled out."""
        lists: list[list[str]] = []
        for connect in connects:
            names = connect.legal
            if names is None:
                names = legal(self.port(connect.source), self.port(connect.target))[0]
            wanted = [n for n in names if connect.transfer in (None, n) and (connect.name, n) not in self.avoid]
            lists.append(wanted)
        for name in lists[0]:
            if name in BY_NAME and all(name in others for others in lists[1:]):
                return BY_NAME[name]
        first = connects[0]
        asked = f" (asked for: {first.transfer})" if first.transfer else ""
        self.diagnostics.error(
            "no-transfer",
            f"no transfer suits '{first.source}' and all that it connects to{asked}",
            first.location,
            notes=[
                Note(f"'{c.target}' could take: {', '.join(names) or 'none'}", c.location)
                for c, names in zip(connects, lists, strict=True)
            ],
        )
        return None

    def callers(self, instance: str, role: RoleView, port: Port) -> Callers | None:
        """The threads that arrive for a port, where the protocols say that not every thread of the role does."""
        found = self.steps.arriving(instance, port.name)
        if len(found) == 1:
            (callers,) = found
            return None if callers is None or callers.threads >= role.thread_count else callers
        ways = sorted("every thread" if c is None else f"{c.count} {c.unit}{'s' * (c.count > 1)}" for c in found)
        self.diagnostics.error(
            "arrival-disagreement",
            f"steps on port '@{instance}::@{port.name}' are taken by {' here, by '.join(ways)} there",
            place_of(self.components[instance], role.name),
            notes=[Note("the port is declared here", port.location)],
            hint="a phase counts one number of arrivals: let the same threads take every such step",
        )
        return None
