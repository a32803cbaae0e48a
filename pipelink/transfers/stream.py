"""What all rings between roles on different warps have in common: one producer, one or more consumers.

A slot has two mbarriers, ``full`` and ``empty``; arrival counts are summed over the consumers, unit and fence derived
from how the data are touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from pipelink.contract.abi import RANKS, function, mangle
from pipelink.contract.vocabulary import CACHE_POLICIES
from pipelink.ir.placement import ConnectionPlacement, MbarrierGroup, RingPlacement
from pipelink.ir.views import Component, Connect, Instance, Port, Tile
from pipelink.model.binding import (
    Arg,
    Body,
    Choose,
    Const,
    CursorPointer,
    Invoke,
    Linear,
    Result,
    Return,
    SharedAddress,
    Statement,
    TensorMemory,
    Value,
)
from pipelink.model.demand import Part, Ring
from pipelink.model.graph import ConnectionGraph, Edge
from pipelink.support.diagnostics import Diagnostics, Location, Note
from pipelink.target import MBARRIER_BYTES
from pipelink.transfers import touch
from pipelink.transfers.base import (
    CLUSTER_CTAS,
    Arrival,
    Arrivals,
    End,
    Plan,
    Site,
    Solved,
    Transfer,
    declared,
    report_disagreement,
)
from pipelink.transfers.binder import Binder

HINTS: Final = "hints.cu"  # copies with cache hints
TMEM_ALIGN: Final = 4  # columns, start of an allocation that tcgen05 can address
_TMEM_LANES: Final = 128
_TMEM_LANE_BYTES: Final = 4


def columns_of(tile: Tile) -> int:
    """Tensor-memory columns of a tile: stated, or its bytes over 128 lanes of 32 bits."""
    return tile.columns or -(-tile.bytes // (_TMEM_LANES * _TMEM_LANE_BYTES))


def tile_difference(source: Tile, target: Tile, index: int, *, layouts: bool = True) -> str | None:
    """Why a slot's tile cannot be read as it was written."""
    what = f"tile {index}"
    if source.element != target.element:
        return f"{what}: the elements differ: {source.element} is written, {target.element} is read"
    if tuple(source.shape) != tuple(target.shape):
        return f"{what}: the shapes differ: {list(source.shape)} is written, {list(target.shape)} is read"
    if source.space != target.space:
        return f"{what}: the spaces differ: {source.space} is written, {target.space} is read"
    if layouts and source.layout_key != target.layout_key:
        return f"{what}: the layouts differ: {source.layout} is written, {target.layout} is read"
    if source.bytes != target.bytes:
        return f"{what}: the sizes differ: {source.bytes} bytes are written, {target.bytes} are read"
    return None


@dataclass(kw_only=True)
class StreamPlan(Plan):
    """The plan of a ring.  ``producer`` arrives for a filled slot; ``consumers`` do for a read one, by connection,
    ``total`` together; connections with one name in ``positions`` share a ring position.  ``staging`` are keys of
    buffers, ``barrier`` of a named barrier of the producer's threads.  ``lease``: the key of the pages that are its
    slots, with ``parts`` in each."""

    producer: Arrivals
    consumers: list[Arrivals]
    total: int
    positions: list[str]
    staging: tuple[str, ...] = ()
    barrier: str | None = None
    lease: str | None = None
    parts: tuple[Part, ...] = ()

    @property
    def key(self) -> str:
        """That of the ring: the site's own, or the lease's."""
        return self.lease or self.site.key


@dataclass(frozen=True)
class Copy:
    """A function that copies a part of a slot (its rank follows the name), and constants that it takes besides."""

    function: str
    constants: tuple[Value, ...] = ()

    def hinted(self, policy: str) -> Copy:
        """The same with a cache hint: a function of ``hints.cu``."""
        name = self.function.replace("pl_", "pl_hinted_", 1)
        return Copy(name, (*self.constants, Const(CACHE_POLICIES.index(policy))))


class StreamTransfer(Transfer):
    """What all rings have in common."""

    kind: ClassVar[str] = "stream"
    form: ClassVar[type[ConnectionPlacement]] = RingPlacement
    sources: ClassVar[tuple[str, ...] | None] = ("ring.cu",)
    min_arch: ClassVar[str] = "sm_90"
    consumer_waits: ClassVar[tuple[str, ...]] = ("wait",)
    #: Where the slots lie.
    space: ClassVar[str] = "smem"
    #: Who fills the slots; () for whatever the port says.
    filled_by: ClassVar[tuple[str, ...]] = ()
    # device functions
    acquire_function: ClassVar[str] = "pl_ring_acquire"
    copy_function: ClassVar[str] = "pl_ring_tma"
    copy_ranks: ClassVar[tuple[int, ...]] = RANKS
    commit_function: ClassVar[str] = "pl_tmem_commit"
    release_function: ClassVar[str] = "pl_ring_release"

    # -- check

    def misfit(self, source: Port, target: Port) -> str | None:
        if any(tile.space != self.space for tile in source.tiles):
            return f"the tiles are not in {self.space}"
        if (source.cta_group, target.cta_group) != (self.cta_group, self.cta_group):
            return f"it is for cta_group {self.cta_group}, not {source.cta_group} to {target.cta_group}"
        return self.touch_misfit(source, target) or self.ends_differ(source, target)

    def unrequested(self, connect: Connect, source: Port) -> str | None:
        why = "it does not count the slots that are being filled" if source.in_flight is not None else None
        return super().unrequested(connect, source) or why

    def touch_misfit(self, source: Port, target: Port) -> str | None:
        """Why what fills or reads the slots does not suit."""
        if self.filled_by and source.touch not in self.filled_by:
            return f"the slots are filled by {source.touch}, not by {self.filled_by[0]}"
        return None

    def ends_differ(self, source: Port, target: Port) -> str | None:
        """Why a slot cannot be read as it was written."""
        if len(source.tiles) != len(target.tiles):
            return f"the tile counts differ: {len(source.tiles)} are written, {len(target.tiles)} are read"
        for index, (written, read) in enumerate(zip(source.tiles, target.tiles, strict=True)):
            if why := tile_difference(written, read, index):
                return why
        return None

    def agree(self, graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
        source, target = edge.source.port, edge.target.port
        where, notes = edge.connect.location, declared(source, target)
        if source.ends and not target.ends:
            message = f"{edge.source} ends, but {edge.target} never tests for the end"
            hint = "declare pl::ends on the consumer's port and test ended() after wait()"
            diagnostics.error("ends-mismatch", message, where, notes=notes, hint=hint)
        elif target.ends and not source.ends:
            message = f"{edge.target} tests for an end, but {edge.source} never ends"
            diagnostics.warning("ends-mismatch", message, where, notes=notes)
        if source.may_be_empty and target.ends and not target.may_be_empty:
            message = f"{edge.source} may end before its first item, but {edge.target} expects at least one"
            diagnostics.error("empty-mismatch", message, where, notes=notes)
        if source.multicast != target.multicast:
            report_disagreement(edge, "multicast", source.multicast, target.multicast, diagnostics)
        if source.data.get("scope", "cta") != target.data.get("scope", "cta"):
            report_disagreement(edge, "scope", source.scope or "cta", target.scope or "cta", diagnostics)
        if source.cta_group != target.cta_group:
            report_disagreement(edge, "cta_group", source.cta_group, target.cta_group, diagnostics)
        elif source.cta_group > 1:
            _check_pair(graph, edge, diagnostics)
        ctas = graph.cluster_size
        if source.multicast > ctas:
            message = f"{edge.source} goes to {source.multicast} CTAs of the cluster, which has {ctas}"
            diagnostics.error("protocol-mismatch", message, where, notes=declared(source))

    # -- place

    def demand(self, site: Site) -> StreamPlan | None:
        end = site.find_end(site.connects[0].source)
        producer = None if end is None else self.filling(end, site.elect)
        targets = [site.port(connect.target) for connect in site.connects]
        consumers, total, positions, readers = self._consumers(site)
        if end is None or producer is None or total is None:
            return None
        source = end.port
        least, most, fixed_by = _depths(source, targets, site.connects)
        tiles = self.slot_tiles(source, targets[0])
        lease = site.connects[0].lease
        if lease is not None:
            parts = _parts(tiles, *(target.tiles for target in targets))
            return StreamPlan(
                self, site, producer=producer, consumers=consumers, total=total, positions=positions,
                lease=f"{lease.root}::{lease.leaf}", parts=parts,
            )  # fmt: skip
        in_tmem = self.space == "tmem"
        ring = Ring(
            site.key,
            least,
            most,
            max(connect.weight for connect in site.connects),
            () if in_tmem else _parts(tiles, *(target.tiles for target in targets)),
            tuple(Part(columns_of(tile), TMEM_ALIGN) for tile in tiles) if in_tmem else (),
            mbarriers=2,
            words=1 if source.ends else 0,
            scope=site.lifetimes.scope([*end.users, *readers]),
            fixed_by=fixed_by,
            location=source.location,
        )
        return StreamPlan(
            self, site, (ring,), producer=producer, consumers=consumers, total=total, positions=positions
        )  # fmt: skip

    def filling(self, end: End, elect: bool) -> Arrivals:
        """Who arrives when a slot is filled."""
        return touch.producer(end, elect)

    def releasing_ctas(self, connect: Connect, target: Port) -> int:
        """CTAs whose readers release each slot."""
        return CLUSTER_CTAS if connect.shared else target.multicast

    def _consumers(self, site: Site) -> tuple[list[Arrivals], int | None, list[str], list[str]]:
        """Arrivals of each connect, their sum, ring positions, and the roles that read.  Consumers in one exclusive
        group arrive in turn: they count once, must agree, and share a position."""
        found: list[Arrivals] = []
        positions: list[str] = []
        readers: list[str] = []
        groups: dict[str, tuple[Arrivals, str, Location]] = {}
        total = 0
        good = True
        for connect in site.connects:
            end = site.find_end(connect.target)
            if end is None:
                good = False
                continue
            what = f"'@{end.instance}::@{end.port.name}'"
            arrivals = touch.consumer(end, site.elect, self.releasing_ctas(connect, end.port))
            found.append(arrivals)
            readers += end.users
            if end.group is None:
                total += arrivals.count
                positions.append(connect.name)
                continue
            positions.append(end.group)
            known = groups.setdefault(end.group, (arrivals, what, end.port.location))
            if known[0] is arrivals:
                total += arrivals.count
            elif known[0] != arrivals:
                good = False
                site.diagnostics.error(
                    "arrival-disagreement",
                    f"consumers in exclusive group '{end.group}' release a slot differently: {known[1]} with "
                    f"{known[0]}, {what} with {arrivals}",
                    end.port.location,
                    notes=[Note("the other consumer is declared here", known[2])],
                )
        return found, total if good else None, positions, readers

    def place(self, plan: Plan, connect: Connect, solved: Solved) -> RingPlacement:
        assert isinstance(plan, StreamPlan)
        key = plan.key
        stages, full = solved.solution.stages[key], solved.solution.mbarrier[key]
        number = next(i for i, other in enumerate(plan.site.connects) if other.target == connect.target)
        source, targets = plan.site.source, [plan.site.port(other.target) for other in plan.site.connects]
        columns = solved.columns(key)
        slots = () if columns else solved.slots(key) if plan.lease is None else solved.slots_in_pages(key, plan.parts)
        return RingPlacement(
            transfer=self.name,
            ring=solved.ring_numbers[key],
            stages=stages,
            full=full,
            empty=full + MBARRIER_BYTES * stages,
            bytes=sum(tile.bytes for tile in self.slot_tiles(source, targets[0])),
            producer_arrivals=plan.producer.count,
            producer_unit=plan.producer.unit,
            producer_fence=any(touch.mixes_proxies(source, target) for target in targets),
            producer_cursor=solved.cursor(key, "producer"),
            consumer_arrivals=plan.total,
            consumer_unit=plan.consumers[number].unit,
            consumer_fence=touch.refills(source, targets[number]),
            consumer_cursor=solved.cursor(key, plan.positions[number]),
            columns=columns,
            buffers=slots,
            end=solved.solution.word[key] if source.ends else None,
            staging=tuple(map(solved.span, plan.staging)),
            barrier=None if plan.barrier is None else solved.barrier(plan.barrier),
            multicast=source.multicast,
            shared=connect.shared,
            cache=source.cache,
            lease=plan.lease,
            in_flight=None if source.in_flight is None else min(source.in_flight, stages),
        )

    def mbarriers(self, plan: Plan, solved: Solved) -> tuple[MbarrierGroup, ...]:
        assert isinstance(plan, StreamPlan)
        key = plan.key
        at, stages = solved.solution.mbarrier[key], solved.solution.stages[key]
        return (
            MbarrierGroup(at, stages, plan.producer.count, f"{key} full"),
            MbarrierGroup(at + MBARRIER_BYTES * stages, stages, plan.total, f"{key} empty"),
        )

    def incomplete(self, placed: ConnectionPlacement, source: Port, target: Port) -> str | None:
        assert isinstance(placed, RingPlacement)
        if placed.cache != source.cache:
            return "has other cache policies than its port"
        if placed.in_flight != (None if source.in_flight is None else min(source.in_flight, placed.stages)):
            return "has another number of slots in flight than its port"
        return "has no 'end'" if source.ends and placed.end is None else None

    # -- bind

    def ring_of(self, connect: Connect) -> RingPlacement:
        """The placement that ``bind`` made sure of."""
        placed = connect.placed(RingPlacement)
        assert placed is not None, connect.name
        return placed

    def device_sources(self, placed: ConnectionPlacement) -> set[str]:
        assert isinstance(placed, RingPlacement)
        of_cores = placed.columns or touch.COMMIT in (placed.producer_unit, placed.consumer_unit)
        hinted = {HINTS} if placed.cache else set[str]()
        return {*(self.sources or ()), *(("ring.cu", "tmem.cu") if of_cores else ()), *hinted}

    def bind(self, binder: Binder, connect: Connect) -> None:
        if binder.first_of(connect.source):
            self.bind_producer(binder, connect, binder.instance(connect.source), binder.port(connect.source))
        self.bind_consumer(binder, connect, binder.instance(connect.target), binder.port(connect.target))

    def bind_producer(self, binder: Binder, connect: Connect, instance: Instance, port: Port) -> None:
        placed = self.ring_of(connect)
        readers = [other for other in binder.kernel.connects if other.source == connect.source]
        by_tma = placed.producer_unit == touch.TX
        refill = touch.before_refill((other, other.placed(self.form)) for other in readers) if by_tma else ()
        binder.slots(instance, port, placed.stages, self.written_addresses(placed))
        binder.waiting(
            instance, port, "pl_acquire", self.acquire(placed),
            then=(*touch.after_wait(port), *refill, Return(Result("stage"))),
        )  # fmt: skip
        self.bind_fill(binder, connect, instance, port, placed)
        if port.ends:
            cursor, empty, full = _producer_ring(placed)
            unit = Const(touch.UNITS.get(placed.producer_unit, 0))
            arguments = (cursor, empty, full, Const(placed.stages), unit, _end(placed))
            binder.waiting(
                instance, port, "pl_end", Invoke("pl_ring_end", arguments, waits=True), then=(Return(),)
            )  # fmt: skip

    def written_addresses(self, placed: RingPlacement) -> list[Value]:
        """Where the producer writes each tile of a slot."""
        return slot_addresses(placed)

    def acquire(self, placed: RingPlacement) -> Invoke:
        cursor, empty, full = _producer_ring(placed)
        announced = Const(placed.bytes if placed.producer_unit == touch.TX else 0)
        arguments: tuple[Value, ...] = (cursor, empty, full, Const(placed.stages), announced, _end(placed))
        function = self.acquire_function
        if placed.in_flight is not None:
            function, arguments = f"{function}_within", (*arguments, Const(placed.in_flight))
        return Invoke(function, arguments, "stage", "unsigned", waits=True)

    def bind_fill(
        self, binder: Binder, connect: Connect, instance: Instance, port: Port, placed: RingPlacement
    ) -> None:
        """Define what says that a slot is filled, or what fills it."""
        full = SharedAddress(placed.full)
        if placed.producer_unit == touch.TX:
            own = [Copy(self.copy_function)] * len(slot_addresses(placed))
            parts = self.copies(binder.component(instance), connect, port, own)
            if placed.cache:
                own, parts = ([copy.hinted(p) for copy, p in zip(c, placed.cache, strict=True)] for c in (own, parts))
            for rank in self.copy_ranks:
                _bind_copy(binder, instance, port, full, rank, own, parts)
        else:
            binder.function(instance, port, "pl_commit", self.commit(placed), Return())

    def commit(self, placed: RingPlacement) -> Invoke:
        """A producer's arrival, of tensor cores or of threads."""
        full, stage = SharedAddress(placed.full), Arg("stage")
        if placed.producer_unit == touch.COMMIT:
            return Invoke(self.commit_function, (full, stage))
        unit, fence = Const(touch.UNITS[placed.producer_unit]), Const(int(placed.producer_fence))
        return Invoke("pl_ring_commit", (full, stage, unit, fence))

    def copies(self, component: Component, connect: Connect, port: Port, own: list[Copy]) -> list[Copy]:
        """What copies each part of a slot; ``own``: the ring's own function for each."""
        return own

    def bind_consumer(self, binder: Binder, connect: Connect, instance: Instance, port: Port) -> None:
        placed = self.ring_of(connect)
        binder.slots(instance, port, placed.stages, slot_addresses(placed))
        arguments = (CursorPointer(placed.consumer_cursor), SharedAddress(placed.full), Const(placed.stages))
        wait = Invoke("pl_ring_wait", arguments, "stage", "unsigned", waits=True)
        binder.waiting(
            instance, port, "pl_wait", wait, then=(*self.after_wait(placed, port), Return(Result("stage")))
        )  # fmt: skip
        binder.function(instance, port, "pl_release", *self.release(placed, connect), Return())
        if port.ends:
            ended = Invoke("pl_ring_ended", (Arg("stage"), _end(placed)), "ended", "unsigned")
            binder.function(instance, port, "pl_ended", ended, Return(Result("ended")))

    def after_wait(self, placed: RingPlacement, port: Port) -> tuple[Statement, ...]:
        """What a consumer does between its wait and its first read."""
        return touch.after_wait(port)

    def release(self, placed: RingPlacement, connect: Connect) -> tuple[Statement, ...]:
        """A consumer's arrival.  Tensor cores arrive, or threads, whose loads from tensor memory are complete first."""
        empty, stage = SharedAddress(placed.empty), Arg("stage")
        if placed.consumer_unit == touch.COMMIT:
            return (Invoke(self.commit_function, (empty, stage)),)
        loaded = (Invoke("pl_tmem_loaded", ()),) if placed.columns else ()
        unit = Const(touch.UNITS[placed.consumer_unit])
        return (*loaded, Invoke(self.release_function, (empty, stage, unit)))

    # -- prove

    def depth(self, placed: ConnectionPlacement) -> int:
        assert isinstance(placed, RingPlacement)
        return placed.stages

    def watched(self, placed: ConnectionPlacement, producer: bool) -> int | None:
        assert isinstance(placed, RingPlacement)
        return placed.empty if producer else placed.full

    def arrivals(
        self, verb: str, producer: bool, connect: Connect, placed: ConnectionPlacement, port: Port, cta: int, ctas: int
    ) -> tuple[Arrival, ...]:
        assert isinstance(placed, RingPlacement)
        at = placed.full if producer else placed.empty
        unit = placed.producer_unit if producer else placed.consumer_unit
        if verb == "copy":
            return self.copied(connect, port, at, cta, ctas)
        if verb == "end":
            return (Arrival(cta, at, "thread" if unit in (touch.TX, touch.COMMIT) else unit),)
        return self.given(producer, connect, unit, at, cta, ctas)

    def copied(self, connect: Connect, port: Port, at: int, cta: int, ctas: int) -> tuple[Arrival, ...]:
        """The bytes that a slot's copies complete, by CTA."""
        return (Arrival(cta, at, bytes=sum(tile.bytes for tile in port.tiles)),)

    def given(self, producer: bool, connect: Connect, unit: str, at: int, cta: int, ctas: int) -> tuple[Arrival, ...]:
        """Where a commit or a release arrives."""
        return (Arrival(cta, at, unit),)

    def expectation(self, placed: ConnectionPlacement, cta: int, ctas: int) -> Arrival | None:
        assert isinstance(placed, RingPlacement)
        return Arrival(cta, placed.full, bytes=placed.bytes) if placed.producer_unit == touch.TX else None

    # -- debug links

    def producer_waits(self, placed: ConnectionPlacement) -> tuple[str, ...]:
        assert isinstance(placed, RingPlacement)
        return ("acquire",) if placed.end is None else ("acquire", "end")


def slot_addresses(placed: RingPlacement) -> list[Value]:
    """The address of each tile of a slot, in tensor memory or in shared memory."""
    if placed.columns:
        return [TensorMemory(part.column, part.stride, "stage") for part in placed.columns]
    return [Linear(part.address, part.stride, "stage") for part in placed.buffers]


def _producer_ring(placed: RingPlacement) -> tuple[CursorPointer, SharedAddress, SharedAddress]:
    return CursorPointer(placed.producer_cursor), SharedAddress(placed.empty), SharedAddress(placed.full)


def _end(placed: RingPlacement) -> Value:
    return Const(0) if placed.end is None else SharedAddress(placed.end)


def _bind_copy(
    binder: Binder,
    instance: Instance,
    port: Port,
    full: SharedAddress,
    rank: int,
    own: Sequence[Copy],
    copies: Sequence[Copy],
) -> None:
    """Define ``pl_tma1`` … ``pl_tma5``: the address of the part, then the copy that is its.  What is no plain copy
    has two dimensions at least."""
    address = function(port.kind, port.direction, "pl_address")
    member = (binder.path(instance, port), address.name, address.codes)
    where = Invoke(
        mangle(*member), (Arg("id"), Arg("frame"), Arg("stage"), Arg("part")), "to", "unsigned", member
    )  # fmt: skip
    common = (Result("to"), Arg("offset"), Arg("map"), full, Arg("stage"))

    def body(copy: Copy) -> Body:
        arguments = (*common, *copy.constants, *(Arg(f"c{axis}") for axis in range(rank)))
        return (Invoke(f"{copy.function}{rank}", arguments), Return())

    parts = own if rank == 1 else copies
    same = all(copy == own[0] for copy in parts)
    rest: Body = body(own[0]) if same else (Choose("part", tuple(map(body, parts))),)
    binder.function(instance, port, f"pl_tma{rank}", where, *rest)


def _depths(source: Port, targets: Sequence[Port], connects: Sequence[Connect]) -> tuple[int, int, str]:
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


def _check_pair(graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
    """Whether there is a pair of CTAs, which work in step, and no tensor-core work of one CTA beside it."""
    where, notes, name = edge.connect.location, declared(edge.source.port), graph.kernel.name
    ctas = graph.cluster_size
    if ctas != CLUSTER_CTAS:
        has = f"clusters of {ctas} CTAs" if ctas > 1 else "no cluster"
        message = f"{edge.source} to {edge.target} is for a pair of CTAs, kernel '{name}' has {has}"
        diagnostics.error("cluster-mismatch", message, where, notes=notes)
        return
    if not graph.promises(LOCKSTEP, CLUSTER_CTAS, edge.source.instance.name):
        message = (
            f"{edge.source} to {edge.target} is for a pair of CTAs, but nothing promises {LOCKSTEP} = {CLUSTER_CTAS}"
        )
        hint = "let a scheduler for clusters deal out the work, such as plc::paired_tiles"
        diagnostics.error("cluster-mismatch", message, where, notes=notes, hint=hint)
    cores = [e for e in graph.edges if "tcgen05" in (e.source.port.touch, e.target.port.touch)]
    for other in (e for e in cores if e.source.port.cta_group == e.target.port.cta_group == 1):
        message = f"{edge.source} is of cta_group 2 and {other.source} of cta_group 1, a kernel has one"
        diagnostics.error("cluster-mismatch", message, where, notes=[*notes, *declared(other.source.port)])


LOCKSTEP: Final = "cluster_lockstep"  # promise of a scheduler
