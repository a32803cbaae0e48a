"""Rings of accumulators in tensor memory (``tmem.cu``): tensor cores write them, warps read them."""

from __future__ import annotations

from typing import ClassVar

from pipelink.target import Target
from pipelink.transfers.stream import StreamTransfer


class Tmem(StreamTransfer):
    """Accumulators of one CTA's tensor cores."""

    name: ClassVar[str] = "tmem"
    sources: ClassVar[tuple[str, ...] | None] = ("tmem.cu",)
    min_arch: ClassVar[str] = "sm_100f"
    space: ClassVar[str] = "tmem"

    def arch_for(self, target: Target) -> str | None:
        """Instructions of tensor memory are those of a family: code of one does not link for another."""
        return target.family if target.tmem_columns else None
