"""Rings in shared memory within a CTA (``ring.cu``), by what fills their slots."""

from __future__ import annotations

from typing import ClassVar, Final

from pipelink.ir.placement import RingPlacement
from pipelink.ir.views import Port
from pipelink.model.binding import Arg, Instruction, Invoke, SharedAddress, Statement
from pipelink.transfers import touch
from pipelink.transfers.base import Arrivals, End
from pipelink.transfers.stream import StreamTransfer


class RingTma(StreamTransfer):
    """TMA fills the slots, and announces the bytes."""

    name: ClassVar[str] = "ring.tma"
    filled_by: ClassVar[tuple[str, ...]] = ("tma",)


class RingThreads(StreamTransfer):
    """Threads fill the slots."""

    name: ClassVar[str] = "ring.threads"
    filled_by: ClassVar[tuple[str, ...]] = ("threads",)


class RingAsync(StreamTransfer):
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


#: In order of preference.
RINGS: Final = (RingTma(), RingThreads(), RingAsync())
