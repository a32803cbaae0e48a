"""Causal attention over keys and values in pages beside that over the same keys in a row, on a Hopper GPU.

    python benchmarks/attention/paged.py --link FOLDER        where the compilers are
    python benchmarks/attention/paged.py FOLDER [--only 'page16-*'] [--output benchmarks/results/paged.json]

Whole prompts, whose pages lie in memory in random order.  ``dense`` is the kernel whose keys lie in a row; a ratio is
its time over that of the kernel with pages, of one turn.  Both have to compute the same.  A peer, where it is installed
(``flashinfer-python``), is FlashInfer, which reads the same pages.  All are replayed from CUDA graphs, in turns.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.attention.run import TURNS, in_turns  # noqa: E402
from benchmarks.attention.sparse import captured  # noqa: E402
from benchmarks.command import arguments  # noqa: E402
from pipelink import runtime  # noqa: E402

DIMENSION, PAGES = 128, (16, 64, 256)  # of a head; keys of a page
WORKSPACE = 256 << 20  # bytes that FlashInfer keeps its parts in


@dataclass(frozen=True)
class Case:
    """Prompts of one length, all of whose keys lie in pages of ``page``."""

    batches: int
    heads: int
    kv_heads: int
    length: int
    page: int

    @property
    def name(self) -> str:
        heads = str(self.heads) if self.heads == self.kv_heads else f"{self.heads}({self.kv_heads})"
        return f"page{self.page}-{DIMENSION}-{self.batches}x{heads}x{self.length}"


SHAPES = ((4, 32, 8, 4096), (1, 32, 8, 16384), (4, 16, 16, 4096), (1, 16, 16, 16384))
CASES = tuple(Case(*shape, page) for shape in SHAPES for page in PAGES)


def link(folder: Path) -> None:
    """The packages that are measured."""
    import pipelink
    from pipelink.components.attention import add_attention
    from pipelink.components.gemm import Composer
    from test.compositions import Objects

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        objects = Objects(Path(made))
        for page in (None, *PAGES):
            kernel = pipelink.Kernel("attention", target="sm_90a")
            add_attention(Composer(kernel, objects), "paged-causal" if page else "causal", DIMENSION, page=page)
            kernel.link().save(folder / f"{f'page{page}' if page else 'dense'}.plk")


def shuffled(torch: Any, batches: int, length: int, page: int) -> Any:
    """The page of each ``page`` keys of each sequence, int32 ``[batches, pages of a sequence]``, in random order."""
    order = torch.randperm(batches * (length // page), generator=torch.Generator().manual_seed(page))
    return order.view(batches, -1).to("cuda", torch.int32)


def in_pages(torch: Any, rows: Any, table: Any, page: int) -> Any:
    """Keys or values ``[B, S, HK, D]`` as the pages that ``table`` names, ``[pages, page, HK, D]``."""
    parts = rows.reshape(-1, page, *rows.shape[2:])
    pages = torch.empty_like(parts)
    pages[table.flatten().long()] = parts
    return pages


def planned(torch: Any, table: Any, page: int, heads: int, kv_heads: int, prompts: bool) -> Any:
    """FlashInfer's attention over full pages: of prompts as long as the keys, causal, or of one query a sequence.  None
    where FlashInfer is not installed."""
    try:
        import flashinfer  # pyright: ignore[reportMissingImports]
    except ImportError:
        return None
    batches, count = table.shape
    workspace = torch.zeros(WORKSPACE, device="cuda", dtype=torch.uint8)
    begins = torch.arange(batches + 1, device="cuda", dtype=torch.int32) * count
    held = (begins, table.flatten(), torch.full((batches,), page, device="cuda", dtype=torch.int32))
    sizes = (heads, kv_heads, DIMENSION, page)
    types = {"q_data_type": torch.bfloat16, "kv_data_type": torch.bfloat16, "sm_scale": DIMENSION**-0.5}
    if prompts:
        made = flashinfer.BatchPrefillWithPagedKVCacheWrapper(workspace, "NHD")
        made.plan(begins * page, *held, *sizes, causal=True, **types)
    else:
        made = flashinfer.BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD", use_tensor_cores=heads > kv_heads)
        made.plan(*held, *sizes, **types)
    return made


def measure(folder: Path, case: Case) -> dict[str, Any]:
    """One case: medians in microseconds, and what the others take over the time of the kernel with pages."""
    import torch

    from benchmarks import timing

    shape = (case.batches, case.length, case.heads, DIMENSION)
    q = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn_like(q[:, :, : case.kv_heads]).contiguous() for _ in range(2))
    table = shuffled(torch, case.batches, case.length, case.page)
    keys, values = (in_pages(torch, rows, table, case.page) for rows in (k, v))
    behind = q.view(1, -1, case.heads, DIMENSION)  # one sequence behind the other
    lengths = torch.full((case.batches,), case.length, device="cuda", dtype=torch.int32)
    begins = torch.arange(case.batches + 1, device="cuda", dtype=torch.int32) * case.length
    o = {name: torch.full_like(q, float("nan")) for name in ("dense", "paged", "FlashInfer")}
    given: dict[str, dict[str, Any]] = {
        "dense": {"q": q, "k": k, "v": v},
        "paged": {
            "q": behind, "k": keys, "v": values, "block_table": table, "cu_seqlens_q": begins, "seqused_k": lengths,
        },
    }  # fmt: skip
    calls: dict[str, Callable[[], Any]] = {}
    toolkit = ""
    for name, own in given.items():
        kernel = runtime.load(folder / f"{'dense' if name == 'dense' else f'page{case.page}'}.plk")
        call = {**own, "o": o[name].view(own["q"].shape), "scale": DIMENSION**-0.5}
        kernel.preload(**call)
        calls[name] = lambda kernel=kernel, call=call: kernel(**call)
        toolkit = kernel.package.manifest["targets"][0]["toolkit"]
    peer = planned(torch, table, case.page, case.heads, case.kv_heads, prompts=True)
    if peer is not None:
        out = o["FlashInfer"].view(-1, case.heads, DIMENSION)
        calls["FlashInfer"] = lambda: peer.run(behind[0], (keys, values), out=out)

    graphs = {name: captured(torch, call)[0] for name, call in calls.items()}
    for made in o.values():
        made.fill_(float("nan"))
    for replay in graphs.values():
        replay()
    torch.cuda.synchronize()
    expected = o["dense"].float()
    for name in calls:
        if not (o[name].float() - expected).norm() < 6e-3 * expected.norm():  # of both, in bf16
            raise SystemExit(f"{case.name}: {name} is not what dense computes")
    times = in_turns(torch, graphs)
    us = {name: round(statistics.median(found), 1) for name, found in times.items()}
    ratios = {
        name: [round(x, 4) for x in timing.interval([p / q for p, q in zip(times[name], times["paged"], strict=True)])]
        for name in calls
        if name != "paged"
    }
    flops = 2 * case.batches * case.heads * case.length**2 * DIMENSION
    return {
        "us": us,
        "tflops": {name: round(flops / found * 1e-6, 1) for name, found in us.items()},
        "ratio": ratios,
        "turns": TURNS,
        "with": {**timing.machine(), "toolkit": toolkit},
    }


def main() -> int:
    given = arguments(__doc__, "FOLDER", cases=True)
    if given.link:
        link(given.path)
        return 0
    from benchmarks import store

    for case in (case for case in CASES if fnmatch(case.name, given.only)):
        found = measure(given.path, case)
        ratios = ", ".join(f"{ratio[0]:.3f} to {name}" for name, ratio in found["ratio"].items())
        print(f"{case.name}: {found['us']}, {ratios}", flush=True)
        if given.output:
            store.add(given.output, "paged", {case.name: {**found, "with": {**found["with"], "date": store.now()}}})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
