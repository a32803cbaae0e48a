"""Rings of two CTAs whose tensor cores multiply together (cta_group 2; ``pair.cu``): operands that the TMA of both
brings, and accumulators in the tensor memory of both."""

from __future__ import annotations

from typing import ClassVar

from pipelink.ir.placement import ConnectionPlacement, RingPlacement
from pipelink.ir.views import Connect, Port
from pipelink.model.binding import Const, CursorPointer, Invoke, SharedAddress
from pipelink.target import Target
from pipelink.transfers import touch
from pipelink.transfers.base import CLUSTER_CTAS, Arrival
from pipelink.transfers.ring import RingTma
from pipelink.transfers.stream import StreamTransfer
from pipelink.transfers.tmem import Tmem


class _Pair(StreamTransfer):
    """What operands and accumulators have in common: arrivals on the mbarriers of rank 0, commits in both CTAs."""

    sources: ClassVar[tuple[str, ...] | None] = ("pair.cu",)
    min_arch: ClassVar[str] = "sm_100f"
    cta_group: ClassVar[int] = CLUSTER_CTAS
    commit_function: ClassVar[str] = "pl_pair_commit"
    release_function: ClassVar[str] = "pl_pair_release"

    def arch_for(self, target: Target) -> str | None:
        """As of what is in tensor memory."""
        return target.family if target.tmem_columns else None

    def joins_ctas(self, connect: Connect) -> bool:
        return True

    def given(self, producer: bool, connect: Connect, unit: str, at: int, cta: int, ctas: int) -> tuple[Arrival, ...]:
        if unit == touch.COMMIT:
            return tuple(Arrival(other, at, unit) for other in range(ctas))
        return (Arrival(0, at, unit),)


class PairTma(_Pair, RingTma):
    """Operands: each CTA's TMA fills its own slot, every byte completes on the full barrier of rank 0."""

    name: ClassVar[str] = "pair.tma"
    copy_function: ClassVar[str] = "pl_pair_tma"

    def touch_misfit(self, source: Port, target: Port) -> str | None:
        if (source.touch, target.touch) != ("tma", "tcgen05"):
            return f"the slots go from {source.touch} to {target.touch}, not from tma to tcgen05"
        if source.cache:
            return "its copies have cache policies"
        return "the stream ends, and an end mark reaches one CTA alone" if source.ends else None

    def acquire(self, placed: RingPlacement) -> Invoke:
        cursor, stages = CursorPointer(placed.producer_cursor), Const(placed.stages)
        empty, full = SharedAddress(placed.empty), SharedAddress(placed.full)
        arguments = (cursor, empty, full, stages, Const(placed.bytes))
        return Invoke("pl_pair_acquire", arguments, "stage", "unsigned", waits=True)

    def copied(self, connect: Connect, port: Port, at: int, cta: int, ctas: int) -> tuple[Arrival, ...]:
        return (Arrival(0, at, bytes=sum(tile.bytes for tile in port.tiles)),)

    def expectation(self, placed: ConnectionPlacement, cta: int, ctas: int) -> Arrival | None:
        assert isinstance(placed, RingPlacement)
        return None if cta else Arrival(0, placed.full, bytes=placed.bytes * ctas)


class PairTmem(_Pair, Tmem):
    """Accumulators: each CTA has its half of the rows; the warps of both release them on the barrier of rank 0."""

    name: ClassVar[str] = "pair.tmem"

    def touch_misfit(self, source: Port, target: Port) -> str | None:
        if source.touch != "tcgen05":
            return f"the accumulators are written by {source.touch}, not by tcgen05"
        return None

    def releasing_ctas(self, connect: Connect, target: Port) -> int:
        return CLUSTER_CTAS
