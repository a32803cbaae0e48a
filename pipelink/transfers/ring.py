"""Rings in shared memory within a CTA (``ring.cu``), by what fills their slots."""

from __future__ import annotations

from typing import ClassVar, Final

from pipelink.transfers.stream import StreamTransfer


class RingTma(StreamTransfer):
    """TMA fills the slots, and announces the bytes."""

    name: ClassVar[str] = "ring.tma"
    filled_by: ClassVar[tuple[str, ...]] = ("tma",)


class RingThreads(StreamTransfer):
    """Threads fill the slots."""

    name: ClassVar[str] = "ring.threads"
    filled_by: ClassVar[tuple[str, ...]] = ("threads",)


#: In order of preference.
RINGS: Final = (RingTma(), RingThreads())
