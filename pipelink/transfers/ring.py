"""Rings in shared memory within a CTA (``ring.cu``), by what fills their slots."""

from __future__ import annotations

from typing import ClassVar, Final

from pipelink.contract.vocabulary import SWIZZLES
from pipelink.ir.placement import RingPlacement
from pipelink.ir.views import Connect, Port
from pipelink.model.binding import Arg, Instruction, Invoke, SharedAddress, Statement
from pipelink.transfers import touch
from pipelink.transfers.base import Arrivals, End
from pipelink.transfers.stream import StreamTransfer


class _InPages(StreamTransfer):
    """A ring whose slots may be pages of a lease."""

    def unrequested(self, connect: Connect, source: Port) -> str | None:
        return None


class RingTma(_InPages):
    """TMA fills the slots, and announces the bytes."""

    name: ClassVar[str] = "ring.tma"
    filled_by: ClassVar[tuple[str, ...]] = ("tma",)


class RingThreads(_InPages):
    """Threads fill the slots."""

    name: ClassVar[str] = "ring.threads"
    filled_by: ClassVar[tuple[str, ...]] = ("threads",)


class RingAsync(_InPages):
    """Threads fill the slots with cp.async, and go on: each arrives when its copies are there.  Where the slots are
    read through the async proxy, the reader fences, since nobody waits for the copies before it."""

    name: ClassVar[str] = "ring.async"
    filled_by: ClassVar[tuple[str, ...]] = ("cp_async",)

    def filling(self, end: End, elect: bool) -> Arrivals:
        return touch.threads(end, elect=False)

    def commit(self, placed: RingPlacement) -> Invoke:
        return Invoke("pl_ring_async_commit", (SharedAddress(placed.full), Arg("stage")))

    def after_wait(self, placed: RingPlacement, port: Port) -> tuple[Statement, ...]:
        fence = (Instruction("fence.proxy.async.shared::cta;"),) if placed.producer_fence else ()
        return (*fence, *super().after_wait(placed, port))


class RingBulk(_InPages):
    """Bulk copies fill the slots with bytes as they lie in global memory, without a tensor map, and announce them."""

    name: ClassVar[str] = "ring.bulk"
    filled_by: ClassVar[tuple[str, ...]] = ("bulk",)
    copy_function: ClassVar[str] = "pl_ring_bulk"
    copy_ranks: ClassVar[tuple[int, ...]] = (1,)

    def touch_misfit(self, source: Port, target: Port) -> str | None:
        swizzled = next((tile.layout for tile in source.tiles if tile.layout in SWIZZLES), None)
        why = f"bulk copies bring bytes as they lie in memory, which is not {swizzled}" if swizzled else None
        return super().touch_misfit(source, target) or why


#: In order of preference.
RINGS: Final = (RingTma(), RingThreads(), RingAsync(), RingBulk())
