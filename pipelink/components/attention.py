"""The attention kernels that the component library makes: one core a head dimension, and the parts that go with it.

``SHAPES`` and ``VARIANTS`` are the tables.  A variant is a walker, which names tiles of queries and blocks of keys, and
the mask for the blocks that it does not call full; the core's object is the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pipelink.components.gemm import Composer


@dataclass(frozen=True)
class Variant:
    """``walker``: its component, of source ``attention_walkers``; ``{rows}`` stands for the queries of a tile.
    ``mask``: of source ``attention_masks``."""

    walker: str
    mask: str


#: Head dimension -> queries of a tile.
SHAPES: Final = {128: 128, 64: 192}
VARIANTS: Final = {
    "dense": Variant("attention_dense", "attention_edge"),
    "causal": Variant("attention_causal_{rows}", "attention_causal_mask"),
}


def add_attention(c: Composer, variant: str, dimension: int, *, lse: bool = False) -> None:
    """Add one attention to a kernel and connect it.  ``dimension``: of a head.  ``lse``: the logarithms of the rows'
    sums are an output, too."""
    parts, kernel = VARIANTS[variant], c.kernel
    load = c.add("attention_loader", f"attention_loader_{dimension}")
    core = c.add("attention_core", f"attention_core_{dimension}")
    walker = c.add("attention_walkers", parts.walker.format(rows=SHAPES[dimension]))
    mask = c.add("attention_masks", parts.mask)
    output = c.add("attention_outputs", f"attention_store_{'lse_' if lse else ''}{dimension}")
    kernel.connect(load.q, core.q)
    kernel.connect(load.k, core.k)
    kernel.connect(load.v, core.v)
    for role in (load, core):
        kernel.connect(role.work, walker.next)
        kernel.connect(role.blocks, walker.blocks)
    kernel.connect(core.mask, mask.mask)
    kernel.connect(core.store, output.store)
