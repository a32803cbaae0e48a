"""Rings of accumulators in tensor memory (``tmem.cu``): tensor cores write them, warps read them."""

from __future__ import annotations

from typing import ClassVar

from pipelink.transfers.stream import StreamTransfer


class Tmem(StreamTransfer):
    """Accumulators of one CTA's tensor cores."""

    name: ClassVar[str] = "tmem"
    sources: ClassVar[tuple[str, ...] | None] = ("tmem.cu",)
    min_arch: ClassVar[str] = "sm_100f"
    space: ClassVar[str] = "tmem"
