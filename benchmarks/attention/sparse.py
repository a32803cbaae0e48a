"""Sliding windows and lists of blocks beside FlexAttention and FlashAttention 4, on a Hopper GPU.

    python benchmarks/attention/sparse.py --link FOLDER        where the compilers are
    python benchmarks/attention/sparse.py FOLDER [--output benchmarks/results/sparse.json]

Peers are FlexAttention through Triton and, where ``flash-attn-4`` is installed, through its own kernel
(``BACKEND="FLASH"``) and, for windows, FlashAttention 4 itself.  Lists are random blocks of 128 x 128, all of whose
pairs count, and the diagonal; each is given as it is (``blocks``) where tiles fit, and planned ahead (``plan``).  All
are replayed from CUDA graphs, in turns; a ratio is a peer's time over the linked kernel's of one turn.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.attention.run import TURNS, in_turns  # noqa: E402
from benchmarks.command import arguments  # noqa: E402
from pipelink import runtime  # noqa: E402

KERNELS = (("window", 128), ("window", 64), ("blocks", 128), ("plan", 128), ("plan", 64))
BLOCK = 128  # queries and keys of a listed block


@dataclass(frozen=True)
class Case:
    """``window``: how many keys back a query looks, itself included; or ``density``: the share of blocks listed."""

    batches: int
    heads: int
    kv_heads: int
    length: int
    dimension: int
    window: int = 0
    density: float = 0.0

    @property
    def name(self) -> str:
        what = f"window{self.window}" if self.window else f"blocks{round(100 * self.density)}%"
        heads = str(self.heads) if self.heads == self.kv_heads else f"{self.heads}({self.kv_heads})"
        return f"{what}-{self.dimension}-{self.batches}x{heads}x{self.length}"

    @property
    def variants(self) -> tuple[str, ...]:
        return ("window",) if self.window else ("blocks", "plan") if self.dimension == 128 else ("plan",)


CASES = (
    Case(4, 16, 16, 4096, 128, window=1024),
    Case(1, 16, 16, 16384, 128, window=4096),
    Case(1, 32, 8, 16384, 128, window=1024),
    Case(4, 16, 16, 4096, 64, window=1024),
    Case(4, 16, 16, 4096, 128, density=0.25),
    Case(1, 16, 16, 16384, 128, density=0.1),
    Case(4, 16, 16, 4096, 64, density=0.25),
    Case(1, 16, 16, 16384, 64, density=0.1),
)


def link(folder: Path) -> None:
    """The packages that are measured."""
    import pipelink
    from pipelink.components.attention import add_attention
    from pipelink.components.gemm import Composer
    from test.compositions import Objects

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        objects = Objects(Path(made))
        for variant, dimension in KERNELS:
            kernel = pipelink.Kernel("attention", target="sm_90a")
            add_attention(Composer(kernel, objects), variant, dimension)
            kernel.link().save(folder / f"attention-{variant}-{dimension}.plk")


def block_mask(torch: Any, case: Case) -> tuple[Any, int]:
    """FlexAttention's mask, and how many pairs of a batch count, all heads together."""
    from torch.nn.attention.flex_attention import create_block_mask

    n, window = case.length, case.window
    if window:

        def near(b: Any, h: Any, q: Any, k: Any) -> Any:
            return (q >= k) & (q - k < window)

        pairs = case.heads * (n * window - window * (window - 1) // 2)
        return create_block_mask(near, None, None, n, n, device="cuda", BLOCK_SIZE=BLOCK), pairs
    generator = torch.Generator(device="cuda").manual_seed(1)
    blocks = n // BLOCK
    listed = torch.rand(case.heads, blocks, blocks, device="cuda", generator=generator) < case.density
    listed |= torch.eye(blocks, device="cuda", dtype=torch.bool)

    def inside(b: Any, h: Any, q: Any, k: Any) -> Any:
        return listed[h, q // BLOCK, k // BLOCK]

    made = create_block_mask(inside, None, case.heads, n, n, device="cuda", BLOCK_SIZE=BLOCK)
    return made, int(listed.sum()) * BLOCK * BLOCK


def captured(torch: Any, call: Callable[[], Any]) -> tuple[Callable[[], Any], Any]:
    """The call as a CUDA graph, and what it writes."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = call()
    return graph.replay, made


def peers(torch: Any, case: Case, q: Any, k: Any, v: Any, mask: Any) -> dict[str, Callable[[], Any]]:
    """What else computes the same, by name; operands and results are [B, S, H, D]."""
    from torch.nn.attention.flex_attention import flex_attention

    torch._dynamo.reset()  # beyond its limit of recompilations the call would run uncompiled
    flex = torch.compile(flex_attention, dynamic=False)
    turned = [x.transpose(1, 2).contiguous() for x in (q, k, v)]

    def through(backend: str) -> Callable[[], Any]:
        options = {"block_mask": mask, "enable_gqa": case.heads != case.kv_heads}
        return lambda: flex(*turned, **options, kernel_options={"BACKEND": backend}).transpose(1, 2)

    found: dict[str, Callable[[], Any]] = {"FlexAttention, Triton": through("TRITON")}
    try:
        from flash_attn.cute import flash_attn_func  # pyright: ignore[reportMissingImports]
    except ImportError:
        return found
    found["FlexAttention, FLASH"] = through("FLASH")
    if case.window:

        def flash() -> Any:
            made: Any = flash_attn_func(q, k, v, causal=True, window_size=(case.window - 1, 0))
            return made[0] if isinstance(made, tuple) else made

        found["FlashAttention 4"] = flash
    return found


def ours(torch: Any, folder: Path, case: Case, q: Any, k: Any, v: Any, mask: Any) -> dict[str, Callable[[], Any]]:
    """The linked kernels, by variant."""
    from pipelink.torch.block_mask import BlockLists, list_blocks, plan_blocks

    def call(variant: str) -> Callable[[], Any]:
        given: dict[str, Any] = {"q": q, "k": k, "v": v, "o": torch.full_like(q, float("nan"))}
        given["scale"] = case.dimension**-0.5
        if variant == "window":
            given |= {"left": case.window - 1, "right": 0}
        elif variant == "blocks":
            given |= list_blocks(BlockLists.of(mask), case.dimension)
        else:
            sms = torch.cuda.get_device_properties(0).multi_processor_count
            lists = BlockLists.of(mask)
            plan = plan_blocks(lists, case.batches, case.heads, case.dimension, sms, mask.mask_mod)
            given |= plan.arguments()
        kernel = runtime.load(folder / f"attention-{variant}-{case.dimension}.plk")
        kernel.preload(**given)

        def launch() -> Any:
            kernel(**given)
            return given["o"]

        return launch

    return {variant: call(variant) for variant in case.variants}


def measure(folder: Path, case: Case) -> dict[str, Any]:
    """One case: medians in microseconds, and each peer's time over the fastest linked kernel's."""
    import torch

    from benchmarks import timing

    shape = (case.batches, case.length, case.heads, case.dimension)
    q = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn_like(q[:, :, : case.kv_heads]).contiguous() for _ in range(2))
    mask, pairs = block_mask(torch, case)
    linked, others = ours(torch, folder, case, q, k, v, mask), peers(torch, case, q, k, v, mask)
    graphs: dict[str, Callable[[], Any]] = {}
    results: dict[str, Any] = {}
    for name, call in {**linked, **others}.items():
        graphs[name], results[name] = captured(torch, call)
        graphs[name]()
    torch.cuda.synchronize()
    expected = results["FlexAttention, Triton"].float()
    for name, made in results.items():
        if not (made.float() - expected).norm() < 6e-3 * expected.norm():  # of both, in bf16
            raise SystemExit(f"{case.name}: {name} is not what FlexAttention computes")
    times = in_turns(torch, graphs)
    us = {name: round(statistics.median(found), 1) for name, found in times.items()}
    best = min(linked, key=lambda name: us[name])
    ratios = {
        name: [round(x, 4) for x in timing.interval([p / q for p, q in zip(times[name], times[best], strict=True)])]
        for name in others
    }
    flops = 4 * case.batches * pairs * case.dimension
    return {
        "us": us,
        "tflops": {name: round(flops / found * 1e-6, 1) for name, found in us.items()},
        "linked": best,
        "ratio": ratios,
        "turns": TURNS,
        "with": timing.machine(),
    }


def main() -> int:
    given = arguments(__doc__, "FOLDER")
    if given.link:
        link(given.path)
        return 0
    from benchmarks import store

    for case in CASES:
        found = measure(given.path, case)
        ratios = ", ".join(f"{ratio[0]:.3f} to {name}" for name, ratio in found["ratio"].items())
        print(f"{case.name}: {found['us']}, {ratios}", flush=True)
        if given.output:
            store.add(given.output, "sparse", {case.name: {**found, "with": {**found["with"], "date": store.now()}}})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
