"""Causal attention over a sequence that two GPUs share, beside torch's ``context_parallel`` and a single GPU.

    python benchmarks/attention/context.py --link FOLDER                                 where the compilers are
    torchrun --nproc-per-node=2 benchmarks/attention/context.py FOLDER [--output FILE]   where the GPUs are

Peers are torch's ring attention, by both ways in which it passes keys and values on, with cuDNN, and the linked kernel
that has the whole sequence on one GPU, which shows what is left of a second one.  All are timed in turns in one run,
after a barrier; the time is that of the slower rank.  A ratio is a peer's time over the linked kernel's of one turn.
"""

from __future__ import annotations

import os
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

GPUS, BATCHES, HEADS, DIMENSION = 2, 1, 16, 128
LENGTHS = (16384, 65536)
ROTATIONS = ("allgather", "alltoall")  # of torch: how keys and values go round
TURNS, WARM = 12, 3  # turns that count, and calls before them
KERNELS = {"context": f"attention-context-causal-{DIMENSION}-g{GPUS}", "alone": f"attention-causal-{DIMENSION}"}


def link(folder: Path) -> None:
    """The packages that are measured."""
    from test.compositions import Objects, compose

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        objects = Objects(Path(made))
        for name in KERNELS.values():
            compose(name, objects).link().save(folder / f"{name}.plk")


def in_turns(torch: Any, calls: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Milliseconds of the slower rank, turn by turn."""
    import torch.distributed as dist

    for _ in range(WARM):
        for call in calls.values():
            call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(TURNS):
        for name, call in calls.items():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            dist.barrier()
            begin.record()
            call()
            end.record()
            torch.cuda.synchronize()
            took = torch.tensor([begin.elapsed_time(end)], device="cuda")
            dist.all_reduce(took, dist.ReduceOp.MAX)
            times[name].append(float(took))
    return times


def check(case: str, found: Any, expected: Any, what: str) -> None:
    if not (found.float() - expected.float()).norm() < 6e-3 * expected.float().norm():  # both are rounded to bf16
        raise SystemExit(f"{case}: {what} computes something else")


def measure(torch: Any, folder: Path, mesh: Any, length: int) -> dict[str, Any]:
    """One length: medians in milliseconds, and each peer's time over the linked kernel's."""
    import torch.distributed as dist
    import torch.nn.functional as functional
    from torch.distributed.tensor.experimental import context_parallel
    from torch.distributed.tensor.experimental._attention import set_rotate_method
    from torch.nn.attention import SDPBackend, sdpa_kernel

    from benchmarks import timing
    from pipelink.torch.context import shard_sequence, shared_buffers

    rank, case, scale = dist.get_rank(), f"{BATCHES}x{HEADS}x{length}", DIMENSION**-0.5
    generator = torch.Generator(device="cuda").manual_seed(length)
    shape = (BATCHES, length, HEADS, DIMENSION)
    q, k, v = (torch.randn(shape, generator=generator, device="cuda").bfloat16() for _ in range(3))

    buffers = shared_buffers((BATCHES, length // GPUS, HEADS, DIMENSION), torch.bfloat16)
    buffers.k.copy_(shard_sequence(k, rank, GPUS))
    buffers.v.copy_(shard_sequence(v, rank, GPUS))
    own = shard_sequence(q, rank, GPUS)
    given = {**buffers.arguments(), "q": own, "o": torch.full_like(own, float("nan")), "scale": scale}
    shared = runtime.load(folder / f"{KERNELS['context']}.plk")
    shared.preload(**given)
    whole = {"q": q, "k": k, "v": v, "o": torch.full_like(q, float("nan")), "scale": scale}
    alone = runtime.load(folder / f"{KERNELS['alone']}.plk")
    alone.preload(**whole)
    torch.cuda.synchronize()
    dist.barrier()

    # In its context torch replaces what stands in the buffers by the rank's part, in the same two chunks.
    turned = [x.transpose(1, 2).contiguous() for x in (q, k, v)]
    ring = context_parallel(mesh, buffers=turned, buffer_seq_dims=[2, 2, 2])
    with torch.no_grad(), sdpa_kernel(SDPBackend.CUDNN_ATTENTION), ring:

        def rotated(how: str) -> Callable[[], Any]:
            def call() -> Any:
                set_rotate_method(how)
                return functional.scaled_dot_product_attention(*turned, is_causal=True)

            return call

        peers = {f"context_parallel, {how}": rotated(how) for how in ROTATIONS}
        calls = {"linked": lambda: shared(**given), **peers, "one GPU": lambda: alone(**whole)}
        for call in calls.values():
            call()
        torch.cuda.synchronize()
        check(case, given["o"], shard_sequence(whole["o"], rank, GPUS), "the kernel of one GPU")
        for name, call in peers.items():
            check(case, call().transpose(1, 2), given["o"], name)
        times = in_turns(torch, calls)
    others = [name for name in times if name != "linked"]
    pairs = {name: [p / q for p, q in zip(times[name], times["linked"], strict=True)] for name in others}
    ms = {name: round(statistics.median(found), 3) for name, found in times.items()}
    flops = 4 * BATCHES * HEADS * DIMENSION * (length * (length + 1) // 2)
    gpus = {name: 1 if name == "one GPU" else GPUS for name in ms}
    return {
        "ms": ms,
        "tflops": {name: round(flops / found * 1e-9 / gpus[name], 1) for name, found in ms.items()},  # a GPU
        "ratio": {name: [round(x, 4) for x in timing.interval(found)] for name, found in pairs.items()},
        "turns": TURNS,
        "with": timing.machine(),
    }


def main() -> int:
    given = arguments(__doc__, "FOLDER")
    if given.link:
        link(given.path)
        return 0
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    from benchmarks import store

    if "LOCAL_RANK" not in os.environ or int(os.environ["WORLD_SIZE"]) != GPUS:
        raise SystemExit(f"run it under torchrun --nproc-per-node={GPUS}")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    mesh = init_device_mesh("cuda", (GPUS,))
    for length in LENGTHS:
        found = measure(torch, given.path, mesh, length)
        if dist.get_rank() == 0:
            print(f"{BATCHES}x{HEADS}x{length}: {found['ms']} ms, {found['ratio']}", flush=True)
            if given.output:
                entry = {**found, "with": {**found["with"], "date": store.now()}}
                store.add(given.output, "context", {f"causal-{DIMENSION}-{BATCHES}x{HEADS}x{length}": entry})
    dist.barrier()
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
