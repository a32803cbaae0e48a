"""The compositions that tests link: every GEMM of the component library, and small kernels for everything else.

``COMPOSITIONS`` is the table; :func:`compose` builds one as a :class:`pipelink.Kernel` from objects that
:class:`Objects` compiles with ``pl-cc`` when they are first asked for.  What a GEMM consists of stands in
:mod:`pipelink.components.gemm`, which the benchmarks and ``pipelink.torch`` compose from as well.  The tests compare
each one's machine code with its monolith's; ``test/gpu/prepare.py`` links them for the tests that run on a device.
"""

from __future__ import annotations

import fcntl
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pipelink
from benchmarks.families.attention import CORES
from benchmarks.families.attention import CUTE as CUTE_CORE
from pipelink import components
from pipelink.api import Kernel
from pipelink.backend.cache import Cache
from pipelink.components import attention, gemm
from pipelink.components.attention import Shape
from pipelink.components.gemm import Composer
from test import megakernels

TEST_COMPONENTS = Path(__file__).resolve().parent / "components"
FOLDERS = (components.FOLDER, TEST_COMPONENTS, CUTE_CORE)

# All of these with one another; benchmarks/configurations.py holds the others.
EPILOGUES = ("store", "bias_relu", "gelu", "residual_add")
SCHEDULERS = ("static_tiles", "grouped_tiles")
MAINLOOPS = ("wgmma_128x256x64", "wgmma_128x128x64", "cp_async")
SHAPES = ("wgmma_256x128x64", "wgmma_128x192x64", "wgmma_128x64x64", "wgmma_64x256x64")


#: The architecture of test components that need a newer one.
ARCHS = {"columns": "sm_100a"}


@dataclass
class Objects(gemm.Objects):
    """Objects of the library's and the tests' components, in a folder that several processes may fill."""

    sources: Sequence[Path] = FOLDERS

    @property
    def cache(self) -> Cache:
        """What is known of these objects, and the kernels that were linked of them: for links that need not be done
        anew, most of which is the audit of a core that many kernels share."""
        return Cache(self.folder / "cache")

    def __getitem__(self, name: str) -> Path:
        if name in self.made:
            return self.made[name]
        with (self.folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return gemm.Objects.__getitem__(replace(self, arch=ARCHS.get(name, self.arch)), name)


Build = Callable[[Composer], None]


def _gemm(mainloop: str, epilogue: str, scheduler: str) -> Build:
    return lambda c: gemm.add_gemm(c, gemm.MAINLOOPS[mainloop], epilogue, scheduler)


def _staged(mainloop: str, scheduler: str) -> Build:
    """Accumulators to shared memory, and from there by a TMA store."""

    def build(c: Composer) -> None:
        loop = gemm.MAINLOOPS[mainloop]
        finish, tiles, store = c.add("staged_store"), c.add(scheduler), c.add("tma_store", "tma_store_chunks")
        ports = loop.build(c, False)
        for work in (*ports.work, store.work):
            c.kernel.connect(work, tiles.next)
        c.kernel.connect(ports.store, finish.store)
        c.kernel.connect(finish.blocks, store.blocks)
        c.kernel.bind(store.slots, loop.tile[0] * loop.tile[1] // 8192)

    return build


def _placed(c: Composer) -> None:
    c.kernel.connect(c.add("placed", "placed_tiles").blocks, c.add("tma_store", "tma_store").blocks)


def _gathered(c: Composer) -> None:
    """Rows by cp.async, read by threads."""
    c.kernel.connect(c.add("gather", "gathered_rows").blocks, c.add("gather", "row_writer").tiles)


def _gathered_store(c: Composer) -> None:
    """Rows by cp.async, read by TMA: the reader fences."""
    c.kernel.connect(c.add("gather", "gathered_blocks").blocks, c.add("tma_store", "tma_store").blocks)


def _matvec(c: Composer) -> None:
    """Weights by bulk copies."""
    c.kernel.connect(c.add("matvec", "weight_stream").w, c.add("matvec", "row_products").w)


def _round_trip(c: Composer) -> None:
    """A token that goes from CTA to CTA."""
    run = c.add("signals", "round_trip")
    c.kernel.connect(getattr(run, "pass"), run.take)


def _handed_pages(*components: str) -> Build:
    """Pages that each CTA writes for the next, or for the other GPU, which fetches them by TMA."""

    def build(c: Composer) -> None:
        writer, loader, reader = (c.add("signals", name) for name in components)
        c.kernel.connect(writer.written, loader.written)
        c.kernel.connect(reader.read, writer.read)
        c.kernel.connect(loader.x, reader.x)

    return build


def _alone(component: str, source: str = "launch") -> Build:
    """A kernel of one component, for what a launch needs."""

    def build(c: Composer) -> None:
        c.add(source, component)

    return build


def _programmatic(stamped: bool, programmatic: bool = True) -> Build:
    """A GEMM that begins before the kernel in front has ended, and notes when; or a plain one that notes it."""

    def build(c: Composer) -> None:
        _gemm("wgmma_128x256x64", "store", "grouped_tiles")(c)
        if stamped:
            c.add("programmatic", "stamp")
        if programmatic:
            c.kernel.programmatic()

    return build


def _hopper(reader: str) -> Build:
    """Blocks that TMA brings, and that are added to a tensor, or stored as they lie."""
    return lambda c: c.kernel.connect(c.add("hopper", "block_loader").x, c.add("hopper", reader).x)


def _row_product(c: Composer) -> None:
    c.kernel.connect(c.add("hopper", "row_loader").b, c.add("hopper", "row_product").b)


def _affine(c: Composer) -> None:
    c.kernel.connect(c.add("launch", "fill").value, c.add("launch", "affine").value)


def _rope(c: Composer) -> None:
    """A component that states its stack."""
    c.kernel.connect(c.add("rope", "rope").rotate, c.add("rope", "rotation").rotate)


def _twice(c: Composer) -> None:
    """One object with a large body, instantiated twice."""
    total = c.add("launch", "sum")
    for port, salt in ((total.first, 3), (total.second, 5)):
        part = c.add("launch", "scramble")
        c.kernel.connect(port, part.value)
        c.kernel.bind(part.salt, salt)


def _ring(writer: str, reader: str) -> Build:
    def build(c: Composer) -> None:
        c.kernel.connect(c.add("rings", f"{writer}_writer").tiles, c.add("rings", f"{reader}_reader").tiles)

    return build


def _two_readers(c: Composer) -> None:
    tiles = c.add("rings", "plain_writer").tiles
    for name in ("y", "z"):
        c.kernel.connect(tiles, c.add("rings", "plain_reader", y=name).tiles)


def _behind_odd(c: Composer) -> None:
    c.add("rings", "odd")
    _ring("swizzled", "swizzled")(c)


def _turns(c: Composer) -> None:
    first, second = c.add("rings", "turn"), c.add("rings", "turn")
    c.kernel.connect(first.other, second.mine, credit=0)
    c.kernel.connect(second.other, first.mine, credit=1)
    c.kernel.bind(first.who, 1)
    c.kernel.bind(second.who, 2)


def _different_readers(c: Composer) -> None:
    """One ring, read by one warp and by four that meet at a named barrier."""
    pages = c.add("streams", "pages")
    c.kernel.connect(pages.x, c.add("streams", "column_sum").x)
    c.kernel.connect(pages.x, c.add("streams", "column_max").x)
    c.kernel.grid(1, 1, 1)


def _two_rings(c: Composer) -> None:
    """Producer and consumer twice: two rings, two barriers, two scratch buffers."""
    for which in "ab":
        pages = c.add("streams", "pages", input=f"input_{which}")
        c.kernel.connect(pages.x, c.add("streams", "column_max", maximum=f"maximum_{which}").x)
    c.kernel.grid(1, 1, 1)


def _bound_value(c: Composer) -> None:
    """A trip count that is known at link time."""
    pages, sums = c.add("streams", "pages"), c.add("streams", "column_sum")
    c.kernel.connect(pages.x, sums.x)
    c.kernel.bind(pages.pages, 6)
    c.kernel.bind(sums.pages, 6)
    c.kernel.grid(1, 1, 1)


def _work_items(c: Composer) -> None:
    """A stream of work items, of which only the producer knows the length."""
    c.kernel.connect(c.add("streams", "items").work, c.add("streams", "weigh").work)


def _phases(rotated: str) -> Build:
    """Three roles on the same warps, whose scratch memory has one place: many threads, one thread, many threads."""

    def build(c: Composer) -> None:
        first, last = c.add("phases", rotated), c.add("phases", "last_of_row")
        second = c.add("phases", rotated, y="z")
        c.kernel.bind(first.shift, 5)
        c.kernel.bind(second.shift, 500)
        c.kernel.exclusive("phases", first.run, last.run, second.run)

    return build


def _in_turns(c: Composer) -> None:
    """A ring of which one role reads the first pages, and then another, on the same warp, the others."""
    pages, first, second = (c.add("streams", name, **renamed) for name, renamed in (
        ("pages", {}), ("column_sum", {"sum": "first"}), ("column_sum", {"sum": "second"}),
    ))  # fmt: skip
    for sums, count in ((first, 5), (second, 6)):
        c.kernel.connect(pages.x, sums.x)
        c.kernel.bind(sums.pages, count)
    c.kernel.bind(pages.pages, 11)
    c.kernel.exclusive("sums", first.run, second.run)
    c.kernel.grid(1, 1, 1)


def _state(c: Composer) -> None:
    series, mean = c.add("streams", "series"), c.add("streams", "running_mean")
    c.kernel.connect(series.reset, mean.reset)
    c.kernel.connect(series.add, mean.add)
    c.kernel.grid(1, 1, 1)


# What is tried with one partner only: gated epilogues, tile shapes, f16 out.
OTHERS = (
    *itertools.product(MAINLOOPS, ("swiglu", "geglu")),
    *itertools.product(SHAPES, ("store", "swiglu")),
    *(("wgmma_128x256x64", f"{epilogue}_tma{suffix}") for epilogue in ("store", "swiglu") for suffix in ("", "_f16")),
    ("cp_async", "store_tma"),
    *(("wgmma_128x256x64", f"{epilogue}_f16") for epilogue in (*EPILOGUES, "swiglu", "geglu")),
)
GEMMS: dict[str, Build] = {
    f"gemm-{mainloop}-{epilogue}-{scheduler}": _gemm(mainloop, epilogue, scheduler)
    for mainloop, epilogue, scheduler in (
        *itertools.product(MAINLOOPS, EPILOGUES, SCHEDULERS),
        *((*other, "grouped_tiles") for other in OTHERS),
    )
}
#: Clusters of two CTAs that share tiles of B, and outputs that go through shared memory.
CLUSTERS: dict[str, Build] = {
    f"gemm-{mainloop}-{epilogue}-paired_tiles": _gemm(mainloop, epilogue, "paired_tiles")
    for mainloop, epilogue in (
        ("cluster_128x256x64", "store"),
        ("cluster_128x256x64", "swiglu"),
        ("cluster_128x128x64", "bias_relu"),
    )
}
STAGED: dict[str, Build] = {
    f"gemm-{mainloop}-staged_store-{scheduler}": _staged(mainloop, scheduler)
    for mainloop, scheduler in (
        ("wgmma_128x256x64", "grouped_tiles"),
        ("wgmma_128x128x64", "grouped_tiles"),
        ("cluster_128x256x64", "paired_tiles"),
    )
}
#: Of Blackwell, with the architecture behind: linked, audited and disassembled, not run.
TENSOR_MEMORY: dict[str, Build] = {
    f"gemm-{mainloop}-{epilogue}-{scheduler}-{target}": _gemm(mainloop, epilogue, scheduler)
    for mainloop, scheduler, target, epilogues in (
        ("tcgen05_128x256x64", "grouped_tiles", "sm_100a", (*EPILOGUES, "swiglu", "geglu")),
        ("tcgen05_128x256x64", "grouped_tiles", "sm_100a", ("swiglu_tma", "swiglu_f16")),
        ("tcgen05_128x128x64", "grouped_tiles", "sm_100a", ("store", "swiglu")),
        ("tcgen05_pair_256x256x64", "paired_tiles", "sm_100a", (*EPILOGUES, "swiglu", "geglu")),
        ("tcgen05_128x256x64", "grouped_tiles", "sm_103a", ("store", "swiglu")),
        ("tcgen05_pair_256x256x64", "paired_tiles", "sm_103a", ("store", "swiglu", "swiglu_tma")),
    )
    for epilogue in epilogues
}
#: Mainloops on e4m3, and that of TMA and warps, which links for sm_120a too.
FURTHER: dict[str, Build] = {
    f"gemm-{mainloop}-{epilogue}-grouped_tiles": _gemm(mainloop, epilogue, "grouped_tiles")
    for mainloop, epilogues in {
        "fp8_128x256x128": ("store", "bias_relu", "swiglu"),
        "fp8_128x128x128": ("store", "swiglu"),
        "fp8_block_128x128x128": ("store", "gelu", "swiglu"),
        "sm120_128x128x64": ("store", "residual_add", "swiglu"),
    }.items()
    for epilogue in epilogues
}
#: CTAs of a cluster that exchange values through each other's shared memory.
EXCHANGES: tuple[str, ...] = ("read_by_two", "read_by_four", "written_by_two", "written_by_four", "written_by_one")
#: Warpgroups of a role that take turns.
IN_TURN: tuple[str, ...] = ("two_in_turn", "three_in_turn", "four_in_turn")
#: What is not linked for sm_90a.
TARGETS: dict[str, str] = {name: name.rpartition("-")[2] for name in TENSOR_MEMORY} | {"own_columns": "sm_100a"}


def _attention(
    variant: str,
    dimension: int,
    pack: int = 1,
    page: int | None = None,
    gpus: int | None = None,
    shape: Shape | None = None,
    **parts: str,
) -> Build:
    return lambda c: attention.add_attention(
        c, variant, dimension, pack=pack, page=page, gpus=gpus, shape=shape, **parts
    )


ATTENTION: dict[str, Build] = {
    **{f"attention-{v}-{d}": _attention(v, d) for v in ("dense", "causal") for d in attention.SHAPES},
    "attention-dense-64-lse": _attention("dense", 64, output="lse"),
    "attention-causal-128-lse": _attention("causal", 128, output="lse"),
}
#: Sequences that stand one behind another.
ATTENTION_VARLEN: dict[str, Build] = {
    f"attention-{v}-{d}-lse": _attention(v, d, output="lse")
    for v in ("varlen", "varlen-causal")
    for d in attention.SHAPES
}
#: Sliding windows.
ATTENTION_WINDOWS: dict[str, Build] = {
    f"attention-window-{d}-lse": _attention("window", d, output="lse") for d in attention.SHAPES
}
#: Scores, sinks, elements and larger heads; behind the name's dash.
ATTENTION_PARTS: dict[str, Build] = {
    **{
        f"attention-{v}-{d}-{score}": _attention(v, d, score=score)
        for v, d, score in (
            ("causal", 128, "softcap"),
            ("dense", 64, "softcap"),
            ("causal", 64, "alibi"),
            ("dense", 128, "alibi"),
            ("dense", 128, "bias_bf16"),
            ("causal", 64, "bias_f32"),
            ("dense", 256, "softcap"),
            ("causal", 256, "alibi"),
            ("dense", 256, "bias_bf16"),
        )
    },
    "attention-causal-128-sinks": _attention("causal", 128, sink="bf16", output="lse"),
    "attention-dense-64-sinks": _attention("dense", 64, sink="f32", output="lse"),
    **{f"attention-{v}-{d}-f16": _attention(v, d, element="f16") for v in ("dense", "causal") for d in (64, 128, 256)},
    "attention-dense-64-f16-all": _attention("dense", 64, element="f16", score="bias_f16", sink="f16", output="lse"),
    "attention-causal-256-lse": _attention("causal", 256, output="lse"),
}
#: Lists of blocks: as others have them, and made ahead.
ATTENTION_LISTS: dict[str, Build] = {
    f"attention-{v}-{d}-lse": _attention(v, d, output="lse")
    for v in ("blocks", "blocks-causal", "plan", "plan-causal")
    for d in (64, 128)
}
#: Parts in f32, and what puts them together.
ATTENTION_PARTIAL: dict[str, Build] = {
    **{f"attention-dense-{d}-partial": _attention("dense", d, output="partial") for d in attention.SHAPES},
    "attention-varlen-causal-128-f16-partial": _attention("varlen-causal", 128, element="f16", output="partial"),
    "attention-split-128-p4-partial": _attention("split", 128, 4, output="partial"),
    "attention-split-64-p8-partial": _attention("split", 64, 8, output="partial"),
    **{f"attention-merge-{d}": lambda c, d=d: attention.add_merge(c, d) for d in attention.SHAPES},
    "attention-merge-128-f16": lambda c: attention.add_merge(c, 128, element="f16"),
}
#: Keys shared among CTAs; behind ``p`` how many heads stand as rows of a query.
ATTENTION_SPLIT: dict[str, Build] = {
    "attention-split-128-p4": _attention("split", 128, 4),
    "attention-split-64-p4-f16": _attention("split", 64, 4, element="f16"),
    "attention-split-64-p8-sinks": _attention("split", 64, 8, sink="f32", output="lse"),
    "attention-split-64-p4-softcap": _attention("split", 64, 4, score="softcap", output="lse"),
    **{
        f"attention-{v}-{d}-p{pack}-lse": _attention(v, d, pack, output="lse")
        for v, d, pack in (
            ("split", 128, 1),
            ("split", 128, 4),
            ("split", 64, 8),
            ("split-causal", 128, 16),
            ("split-causal", 64, 2),
            ("split-lengths", 128, 8),
            ("split-lengths", 64, 4),
            ("split-lengths-causal", 128, 4),
            ("split-lengths-causal", 64, 1),
        )
    },
}
#: Keys and values in pages of so many.
ATTENTION_PAGED: dict[str, Build] = {
    f"attention-{v}-{d}-p{pack}-page{page}-lse": _attention(v, d, pack, page, output="lse")
    for v, d, pack, page in (
        ("paged", 128, 1, 16),
        ("paged", 64, 1, 256),
        ("paged-causal", 128, 1, 64),
        ("paged-causal", 128, 1, 256),
        ("paged-causal", 64, 1, 16),
        ("split-lengths", 128, 4, 16),
        ("split-lengths", 128, 4, 64),
        ("split-lengths", 128, 4, 256),
        ("split-lengths-causal", 128, 8, 64),
    )
}


def _shared(variant: str, dimension: int, gpus: int) -> Build:
    """With so few CTAs that the kernels of all ranks fit on one device at once."""

    def build(c: Composer) -> None:
        attention.add_attention(c, variant, dimension, gpus=gpus, output="lse")
        c.kernel.grid(f"min(B * H * q_tiles, sms * occupancy / {gpus})")

    return build


#: Sequences that several GPUs share; of ``g`` as many, or as many kernels on one.
ATTENTION_CONTEXT: dict[str, Build] = {
    **{f"attention-{v}-{d}-g2": _attention(v, d, gpus=2) for v in ("context", "context-causal") for d in (64, 128)},
    **{
        f"attention-{v}-{d}-g{gpus}-shared-lse": _shared(v, d, gpus)
        for v, d, gpus in (
            ("context", 64, 2),
            ("context", 128, 2),
            ("context-causal", 64, 2),
            ("context-causal", 128, 2),
            ("context-causal", 64, 4),
            ("context-causal", 128, 4),
        )
    },
    "attention-context-128-g8-f16": _attention("context", 128, gpus=8, element="f16"),
}
#: The core that CuTe multiplies in, with parts of the library.
CUTE = CORES["cute"]
#: The one of 16 rows to a tile.
CUTE_FEW = CORES["cute_few"]
ATTENTION_CUTE: dict[str, Build] = {
    "attention-cute-dense-128": _attention("dense", 128, shape=CUTE),
    "attention-cute-causal-128-lse": _attention("causal", 128, shape=CUTE, score="softcap", sink="bf16", output="lse"),
    "attention-cute-plan-128-lse": _attention("plan", 128, shape=CUTE, output="lse"),
    "attention-cute-varlen-128-lse": _attention("varlen", 128, shape=CUTE, output="lse"),
    "attention-cute-split-128-p4": _attention("split", 128, 4, shape=CUTE_FEW),
    "attention-cute-split-128-p2-capped": _attention("split", 128, 2, shape=CUTE_FEW, score="softcap", sink="f32"),
    **{
        f"attention-cute-{v}-{d}-p{pack}-lse": _attention(v, d, pack, shape=CUTE_FEW, output="lse")
        for v, d, pack in (
            ("split", 128, 4),
            ("split-causal", 128, 16),
            ("split-lengths", 128, 8),
            ("split-lengths-causal", 128, 4),
            ("split-lengths", 64, 4),
        )
    },
}
#: Keys and values of e4m3.
ATTENTION_KV8: dict[str, Build] = {
    "attention-kv8-split-128-p4": _attention("split", 128, 4, kv="e4m3"),
    **{
        f"attention-kv8-{v}-{d}-p{pack}-lse": _attention(v, d, pack, kv="e4m3", output="lse")
        for v, d, pack in (
            ("dense", 128, 1),
            ("causal", 128, 1),
            ("causal", 64, 1),
            ("window", 64, 1),
            ("split", 128, 4),
            ("split", 64, 8),
            ("split-lengths", 128, 8),
        )
    },
    "attention-kv8-dense-64-f16": _attention("dense", 64, element="f16", kv="e4m3"),
    "attention-kv8-split-causal-128-p4-f16": _attention("split-causal", 128, 4, element="f16", kv="e4m3"),
    "attention-kv8-cute-split-128-p4-lse": _attention("split", 128, 4, shape=CUTE_FEW, kv="e4m3", output="lse"),
    "attention-kv8-cute-split-lengths-64-p8-lse": _attention(
        "split-lengths", 64, 8, shape=CUTE_FEW, kv="e4m3", output="lse"
    ),
}
COMPOSITIONS: dict[str, Build] = (
    GEMMS
    | ATTENTION
    | ATTENTION_CUTE
    | ATTENTION_VARLEN
    | ATTENTION_WINDOWS
    | ATTENTION_PARTS
    | ATTENTION_LISTS
    | ATTENTION_SPLIT
    | ATTENTION_PARTIAL
    | ATTENTION_PAGED
    | ATTENTION_KV8
    | ATTENTION_CONTEXT
    | CLUSTERS
    | STAGED
    | TENSOR_MEMORY
    | FURTHER
    | {
        "placed": _placed,
        "gathered": _gathered,
        "matvec": _matvec,
        "round_trip": _round_trip,
        "megakernel": megakernels.streaming,
        "handed_pages": _handed_pages("page_writer", "page_loader", "page_reader"),
        "peer_pages": _handed_pages("peer_writer", "peer_loader", "peer_reader"),
        "far_pages": _handed_pages("own_writer", "far_loader", "peer_reader"),
        "own_mbarriers": _alone("doubled", "own"),
        **{f"exchange_{name}": _alone(name, "exchange") for name in EXCHANGES},
        **{name: _alone(name, "turns") for name in IN_TURN},
        "own_columns": _alone("kept_in_columns", "columns"),
        "gathered_store": _gathered_store,
        "tickets": _alone("tickets"),
        "meeting": _alone("meeting"),
        "ranks": _alone("ranks"),
        "persistent": _alone("persistent"),
        "affine": _affine,
        "reduced_by_tma": _hopper("block_adder"),
        "bulk_stores": _hopper("block_copier"),
        "row_product": _row_product,
        "add_early": _alone("add_early", "programmatic"),
        "gemm_programmatic": _programmatic(stamped=False),
        "gemm_stamped": _programmatic(stamped=True, programmatic=False),
        "gemm_stamped_programmatic": _programmatic(stamped=True),
        "rope": _rope,
        "twice": _twice,
        "ring_plain_plain": _ring("plain", "plain"),
        "ring_swizzled_swizzled": _ring("swizzled", "swizzled"),
        "ring_plain_swizzled": _ring("plain", "swizzled"),
        "ring_two_readers": _two_readers,
        "ring_behind_odd": _behind_odd,
        "turns": _turns,
        "different_readers": _different_readers,
        "two_rings": _two_rings,
        "bound_value": _bound_value,
        "work_items": _work_items,
        "state": _state,
        "phases": _phases("rotated"),
        "phases_of_a_warp": _phases("rotated_by_a_warp"),
        "in_turns": _in_turns,
    }
)


def _talking(c: Composer) -> None:
    """Both ends of a ring print, and one asserts."""
    c.kernel.connect(c.add("talk", "talking_writer").rows, c.add("talk", "talking_reader").rows)


#: For debug links alone.
DEBUGGED: dict[str, Build] = {"talking": _talking}

#: GEMMs of which a pairwise cover stands for all.
PRODUCT: tuple[str, ...] = (*GEMMS, *CLUSTERS, *STAGED, *FURTHER)


def pairs(name: str) -> set[tuple[str, str]]:
    """Mainloop with epilogue, mainloop with scheduler and epilogue with scheduler of a GEMM."""
    _, mainloop, epilogue, scheduler = name.split("-")
    return set(itertools.combinations((mainloop, epilogue, scheduler), 2))


def pairwise_cover(names: Iterable[str]) -> tuple[str, ...]:
    """Of ``names`` so few, in their order, that each of their pairs is in one: greedily that with the most new pairs,
    the first of equals."""
    of = {name: pairs(name) for name in names}
    chosen: set[str] = set()
    left = {pair for found in of.values() for pair in found}
    while left:
        best = max(of, key=lambda name: len(of[name] & left))
        chosen.add(best)
        left -= of[best]
    return tuple(name for name in of if name in chosen)


def compose(name: str, objects: Objects) -> Kernel:
    """The kernel of a composition."""
    kernel = pipelink.Kernel(name.split("-")[0], target=TARGETS.get(name, "sm_90a"))
    (COMPOSITIONS | DEBUGGED)[name](Composer(kernel, objects))
    return kernel
