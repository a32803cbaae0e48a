"""A ring whose producer writes row-major tiles and whose consumers read them swizzled (``ring.cu``).

The producer's threads write a staging tile; together they move it to its slot, between two meetings at a named barrier
of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

from pipelink.contract.vocabulary import SWIZZLES
from pipelink.ir.placement import ConnectionPlacement, RingPlacement
from pipelink.ir.views import Connect, Instance, Port, Tile
from pipelink.model.binding import Arg, Const, Invoke, Return, RoleThread, SharedAddress, Value
from pipelink.model.demand import Barrier, Buffer
from pipelink.target import WARP_THREADS
from pipelink.transfers import touch
from pipelink.transfers.base import Site
from pipelink.transfers.binder import Binder
from pipelink.transfers.ring import RingThreads
from pipelink.transfers.stream import StreamPlan, slot_addresses, tile_difference

STAGING_ALIGN: Final = 16  # bytes, vector accesses of the conversion


class RingConvert(RingThreads):
    """Threads fill slots that are read in a swizzled layout."""

    name: ClassVar[str] = "ring.threads.convert"

    def ends_differ(self, source: Port, target: Port) -> str | None:
        if len(source.tiles) != 1 or len(target.tiles) != 1:
            return "it converts slots of one tile"
        written, read = source.tiles[0], target.tiles[0]
        if why := tile_difference(written, read, 0, layouts=False):
            return why
        swizzle = SWIZZLES.get(read.layout)
        if written.layout != "row_major" or swizzle is None:
            return f"it converts row_major to a swizzle, not {written.layout} to {read.layout}"
        row_bytes = written.bytes // written.shape[0]
        if row_bytes != swizzle.row_bytes:
            return f"{read.layout} needs rows of {swizzle.row_bytes} bytes, the tile has {row_bytes}"
        return None

    def slot_tiles(self, source: Port, target: Port) -> tuple[Tile, ...]:
        return target.tiles

    def slot_ends(self, source: Port, targets: Sequence[Port]) -> tuple[Port, ...]:
        return tuple(targets)

    def demand(self, site: Site) -> StreamPlan | None:
        plan, end = super().demand(site), site.find_end(site.connects[0].source)
        if plan is None or end is None:
            return None
        own, where = site.lifetimes.scope(end.users), end.port.location
        buffers = tuple(
            Buffer(f"{site.key}.staging{i}", tile.bytes, max(STAGING_ALIGN, tile.align), own, None, where)
            for i, tile in enumerate(end.port.tiles)
        )
        barrier = Barrier(f"{site.key}.staging", end.role.warps * WARP_THREADS, own, where)
        staging = tuple(buffer.key for buffer in buffers)
        return replace(plan, buffers=buffers, barriers=(barrier,), staging=staging, barrier=barrier.key)

    def incomplete(self, placed: ConnectionPlacement, source: Port, target: Port) -> str | None:
        assert isinstance(placed, RingPlacement)
        if placed.barrier is None:
            return "has no 'barrier'"
        if len(placed.staging) != len(source.tiles):
            return "does not have staging for each of its tiles"
        return super().incomplete(placed, source, target)

    def written_addresses(self, placed: RingPlacement) -> list[Value]:
        return [SharedAddress(span.address) for span in placed.staging]

    def bind_fill(
        self, binder: Binder, connect: Connect, instance: Instance, port: Port, placed: RingPlacement
    ) -> None:
        barrier = placed.barrier
        assert barrier is not None
        layout = binder.port(connect.target).tiles[0].layout
        arguments: tuple[Value, ...] = (
            SharedAddress(placed.staging[0].address),
            slot_addresses(placed)[0],
            Const(placed.buffers[0].bytes),
            Const(SWIZZLES[layout].mask),
            RoleThread(binder.first_thread(instance, binder.role_of(instance, port))),
            Const(barrier.id),
            Const(barrier.threads),
            SharedAddress(placed.full),
            Arg("stage"),
            Const(touch.UNITS[placed.producer_unit]),
            Const(int(placed.producer_fence)),
        )
        binder.function(instance, port, "pl_commit", Invoke("pl_ring_convert_commit", arguments), Return())
