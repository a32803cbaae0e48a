"""One of several processes, each with a GPU, that share a sequence of attention.

``torchrun --nproc-per-node=2 test/gpu/context.py PACKAGE``

Keys and values lie in torch's symmetric memory.  Every launch finds others, and the processes meet before the first
alone.
"""

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pipelink import runtime
from pipelink.torch.context import shard_sequence, shared_buffers
from test.gpu.references import causal_pairs, error, reference

BATCHES, HEADS, LENGTH, LAUNCHES = 1, 4, 4096, 50


def main() -> None:
    path = Path(sys.argv[1])
    _, *variant, size, _ = path.stem.split("-")
    causal, d = "causal" in variant, int(size)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    rank, gpus = dist.get_rank(), dist.get_world_size()
    buffers = shared_buffers((BATCHES, LENGTH // gpus, HEADS, d), torch.bfloat16)
    generator = torch.Generator(device="cuda").manual_seed(5)
    whole = torch.randn(3, BATCHES, LENGTH, HEADS, d, generator=generator, device="cuda").bfloat16()
    q = shard_sequence(whole[0], rank, gpus)
    outputs = [torch.full_like(q, float("nan")) for _ in range(LAUNCHES)]
    kernel = runtime.load(path)
    call = {**buffers.arguments(), "q": q, "scale": d**-0.5}
    for o in outputs:
        kernel.preload(**call, o=o)
    torch.cuda.synchronize()
    dist.barrier()
    for launch, o in enumerate(outputs):
        buffers.k.copy_(shard_sequence(whole[1].roll(launch, 1), rank, gpus))
        buffers.v.copy_(shard_sequence(whole[2].roll(launch, 2), rank, gpus))
        kernel(**call, o=o)
    torch.cuda.synchronize()
    keep = causal_pairs(torch, LENGTH, LENGTH) if causal else None
    for launch, o in enumerate(outputs):
        keys, values = whole[1].roll(launch, 1), whole[2].roll(launch, 2)
        expected, _ = reference(torch, whole[0], keys, values, d**-0.5, keep)
        found = error(o, shard_sequence(expected, rank, gpus))
        if not found < 6e-3:
            sys.exit(f"rank {rank}, launch {launch}: relative error {found}")
    print(f"rank {rank}: right")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
