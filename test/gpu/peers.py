"""One of two processes, each with a GPU, that pass pages to each other.

``torchrun --nproc-per-node=2 test/gpu/peers.py PACKAGE``

Torch's symmetric memory gives each process the other's buffers as tensors.
"""

import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric_memory

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pipelink import runtime

CTAS, LAUNCHES, ROUNDS = 32, 50, 200


def main() -> None:
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))

    def everyone(*shape: int) -> tuple[Any, list[Any]]:
        """This process's tensor, and those of all by rank."""
        own = symmetric_memory.empty(*shape, dtype=torch.int32, device=f"cuda:{rank}").zero_()
        handle = symmetric_memory.rendezvous(own, dist.group.WORLD)
        return own, [own if peer == rank else handle.get_buffer(peer, shape, torch.int32) for peer in range(2)]

    data, all_data = everyone(CTAS, 64, 32)
    pages, pages_peers = everyone(1 + 2 * CTAS, 32)
    right = torch.zeros(CTAS, 128, dtype=torch.int32, device="cuda")
    kernel = runtime.load(sys.argv[1])
    arguments = {"data": data, "all_data": all_data, "pages": pages, "pages_peers": pages_peers, "right": right}
    kernel.preload(**arguments, rank=rank, rounds=ROUNDS, seed=0)
    for seed in range(LAUNCHES):
        right.zero_()
        data.fill_(-1)
        torch.cuda.synchronize()
        dist.barrier()
        kernel(**arguments, rank=rank, rounds=ROUNDS, seed=seed)
        torch.cuda.synchronize()
        if not bool((right == 8 * ROUNDS).all()):
            sys.exit(f"rank {rank}, launch {seed}: {int((right != 8 * ROUNDS).sum())} threads saw other words")
    print(f"rank {rank}: right")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
