"""Reads the placement problem of a kernel from its views.

Beside the :class:`Problem`, which knows only amounts, the result keeps what each amount stands for: the rings with
their ends, arrival units and counts (derived from how the data are touched), the local rings and the tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelink.analysis.graph import first_credit
from pipelink.analysis.lifetimes import Lifetimes, RoleKey
from pipelink.analysis.multicast import CLUSTER_CTAS
from pipelink.analysis.placement.model import (
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
from pipelink.analysis.protocol.callers import Steps
from pipelink.analysis.protocol.language import place_of
from pipelink.ir.views import Connect, Kernel, Pool, Port, Program, Tile
from pipelink.ir.views import Role as RoleView
from pipelink.support.diagnostics import Diagnostics, Location, Note
from pipelink.support.protocol import Callers
from pipelink.target import WARP_THREADS, WARPGROUP_WARPS, target
from pipelink.transfers import BY_NAME, legal

STAGING_ALIGN = 16  # bytes, vector accesses of the conversion
TMEM_ALIGN = 4  # columns, start of an allocation that tcgen05 can address
TMEM_LANE_BYTES = 4
TMEM_WORD = "tensor memory"  # key of the shared-memory word that holds where the allocation begins
TMEM_WORD_BYTES = 4
TMEM_LANES = 128
RINGS = ("ring.tma", "ring.threads", "ring.threads.convert", "cluster", "tmem", "pair.tma", "pair.tmem")


@dataclass(frozen=True)
class Arrivals:
    """Who arrives on an mbarrier: ``unit`` is tx, commit (of tcgen05), thread, warp or warpgroup; ``count`` a phase."""

    unit: str
    count: int


@dataclass
class RingPlan:
    """A stream with its consumers.  ``consumers`` has the arrivals of each connect, in order, ``refilled`` whether its
    threads read what TMA overwrites next."""

    key: str
    transfer: str
    connects: list[Connect]
    source: Port
    tiles: tuple[Tile, ...]
    producer: Arrivals
    consumers: list[Arrivals]
    refilled: list[bool]
    consumer_total: int
    fence: bool
    ends: bool
    consumer_slots: list[str]  # connects with one slot name share a ring position
    staging: list[str] = field(default_factory=list[str])  # buffer keys of a conversion
    barrier: str | None = None


@dataclass(frozen=True)
class TokenPlan:
    key: str
    connects: tuple[Connect, ...]
    producer: Arrivals
    credit: int


@dataclass(frozen=True)
class LocalPlan:
    """A ring that one role fills and reads itself."""

    key: str
    instance: str
    port: Port
    threads: int


@dataclass
class Built:
    """The problem and what its keys stand for."""

    problem: Problem
    rings: dict[str, RingPlan]
    tokens: list[TokenPlan]
    locals: list[LocalPlan]
    transfers: dict[int, str]  # by index of the connect


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

    Reports ``ambiguous-role``, ``no-transfer`` and ``arrival-disagreement``; raises LinkError ``unknown-target``.
    """
    return _Builder(program, kernel, diagnostics, avoid, elect).run()


class _Builder:
    def __init__(
        self, program: Program, kernel: Kernel, diagnostics: Diagnostics, avoid: frozenset[tuple[str, str]], elect: bool
    ) -> None:
        self.kernel = kernel
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
        self.plans: dict[str, RingPlan] = {}
        self.tokens: list[TokenPlan] = []
        self.locals: list[LocalPlan] = []
        self.transfers: dict[int, str] = {}

    def run(self) -> Built:
        kernel = self.kernel
        facts = target(kernel.target, kernel.location)
        roles = self.roles()
        for name in kernel.instances:
            self.own_resources(name)
        self.connections()
        if self.columns or any(ring.columns for ring in self.rings):
            word = Buffer(TMEM_WORD, TMEM_WORD_BYTES, TMEM_WORD_BYTES, location=kernel.location)
            self.buffers.append(word)
        overlays = tuple(frozenset(f"{ref.root}::{ref.leaf}" for ref in overlay.buffers) for overlay in kernel.overlays)
        problem = Problem(
            facts,
            kernel.min_ctas or 1,
            tuple(roles),
            tuple(
                Group(name, roles, self.group_location(name)) for name, roles in self.lifetimes.warp_sharers().items()
            ),
            tuple(self.buffers),
            tuple(self.rings),
            tuple(self.barriers),
            tuple(self.mbarriers),
            tuple(self.columns),
            overlays,
            kernel.name,
            kernel.location,
        )
        return Built(problem, self.plans, self.tokens, self.locals, self.transfers)

    # -- roles and what instances own

    def group_location(self, name: str) -> Location:
        """Where a set of roles that share warps is declared: the exclusive group, or the dispatch port."""
        for group in self.kernel.exclusives:
            if group.name == name:
                return group.location
        instance, _, port = name.partition("::")
        return self.components[instance].ports[port].location

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
        for tmem in component.tmem.values():
            key = f"{name}::{tmem.name}"
            self.columns.append(
                Buffer(key, tmem.columns, TMEM_ALIGN, scope(tmem.role), interval(tmem.live), tmem.location)
            )
        for pool in component.pools.values():
            self.pool(name, pool)
        for port in component.ports.values():
            if port.direction == "local":
                self.local_ring(name, port)

    def pool(self, name: str, pool: Pool) -> None:
        """Pages lent at run time to any role: at least as many as one borrower takes at once."""
        borrowed = [
            self.port(connect, "target").pages[0]
            for connect in self.kernel.connects
            if connect.source.root == name and self.port(connect, "source").pool == pool.name
        ]
        least, most = pool.pages
        part = Part(pool.page_bytes, pool.align)
        self.rings.append(
            Ring(
                f"{name}::{pool.name}",
                max([least, *borrowed]),
                most,
                parts=(part,),
                unit="pages",
                location=pool.location,
            )
        )

    def local_ring(self, name: str, port: Port) -> None:
        users = self.lifetimes.port_users(name, port.name)
        role = self.only_role(name, port, users)
        if role is None:
            return
        key = f"{name}::{port.name}"
        scope = self.lifetimes.scope(users)
        self.rings.append(Ring(key, *port.stages, parts=_parts(port.tiles), scope=scope, location=port.location))
        threads = role.warps * WARP_THREADS
        self.barriers.append(Barrier(key, threads, scope, port.location))
        self.locals.append(LocalPlan(key, name, port, threads))

    def only_role(self, name: str, port: Port, users: tuple[RoleKey, ...]) -> RoleView | None:
        """The one role that uses a port; roles of one exclusive group count as one if they have equally many warps."""
        found = [self.role_view(user) for user in users]
        groups = {self.lifetimes.group_of.get(user, user) for user in users}
        if len(groups) == 1 and len({role.warps for role in found}) == 1:
            return found[0]
        what = "is used by no role" if not users else f"is used by {', '.join(spelled(user) for user in users)}"
        self.diagnostics.error(
            "ambiguous-role",
            f"port '@{name}::@{port.name}' {what}; it needs exactly one",
            port.location,
            notes=[Note(f"{spelled(user)} is declared here", self.role_view(user).location) for user in users],
        )
        return None

    def role_view(self, key: RoleKey) -> RoleView:
        instance, _, role = key.partition("::")
        return self.components[instance].roles[role]

    # -- connections

    def connections(self) -> None:
        by_source: dict[str, list[int]] = {}
        for index, connect in enumerate(self.kernel.connects):
            by_source.setdefault(f"{connect.source.root}::{connect.source.leaf}", []).append(index)
        for key, indices in by_source.items():
            connects = [self.kernel.connects[i] for i in indices]
            transfer = self.choose_transfer(connects)
            if transfer is None:
                continue
            self.transfers.update((i, transfer) for i in indices)
            if transfer in RINGS:
                self.ring(key, transfer, connects)
            elif transfer == "token":
                self.token(key, connects)

    def port(self, connect: Connect, end: str) -> Port:
        ref = connect.source if end == "source" else connect.target
        return self.components[ref.root].ports[ref.leaf]

    def choose_transfer(self, connects: list[Connect]) -> str | None:
        """The first transfer that suits every consumer of the port and is not ruled out."""
        lists: list[list[str]] = []
        for connect in connects:
            names = connect.legal
            if names is None:
                names = legal(self.port(connect, "source"), self.port(connect, "target"))[0]
            wanted = [n for n in names if connect.transfer in (None, n) and (connect.name, n) not in self.avoid]
            lists.append(wanted)
        for name in lists[0]:
            if name in BY_NAME and all(name in others for others in lists[1:]):
                return name
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

    def ring(self, key: str, transfer: str, connects: list[Connect]) -> None:
        source = self.port(connects[0], "source")
        targets = [self.port(connect, "target") for connect in connects]
        instance = connects[0].source.root
        users = self.lifetimes.port_users(instance, source.name)
        role = self.only_role(instance, source, users)
        producer = None if role is None else _producer(role, source, self.elect, self.callers(instance, role, source))
        consumers, total, slots, readers = self.consumers(connects, targets)
        if producer is None or total is None or role is None:
            return
        least, most, fixed_by = _depths(source, targets, connects)
        convert = transfer == "ring.threads.convert"
        tiles = targets[0].tiles if convert else source.tiles
        in_tmem = BY_NAME[transfer].kind == "tmem"
        scope = self.lifetimes.scope([*users, *readers])
        ends = source.ends
        self.rings.append(
            Ring(
                key,
                least,
                most,
                max(connect.weight for connect in connects),
                () if in_tmem else _parts(tiles, *(t.tiles for t in targets)),
                tuple(Part(columns_of(tile), TMEM_ALIGN) for tile in tiles) if in_tmem else (),
                mbarriers=2,
                words=1 if ends else 0,
                scope=scope,
                fixed_by=fixed_by,
                location=source.location,
            )
        )
        plan = RingPlan(
            key,
            transfer,
            connects,
            source,
            tiles,
            producer,
            consumers,
            [source.touch.startswith("tma") and target.touch == "threads" for target in targets],
            total,
            source.touch == "threads" and any(t.touch in ("wgmma", "tma", "tcgen05") for t in targets),
            ends,
            slots,
        )
        if convert:
            own = self.lifetimes.scope(users)
            for index, tile in enumerate(source.tiles):
                staging = f"{key}.staging{index}"
                align = max(STAGING_ALIGN, tile.align)
                self.buffers.append(Buffer(staging, tile.bytes, align, own, None, source.location))
                plan.staging.append(staging)
            plan.barrier = f"{key}.staging"
            self.barriers.append(Barrier(plan.barrier, role.warps * WARP_THREADS, own, source.location))
        self.plans[key] = plan

    def consumers(
        self, connects: list[Connect], targets: list[Port]
    ) -> tuple[list[Arrivals], int | None, list[str], list[RoleKey]]:
        """Arrivals of each connect, their sum, ring positions, and the roles that read.  Consumers in one exclusive
        group arrive in turn: they count once, must agree, and share a position."""
        found: list[Arrivals] = []
        slots: list[str] = []
        readers: list[RoleKey] = []
        groups: dict[str, tuple[Arrivals, str, Location]] = {}
        total = 0
        good = True
        for connect, port in zip(connects, targets, strict=True):
            instance = connect.target.root
            users = self.lifetimes.port_users(instance, port.name)
            role = self.only_role(instance, port, users)
            if role is None:
                good = False
                continue
            in_both = bool(connect.shared) or (port.cta_group > 1 and port.tiles[0].space == "tmem")
            ctas = CLUSTER_CTAS if in_both else port.multicast
            arrivals = _consumer(role, port, self.elect, self.callers(instance, role, port), ctas)
            found.append(arrivals)
            readers += users
            group = self.lifetimes.group_of.get(users[0])
            if group is None:
                total += arrivals.count
                slots.append(connect.name)
                continue
            slots.append(group)
            known = groups.setdefault(group, (arrivals, f"'@{instance}::@{port.name}'", port.location))
            if known[0] is arrivals:
                total += arrivals.count
            elif known[0] != arrivals:
                good = False
                self.diagnostics.error(
                    "arrival-disagreement",
                    f"consumers in exclusive group '{group}' release a slot differently: {known[1]} with "
                    f"{_arrivals(known[0])}, '@{instance}::@{port.name}' with {_arrivals(arrivals)}",
                    port.location,
                    notes=[Note("the other consumer is declared here", known[2])],
                )
        return found, total if good else None, slots, readers

    def callers(self, instance: str, role: RoleView, port: Port) -> Callers | None:
        """The threads that arrive for a port, where the protocols say that not every thread of the role does."""
        found = self.steps.arriving(instance, port.name)
        if len(found) == 1:
            (callers,) = found
            return None if callers is None or callers.threads >= _role_threads(role) else callers
        ways = sorted("every thread" if c is None else f"{c.count} {c.unit}{'s' * (c.count > 1)}" for c in found)
        self.diagnostics.error(
            "arrival-disagreement",
            f"steps on port '@{instance}::@{port.name}' are taken by {' here, by '.join(ways)} there",
            place_of(self.components[instance], role.name),
            notes=[Note("the port is declared here", port.location)],
            hint="a phase counts one number of arrivals: let the same threads take every such step",
        )
        return None

    def token(self, key: str, connects: list[Connect]) -> None:
        source = self.port(connects[0], "source")
        instance = connects[0].source.root
        role = self.only_role(instance, source, self.lifetimes.port_users(instance, source.name))
        if role is None:
            return
        arrivals = _threads(role, self.elect, self.callers(instance, role, source))
        self.mbarriers.append(Mbarriers(key, 1, arrivals.count, source.location))
        credit = first_credit(connects, [source, *(self.port(connect, "target") for connect in connects)])
        self.tokens.append(TokenPlan(key, tuple(connects), arrivals, credit))


def _role_threads(role: RoleView) -> int:
    return 1 if role.one_thread else WARP_THREADS * role.warps


def _threads(role: RoleView, elect: bool, callers: Callers | None) -> Arrivals:
    """Threads arrive once a warp after __syncwarp, or each for itself; part of a warp cannot meet."""
    threads = _role_threads(role) if callers is None else callers.threads
    if not elect or threads % WARP_THREADS:
        return Arrivals("thread", threads)
    return Arrivals("warp", threads // WARP_THREADS)


def _producer(role: RoleView, port: Port, elect: bool, callers: Callers | None) -> Arrivals:
    """TMA arrives once and adds bytes, tcgen05.commit arrives once, threads as above."""
    if port.touch == "tma":
        return Arrivals("tx", 1)
    if port.touch == "tcgen05":
        return Arrivals("commit", 1)
    return _threads(role, elect, callers)


def _consumer(role: RoleView, port: Port, elect: bool, callers: Callers | None, ctas: int) -> Arrivals:
    """wgmma reads for a warpgroup at once, tcgen05.mma for the thread that issues it; generic loads, and tcgen05.ld of
    tensor memory, are done only when every warp says so.  A slot that TMA multicasts is released by the consumers of
    each of the CTAs that receive it, accumulators of a pair by the readers of both CTAs."""
    threads = _role_threads(role) if callers is None else callers.threads
    if port.touch == "wgmma" and threads % (WARPGROUP_WARPS * WARP_THREADS) == 0:
        found = Arrivals("warpgroup", threads // (WARPGROUP_WARPS * WARP_THREADS))
    elif port.touch == "tcgen05" and all(tile.space == "smem" for tile in port.tiles):
        found = Arrivals("commit", 1)
    else:
        found = _threads(role, elect, callers)
    return Arrivals(found.unit, found.count * ctas)


def _arrivals(arrivals: Arrivals) -> str:
    return f"{arrivals.count} arrivals, one a {arrivals.unit}"


def _depths(source: Port, targets: list[Port], connects: list[Connect]) -> tuple[int, int, str]:
    """The depths that all ends accept, and why only one if a connection insists."""
    least = max(port.stages[0] for port in (source, *targets))
    most = min(port.stages[1] for port in (source, *targets))
    for connect in connects:
        if connect.stages is not None:
            return max(least, connect.stages), min(most, connect.stages), "the depth that the connection asks for"
    return least, most, ""


def _parts(tiles: tuple[Tile, ...], *others: tuple[Tile, ...]) -> tuple[Part, ...]:
    """Arrays of a slot's tiles, aligned as the strictest end says."""
    aligns = [max([tile.align, *(o[i].align for o in others if i < len(o))]) for i, tile in enumerate(tiles)]
    return tuple(Part(tile.bytes, align) for tile, align in zip(tiles, aligns, strict=True))


def columns_of(tile: Tile) -> int:
    """Tensor-memory columns of a tile: stated, or its bytes over 128 lanes of 32 bits."""
    return tile.columns or -(-tile.bytes // (TMEM_LANES * TMEM_LANE_BYTES))
