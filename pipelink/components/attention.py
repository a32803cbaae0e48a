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
    stands in front of ``/``.  In all names here ``{d}`` stands for the dimension of a head, ``{rows}`` for the queries
    of a tile, ``{k}`` for ``_k64`` where blocks are of so many keys instead of 128, and ``{e}`` for ``_f16`` where
    elements are that and not bf16.  ``output``: how the names of what may be written begin, of source
    ``attention_outputs`` or another."""

    walker: str
    mask: str
    loader: str = "attention_loader_{d}{e}"
    output: str = "attention_store"


def _split(name: str, mask: str) -> Variant:
    """Few queries, whose keys CTAs share."""
    return Variant(
        f"attention_split/attention_split{name}_{{rows}}", mask, output="attention_split_outputs/attention_split_store"
    )


def _context(name: str) -> Variant:
    """A sequence that several GPUs share."""
    return Variant(
        f"attention_context/attention_context_{name}_{{rows}}",
        "attention_context/attention_context_mask",
        loader="attention_context_loader/attention_context_loader_{d}{e}",
    )


@dataclass(frozen=True)
class Shape:
    """What a core takes: queries of a tile, keys of a block; the source that holds it, and its name."""

    queries: int
    keys: int = 128
    source: str = "attention_core{e}"
    core: str = "attention_core_{d}{e}"


#: By the dimension of a head.
SHAPES: Final = {128: Shape(128), 64: Shape(192), 256: Shape(128, 64, "attention_core_256")}
ELEMENTS: Final = ("bf16", "f16")
VARIANTS: Final = {
    "dense": Variant("attention_dense_{rows}{k}", "attention_edge{k}", output="attention_combine/attention_combine"),
    "causal": Variant("attention_causal_{rows}{k}", "attention_causal_mask{k}"),
    "window": Variant("attention_windows/attention_window_{rows}{k}", "attention_windows/attention_window_mask{k}"),
    "blocks": Variant("attention_lists/attention_blocks_{rows}", "attention_edge{k}"),
    "blocks-causal": Variant("attention_lists/attention_blocks_{rows}", "attention_causal_mask{k}"),
    "plan": Variant("attention_lists/attention_plan_{rows}", "attention_lists/attention_block_mask"),
    "plan-causal": Variant("attention_lists/attention_plan_{rows}", "attention_causal_mask{k}"),
    "varlen": Variant("attention_walkers_varlen/attention_varlen_dense_{rows}{k}", "attention_edge{k}"),
    "varlen-causal": Variant("attention_walkers_varlen/attention_varlen_causal_{rows}{k}", "attention_causal_mask{k}"),
    "paged": Variant("attention_walkers_varlen/attention_paged_dense_{rows}", "attention_edge"),
    "paged-causal": Variant("attention_walkers_varlen/attention_paged_causal_{rows}", "attention_causal_mask"),
    "split": _split("", "attention_edge"),
    "split-causal": _split("_causal", "attention_split/attention_split_causal_mask"),
    "split-lengths": _split("_lengths", "attention_edge"),
    "split-lengths-causal": _split("_lengths_causal", "attention_split/attention_split_causal_mask"),
}
#: Variants of which each GPU has a part of the sequence.
SHARED: Final = {"context": _context("dense"), "context-causal": _context("causal")}
#: What becomes of all scores: components of source ``attention_scores``.
SCORES: Final = {
    "plain": "attention_plain{k}",
    "softcap": "attention_softcap{k}",
    "alibi": "attention_alibi{k}",
    "bias_f32": "attention_bias_f32{k}",
    "bias_bf16": "attention_bias_bf16{k}",
    "bias_f16": "attention_bias_f16{k}",
}
#: What joins the rows' sums: components of source ``attention_sinks``.
SINKS: Final = {
    "none": "attention_no_sink",
    "f32": "attention_sinks_f32",
    "bf16": "attention_sinks_bf16",
    "f16": "attention_sinks_f16",
}
#: What is written: how the components' names go on behind the variant's ``output``.
OUTPUTS: Final = {"o": "_{d}{e}{r}", "lse": "_lse_{d}{e}{r}", "partial": "_lse_{d}_f32{r}"}
#: How many heads that share keys and values may stand as rows of a query, in variants that split.
PACKS: Final = (1, 2, 4, 8, 16)
#: Keys of a page, in variants of sequences with lengths of their own.
PAGES: Final = (16, 64, 256)
#: Elements of keys and values: those of queries and O, or e4m3.
KEYS_VALUES: Final = ("same", "e4m3")
#: How many GPUs may share a sequence, in variants of ``SHARED``.
GPUS: Final = (2, 4, 8)


def add_attention(
    c: Composer,
    variant: str,
    dimension: int,
    *,
    element: str = "bf16",
    shape: Shape | None = None,
    pack: int = 1,
    page: int | None = None,
    gpus: int | None = None,
    kv: str = "same",
    score: str = "plain",
    sink: str = "none",
    output: str = "o",
) -> None:
    """Add one attention to a kernel and connect it.  ``dimension``: of a head.  ``element``: of q, k, v and o.
    ``shape``: of another core than the library's own.  ``pack``: of ``PACKS``; a group of another number of heads takes
    the next greater one, or several tiles.  ``page``: of ``PAGES``, where keys and values lie in pages.  ``gpus``: of
    ``GPUS``, in variants of ``SHARED``.  ``kv``: of ``KEYS_VALUES``; those of e4m3 are not in pages, on several GPUs or
    of heads above 128 (``ValueError``).  The others are keys of the tables."""
    if kv != "same" and (page is not None or gpus is not None or dimension > 128):
        raise ValueError(f"kv {kv!r} is there for heads of up to 128, without pages, on one GPU")
    parts, shape, kernel = (VARIANTS | SHARED)[variant], shape or SHAPES[dimension], c.kernel
    names = {
        "d": dimension,
        "rows": shape.queries,
        "k": "" if shape.keys == 128 else f"_k{shape.keys}",
        "e": "" if element == "bf16" else f"_{element}",
        "r": "" if shape.queries == SHAPES[dimension].queries else f"_r{shape.queries}",
    }

    def add(source: str, component: str) -> Instance:
        source, component = component.split("/") if "/" in component else (source, component)
        return c.add(source.format(**names), component.format(**names))

    loader = parts.loader
    if page is not None:
        loader = f"attention_loader_paged/attention_loader_paged_{page}_{pack}_{{d}}{{e}}{{r}}"
    elif kv != "same":
        loader = f"attention_e4m3/attention_loader_{kv}_{pack}_{{d}}{{e}}{{r}}"
    elif pack != 1:
        loader = f"attention_loader_packed/attention_loader_packed_{pack}_{{d}}{{e}}{{r}}"
    load = add("attention_loader", loader)
    if gpus is not None:
        bring = add("attention_context_loader", f"attention_bring_{gpus}_{{d}}{{e}}")
        kernel.connect(bring.brought, load.brought)
        kernel.connect(bring.began, bring.begun)
        kernel.connect(bring.read, bring.done)
    core = add(shape.source, shape.core)
    walker = add("attention_walkers", parts.walker)
    kernel.connect(load.q, core.q)
    bringing, roles, written = load, [load, core], core.store
    if kv != "same":
        widen = add("attention_e4m3", "attention_widen_{d}{e}{r}")
        scaled = add("attention_e4m3", "attention_scaled_{d}")
        kernel.connect(load.k, widen.k8)
        kernel.connect(load.v, widen.v8)
        kernel.connect(core.store, scaled.store)
        bringing, roles, written = widen, [load, widen, core], scaled.scaled
    kernel.connect(bringing.k, core.k)
    kernel.connect(bringing.v, core.v)
    for role in roles:
        kernel.connect(role.work, walker.next)
        kernel.connect(role.blocks, walker.blocks)
    kernel.connect(core.score, add("attention_scores", SCORES[score]).score)
    kernel.connect(core.mask, add("attention_masks", parts.mask).mask)
    kernel.connect(core.sink, add("attention_sinks", SINKS[sink]).sink)
    kernel.connect(written, add("attention_outputs", parts.output + OUTPUTS[output]).store)


def add_merge(c: Composer, dimension: int, *, element: str = "bf16") -> None:
    """Add what puts together the parts that kernels with output ``partial`` have written."""
    c.add("attention_merge", f"attention_merge_{dimension}" + ("" if element == "bf16" else f"_{element}"))
