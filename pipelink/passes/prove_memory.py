"""Part of ``prove``: where things lie in shared and in tensor memory.

Everything that is placed becomes a buffer with the scope that ``place`` would give it; two that share a byte must be
apart by what :func:`~pipelink.analysis.placement.pack.may_overlap` knows.  Mbarriers and end marks keep their state
from one use to the next, so nothing may lie on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pipelink.analysis.placement.build import TMEM_WORD, TMEM_WORD_BYTES
from pipelink.analysis.placement.pack import Overlays, may_overlap
from pipelink.analysis.placement.solve import TMEM_LEAST
from pipelink.contract.vocabulary import SWIZZLES, TOUCHES
from pipelink.ir.placement import KernelPlacement, LocalRing, RingPlacement
from pipelink.ir.views import Component, Connect, Kernel, Port, Tile
from pipelink.model.demand import ALWAYS, Buffer, Interval, Scope, spelled
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.passes.prove_shape import WORD_BYTES
from pipelink.support.diagnostics import Diagnostics, Location, Note
from pipelink.target import MBARRIER_BYTES, SMEM_BASE, Target
from pipelink.transfers import placement_of, transfer_of
from pipelink.transfers.binder import placed_instance
from pipelink.transfers.convert import STAGING_ALIGN
from pipelink.transfers.stream import TMEM_ALIGN, columns_of
from pipelink.transfers.touch import COMMIT


@dataclass(frozen=True)
class Region:
    """A placed buffer, in bytes or columns; ``users`` are the roles for whose sake it is there."""

    buffer: Buffer
    begin: int
    what: str
    users: tuple[RoleKey, ...] = ()

    @property
    def end(self) -> int:
        return self.begin + self.buffer.size

    @property
    def scope(self) -> Scope:
        return self.buffer.scope


class Regions:
    """Everything that a placed kernel has in memory."""

    def __init__(self, kernel: Kernel, lifetimes: Lifetimes, placement: KernelPlacement) -> None:
        self.kernel = kernel
        self.lifetimes = lifetimes
        self.components: Mapping[str, Component] = lifetimes.components
        self.placement = placement
        self.smem: list[Region] = []
        self.tmem: list[Region] = []
        self.leased: list[tuple[Connect, RingPlacement, tuple[Port, ...]]] = []
        self.kernel_owned()
        for name, component in self.components.items():
            self.instance(name, component)
        seen: set[tuple[str, ...]] = set()
        for connect in kernel.connects:
            if connect.source.path not in seen:
                seen.add(connect.source.path)
                self.connection(connect)

    def add(
        self,
        key: str,
        begin: int,
        size: int,
        align: int,
        what: str,
        location: Location,
        users: Iterable[RoleKey] | None = None,
        interval: Interval | None = None,
    ) -> None:
        """``users`` None: in use always, whoever uses it."""
        known = None if users is None else tuple(users)
        scope = ALWAYS if known is None else self.lifetimes.scope(known)
        buffer = Buffer(key, size, align, scope, interval, location)
        self.smem.append(Region(buffer, begin, what, known or ()))

    def kernel_owned(self) -> None:
        where = self.kernel.location
        for group in self.placement.mbarriers:
            name = group.name or group.address
            size = MBARRIER_BYTES * group.count
            self.add(f"mbarriers {name}", group.address, size, MBARRIER_BYTES, f"the mbarriers '{name}'", where)
        for words in self.placement.words:
            name, size = words.name or words.address, WORD_BYTES * words.count
            self.add(f"words {name}", words.address, size, WORD_BYTES, f"the end marks of '{name}'", where)
        at = self.placement.tmem_word
        if at is not None:
            self.add(TMEM_WORD, at, TMEM_WORD_BYTES, TMEM_WORD_BYTES, "the address of tensor memory", where)

    def instance(self, name: str, component: Component) -> None:
        placed = placed_instance(self.kernel.instances[name])
        where = self.kernel.instances[name].location

        def interval(live: tuple[int, int] | None) -> Interval | None:
            return None if live is None else Interval(name, *live)

        for smem in component.smem.values():
            key, users = f"{name}::{smem.name}", self.lifetimes.users(name, smem.role)
            at = placed.smem[smem.name]
            self.add(key, at, smem.bytes, smem.align, spelled(key), where, users, interval(smem.live))
        for port in component.ports.values():
            if port.direction == "local":
                users = self.lifetimes.port_users(name, port.name)
                self.ring(f"{name}::{port.name}", placed.locals[port.name], port.tiles, (port,), where, users)
        for lease in component.leases.values():
            if lease.name in placed.leases:
                pages, key = placed.leases[lease.name], f"{name}::{lease.name}"
                size = pages.stride * (pages.pages - 1) + lease.page_bytes
                self.add(key, pages.address, size, lease.align, spelled(key), where)
        for tmem in component.tmem.values():
            key, users = f"{name}::{tmem.name}", self.lifetimes.users(name, tmem.role)
            scope = self.lifetimes.scope(users)
            buffer = Buffer(key, tmem.columns, TMEM_ALIGN, scope, interval(tmem.live), where)
            self.tmem.append(Region(buffer, placed.tmem[tmem.name], spelled(key), users))

    def connection(self, connect: Connect) -> None:
        placed = placement_of(connect)
        if not isinstance(placed, RingPlacement):
            return
        key = f"{connect.source.root}::{connect.source.leaf}"
        same = [other for other in self.kernel.connects if other.source == connect.source]
        source = self.components[connect.source.root].ports[connect.source.leaf]
        targets = [self.components[other.target.root].ports[other.target.leaf] for other in same]
        producers = self.lifetimes.port_users(connect.source.root, connect.source.leaf)
        users = [*producers]
        for other in same:
            users += self.lifetimes.port_users(other.target.root, other.target.leaf)
        if placed.columns:
            for index, part in enumerate(placed.columns):
                size = part.stride * placed.stages
                buffer = Buffer(f"{key}#{index}", size, TMEM_ALIGN, self.lifetimes.scope(users), None, connect.location)
                self.tmem.append(Region(buffer, part.column, spelled(key), tuple(users)))
            return
        ends = transfer_of(connect).slot_ends(source, targets)
        if placed.lease is not None:
            self.leased.append((connect, placed, ends))
            return
        self.ring(key, placed, ends[0].tiles, ends, connect.location, users)
        for index, staging in enumerate(placed.staging):
            align = max(STAGING_ALIGN, source.tiles[index].align)
            what = f"staging of {spelled(key)}"
            name = f"{key}.staging{index}"
            self.add(name, staging.address, staging.bytes, align, what, connect.location, producers)

    def ring(
        self,
        key: str,
        placed: RingPlacement | LocalRing,
        tiles: tuple[Tile, ...],
        ends: tuple[Port, ...],
        where: Location,
        users: Iterable[RoleKey],
    ) -> None:
        """One region for each tile's array of slots."""
        found = tuple(users)
        for index, part in enumerate(placed.buffers):
            align = max([tile_align(end, index) for end in ends])
            size = part.stride * (placed.stages - 1) + part.bytes
            what = spelled(key) if len(tiles) == 1 else f"tile {index} of {spelled(key)}"
            self.add(f"{key}#{index}", part.address, size, align, what, where, found)


def tile_align(port: Port, index: int) -> int:
    """What a tile's address must be a multiple of, at one end: as stated, for its swizzle, and for TMA."""
    if index >= len(port.tiles):
        return 1
    tile = port.tiles[index]
    needed = max(tile.align, SWIZZLES[tile.layout].repeat_bytes if tile.layout in SWIZZLES else 1)
    return max(needed, TOUCHES[port.touch].align) if tile.layout != "item" else needed


def check_memory(
    kernel: Kernel, regions: Regions, target: Target, diagnostics: Diagnostics
) -> list[tuple[Region, Region]]:
    """Ranges, alignments and overlaps; returns the pairs that overlap because their scopes exclude each other.

    Reports ``placement-range``, ``bad-alignment``, ``placement-overlap`` and ``tensor-memory-order``.
    """
    placement = regions.placement
    limit = target.smem_for(placement.min_ctas)
    if placement.smem_bytes > limit:
        message = f"kernel '{kernel.name}' is placed in {placement.smem_bytes} bytes of shared memory, "
        message += f"{placement.smem_bytes - limit} over the {limit} that {target.name} has"
        diagnostics.error("placement-range", message, kernel.location)
    end = SMEM_BASE + placement.smem_bytes
    for region in regions.smem:
        if region.begin < SMEM_BASE:
            message = f"{region.what} is placed at {region.begin}, below the {SMEM_BASE} bytes that the driver reserves"
            diagnostics.error("placement-range", message, region.buffer.location)
        elif region.end > end:
            message = f"{region.what} is placed from {region.begin} to {region.end}, shared memory ends at {end}"
            diagnostics.error("placement-range", message, region.buffer.location)
        _check_alignment(region, region.begin, diagnostics)
    _check_strides(kernel, regions.components, diagnostics)
    _check_pages(kernel, regions, diagnostics)
    overlays = Overlays([frozenset(f"{r.root}::{r.leaf}" for r in overlay.buffers) for overlay in kernel.overlays])
    excluded = list(_overlaps(regions.smem, overlays, diagnostics))
    if regions.tmem or placement.tmem_columns is not None:
        _check_tensor_memory(kernel, regions, target, diagnostics)
        excluded += _overlaps(regions.tmem, overlays, diagnostics)
    return excluded


def _check_alignment(region: Region, at: int, diagnostics: Diagnostics, unit: str = "bytes") -> None:
    if at % region.buffer.align:
        message = f"{region.what} is placed at {at}, it must start at a multiple of {region.buffer.align} {unit}"
        diagnostics.error("bad-alignment", message, region.buffer.location)


def _check_strides(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> None:
    """Slots of one ring do not reach into each other, and each is aligned as the first."""
    for name, placed, ends, where in _rings(kernel, components):
        for index, part in enumerate(placed.buffers):
            if placed.stages == 1:
                continue
            align = max(tile_align(end, index) for end in ends)
            if part.stride < part.bytes:
                message = f"slots of {name} are {part.stride} bytes apart and {part.bytes} large: they overlap"
                diagnostics.error("placement-overlap", message, where)
            elif part.stride % align:
                message = f"slots of {name} are {part.stride} bytes apart, each must start at a multiple of {align}"
                diagnostics.error("bad-alignment", message, where)
        columns = placed.columns if isinstance(placed, RingPlacement) else ()
        for part, tile in zip(columns, ends[-1].tiles, strict=False):
            if placed.stages > 1 and part.stride < columns_of(tile):
                message = f"accumulators of {name} are {part.stride} columns apart and {columns_of(tile)} wide: "
                diagnostics.error("placement-overlap", f"{message}they overlap", where)


def _rings(
    kernel: Kernel, components: Mapping[str, Component]
) -> Iterator[tuple[str, RingPlacement | LocalRing, tuple[Port, ...], Location]]:
    done: set[tuple[str, ...]] = set()
    for connect in kernel.connects:
        placed = placement_of(connect)
        if not isinstance(placed, RingPlacement) or connect.source.path in done:
            continue
        done.add(connect.source.path)
        same = [other for other in kernel.connects if other.source == connect.source]
        targets = [components[other.target.root].ports[other.target.leaf] for other in same]
        source = components[connect.source.root].ports[connect.source.leaf]
        yield f"'{connect.source}'", placed, transfer_of(connect).slot_ends(source, targets), connect.location
    for name, instance in kernel.instances.items():
        for port, local in placed_instance(instance).locals.items():
            yield f"'@{name}::@{port}'", local, (components[name].ports[port],), instance.location


def _overlaps(regions: list[Region], overlays: Overlays, diagnostics: Diagnostics) -> Iterator[tuple[Region, Region]]:
    """Reports regions that share bytes and are not apart; yields those that only their scopes keep apart."""
    live: list[Region] = []
    bad: list[tuple[Region, Region]] = []
    for region in sorted(regions, key=lambda r: (r.begin, -r.end)):
        live = [other for other in live if other.end > region.begin]
        for other in live:
            if region.end <= region.begin:
                continue
            if not may_overlap(other.buffer, region.buffer, overlays):
                bad.append((other, region))
            elif other.scope.excludes(region.scope) and not overlays.apart(other.buffer, region.buffer):
                yield other, region
        live.append(region)
    while bad:  # what overlaps most is most likely what is wrong
        counts = Counter(region.buffer.key for pair in bad for region in pair)
        worst = max((region for pair in bad for region in reversed(pair)), key=lambda r: counts[r.buffer.key])
        own = [pair for pair in bad if worst in pair]
        bad = [pair for pair in bad if worst not in pair]
        others = [second if first is worst else first for first, second in own]
        begin, end = max(worst.begin, others[0].begin), min(worst.end, others[0].end)
        message = f"{worst.what} is placed on {begin} to {end - 1} together with {others[0].what}, and "
        message += "nothing keeps the two apart in time"
        notes = [
            Note(f"{other.what} is on {other.begin} to {other.end - 1}", other.buffer.location) for other in others
        ]
        diagnostics.error("placement-overlap", message, worst.buffer.location, notes=notes)


def _check_tensor_memory(kernel: Kernel, regions: Regions, target: Target, diagnostics: Diagnostics) -> None:
    """The one allocation: what tcgen05.alloc takes, large enough, by whole warps, of one kind."""
    placement = regions.placement
    where, name = kernel.location, f"kernel '{kernel.name}'"
    if target.tmem_columns == 0:
        message = f"{name} is placed in tensor memory, which {target.name} does not have"
        diagnostics.error("unsupported-by-target", message, where)
        return
    columns = placement.tmem_columns
    if columns is None:
        first = regions.tmem[0]
        message = (
            f"{first.what} is in columns {first.begin} to {first.end - 1} of tensor memory, which nobody allocates"
        )
        diagnostics.error("tensor-memory-order", message, first.buffer.location)
        return
    most = target.tmem_columns // max(placement.min_ctas, 1)
    if columns & (columns - 1) or not TMEM_LEAST <= columns <= target.tmem_columns:
        message = f"{name} allocates {columns} columns of tensor memory, tcgen05.alloc takes a power of two from "
        message += f"{TMEM_LEAST} to {target.tmem_columns}"
        diagnostics.error("tensor-memory-order", message, where)
    elif columns > most:
        message = f"{name} allocates {columns} columns of tensor memory in each of {placement.min_ctas} CTAs of an "
        message += f"SM, which has {target.tmem_columns}: the last to allocate waits until another ends"
        diagnostics.error("tensor-memory-order", message, where)
    for region in regions.tmem:
        _check_alignment(region, region.begin, diagnostics, "columns")
        if region.end > columns:
            message = f"{region.what} is in columns {region.begin} to {region.end - 1}, {columns} are allocated"
            diagnostics.error("placement-range", message, region.buffer.location)
    _check_groups(kernel, diagnostics)


def _check_groups(kernel: Kernel, diagnostics: Diagnostics) -> None:
    """All tcgen05 instructions of a kernel are of one cta_group (PTX ISA, tcgen05.alloc)."""

    def of_tensor_cores(connect: Connect) -> bool:
        placed = placement_of(connect)
        if not isinstance(placed, RingPlacement):
            return False
        return bool(placed.columns) or COMMIT in (placed.producer_unit, placed.consumer_unit)

    used = [connect for connect in kernel.connects if of_tensor_cores(connect)]
    pairs = [connect for connect in used if transfer_of(connect).cta_group > 1]
    singles = [connect for connect in used if transfer_of(connect).cta_group == 1]
    if pairs and singles:
        message = f"'{pairs[0].source}' is of the tensor cores of two CTAs, '{singles[0].source}' of those of one; "
        message += "a kernel allocates tensor memory for one or the other"
        notes = [Note("of one CTA", singles[0].location)]
        diagnostics.error("tensor-memory-order", message, pairs[0].location, notes=notes)


def _check_pages(kernel: Kernel, regions: Regions, diagnostics: Diagnostics) -> None:
    """The slots of a leased ring lie in its pages, which are a region by themselves."""
    for connect, placed, ends in regions.leased:
        instance, _, name = str(placed.lease).partition("::")
        owner = kernel.instances.get(instance)
        pages = placed_instance(owner).leases.get(name) if owner is not None else None
        what = f"'{connect.source}' to '{connect.target}'"
        if pages is None:
            message = f"{what} is placed in the pages of '@{instance}::@{name}', of which there are none"
            diagnostics.error("bad-placement", message, connect.location)
            continue
        size = regions.components[instance].leases[name].page_bytes
        for index, part in enumerate(placed.buffers):
            inside = pages.address <= part.address and part.address + part.bytes <= pages.address + size
            if not inside or part.stride != pages.stride or placed.stages != pages.pages:
                message = f"tile {index} of {what} does not lie in the pages of '@{instance}::@{name}'"
                diagnostics.error("bad-placement", message, connect.location)
            align = max(tile_align(end, index) for end in ends)
            if part.address % align or pages.stride % align:
                message = f"tile {index} of {what} is at {part.address} in pages {pages.stride} bytes apart, "
                diagnostics.error("bad-alignment", f"{message}it is aligned to {align}", connect.location)
