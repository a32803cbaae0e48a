"""The attention kernels that the component library makes: one core a head dimension, and the parts that go with it.

``SHAPES`` and the tables below are what there is.  A variant is a walker, which names tiles of queries and blocks of
keys, the mask for the blocks that it does not call full, and the loader that brings them; the core's object is the same
for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelink.components.gemm import Composer

if TYPE_CHECKING:
    from pipelink.api import Instance


@dataclass(frozen=True)
class Variant:
    """Components of sources ``attention_walkers``, ``attention_masks`` and ``attention_loader``, or of another that
    stands in front of ``/``; ``{d}`` stands for the dimension of a head, ``{rows}`` for the queries of a tile."""

    walker: str
    mask: str
    loader: str = "attention_loader_{d}"


#: Head dimension -> queries of a tile.
SHAPES: Final = {128: 128, 64: 192}
VARIANTS: Final = {
    "dense": Variant("attention_dense", "attention_edge"),
    "causal": Variant("attention_causal_{rows}", "attention_causal_mask"),
    "window": Variant("attention_windows/attention_window_{rows}", "attention_windows/attention_window_mask"),
    "varlen": Variant("attention_walkers_varlen/attention_varlen_dense_{rows}", "attention_edge"),
    "varlen-causal": Variant("attention_walkers_varlen/attention_varlen_causal_{rows}", "attention_causal_mask"),
}
#: In what order the core's warpgroups issue their products: sources of components that are named as they are.
ORDERS: Final = {"any": "attention_core", "in_turn": "attention_core_in_turn"}
#: What becomes of all scores: components of source ``attention_scores``.
SCORES: Final = {"plain": "attention_plain"}
#: What joins the rows' sums: components of source ``attention_sinks``.
SINKS: Final = {"none": "attention_no_sink"}
#: What is written: components of source ``attention_outputs``.
OUTPUTS: Final = {"o": "attention_store_{d}", "lse": "attention_store_lse_{d}"}


def add_attention(
    c: Composer, variant: str, dimension: int, *, order: str = "any", score: str = "plain", sink: str = "none",
    output: str = "o",
) -> None:  # fmt: skip
    """Add one attention to a kernel and connect it.  ``dimension``: of a head.  The others are keys of the tables."""
    parts, kernel = VARIANTS[variant], c.kernel

    def add(source: str, component: str) -> Instance:
        source, component = component.split("/") if "/" in component else (source, component)
        return c.add(source, component.format(d=dimension, rows=SHAPES[dimension]))

    load = add("attention_loader", parts.loader)
    core = add(ORDERS[order], f"{ORDERS[order]}_{{d}}")
    walker = add("attention_walkers", parts.walker)
    kernel.connect(load.q, core.q)
    kernel.connect(load.k, core.k)
    kernel.connect(load.v, core.v)
    for role in (load, core):
        kernel.connect(role.work, walker.next)
        kernel.connect(role.blocks, walker.blocks)
    kernel.connect(core.score, add("attention_scores", SCORES[score]).score)
    kernel.connect(core.mask, add("attention_masks", parts.mask).mask)
    kernel.connect(core.sink, add("attention_sinks", SINKS[sink]).sink)
    kernel.connect(core.store, add("attention_outputs", OUTPUTS[output]).store)
