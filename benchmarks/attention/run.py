"""Attention kernels of the component library beside what else computes attention on a Hopper GPU.

    python benchmarks/attention/run.py --link FOLDER        where the compilers are
    python benchmarks/attention/run.py FOLDER [--output benchmarks/results/attention.json]

Peers are cuDNN through torch and, where it is installed, FlashAttention 4 (``flash-attn-4``).  Samples of the linked
kernel and of the peers are taken in turn; a ratio is the fastest peer's time over the linked kernel's of one turn.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.command import arguments  # noqa: E402
from pipelink import runtime  # noqa: E402

SHAPES = ((4, 16, 4096), (1, 16, 16384))  # batches, heads, length of queries and keys
KERNELS = [(variant, dimension) for dimension in (128, 64) for variant in ("dense", "causal")]
TURNS, SAMPLE_MS = 15, 8.0


def link(folder: Path) -> None:
    """The packages that are measured."""
    from test.compositions import Objects, compose

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        objects = Objects(Path(made))
        for variant, dimension in KERNELS:
            name = f"attention-{variant}-{dimension}"
            compose(name, objects).link().save(folder / f"{name}.plk")


def peers(torch: Any, q: Any, k: Any, v: Any, causal: bool) -> dict[str, Callable[[], Any]]:
    """What else computes the same, by name; operands are [B, S, H, D]."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    turned = [x.transpose(1, 2).contiguous() for x in (q, k, v)]

    def cudnn() -> Any:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(*turned, is_causal=causal).transpose(1, 2)

    found: dict[str, Callable[[], Any]] = {"cuDNN": cudnn}
    try:
        from flash_attn.cute import flash_attn_func  # pyright: ignore[reportMissingImports]
    except ImportError:
        return found

    def flash() -> Any:
        made: Any = flash_attn_func(q, k, v, causal=causal)
        return made[0] if isinstance(made, tuple) else made

    return {**found, "FlashAttention 4": flash}


def in_turns(torch: Any, calls: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Microseconds of each call, a sample of each in every turn."""

    def sample(call: Callable[[], Any], launches: int) -> float:
        call()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(launches):
            call()
        end.record()
        torch.cuda.synchronize()
        return float(begin.elapsed_time(end)) * 1e3 / launches

    launches = {name: max(1, int(SAMPLE_MS * 1e3 / sample(call, 2))) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(TURNS):
        for name in list(calls)[:: 1 if number % 2 else -1]:
            times[name].append(sample(calls[name], launches[name]))
    return times


def measure(folder: Path, variant: str, dimension: int, shape: tuple[int, int, int]) -> dict[str, Any]:
    """One shape: medians in microseconds, and the ratio of the fastest peer to the linked kernel."""
    import torch

    from benchmarks import timing

    batches, heads, length = shape
    q, k, v = (torch.randn(batches, length, heads, dimension, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    o = torch.full_like(q, float("nan"))
    kernel = runtime.load(folder / f"attention-{variant}-{dimension}.plk")
    others = peers(torch, q, k, v, variant == "causal")
    calls = {"linked": lambda: kernel(q=q, k=k, v=v, o=o, scale=dimension**-0.5), **others}
    calls["linked"]()
    expected = others["cuDNN"]().float()
    if not (o.float() - expected).norm() < 6e-3 * expected.norm():  # of both, in bf16
        raise SystemExit(f"attention-{variant}-{dimension}: not what cuDNN computes")

    times = in_turns(torch, calls)
    fastest = min(others, key=lambda name: statistics.median(times[name]))
    ratio = timing.interval([p / q for p, q in zip(times[fastest], times["linked"], strict=True)])
    us = {name: round(statistics.median(found), 1) for name, found in times.items()}
    flops = 4 * batches * heads * length**2 * dimension * (0.5 if variant == "causal" else 1)
    return {
        "us": us,
        "tflops": {name: round(flops / found * 1e-6, 1) for name, found in us.items()},
        "fastest": fastest,
        "ratio": [round(value, 4) for value in ratio],
        "turns": TURNS,
        "with": {**timing.machine(), "toolkit": kernel.package.manifest["targets"][0]["toolkit"]},
    }


def main() -> int:
    given = arguments(__doc__, "FOLDER")
    if given.link:
        link(given.path)
        return 0
    from benchmarks import store

    for variant, dimension in KERNELS:
        for shape in SHAPES:
            found = measure(given.path, variant, dimension, shape)
            name = f"{variant}-{dimension}-{'x'.join(map(str, shape))}"
            print(f"{name}: {found['tflops']}, ratio {found['ratio'][0]:.3f} to {found['fastest']}", flush=True)
            if given.output:
                store.add(given.output, "attention", {name: {**found, "with": {**found["with"], "date": store.now()}}})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
