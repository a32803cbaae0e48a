"""Sequences that several GPUs share, for attention's kernels of variants ``context``: what each holds, and the memory.

The sequence is cut into 2 * gpus chunks, of which rank r holds r and 2 * gpus - 1 - r, so that all have the same to do
where attention is causal.  Keys and values lie where the peers can read them: with a process for each GPU in torch's
symmetric memory (``shared_buffers``), in one process in memory of its devices (``buffers_of_devices``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch  # pyright: ignore[reportMissingImports]

from pipelink.support.diagnostics import error

CHUNK = 128  # a chunk's keys are a multiple of this, the keys of a block


def shard_sequence(x: Any, rank: int, gpus: int, dim: int = 1) -> Any:
    """What a rank holds of a whole sequence, packed.  Raises LinkError ``argument-shape``."""
    length = x.shape[dim]
    if length % (2 * gpus * CHUNK):
        raise error("argument-shape", f"expected a length that {2 * gpus} times {CHUNK} divides, given {length}")
    chunks = x.chunk(2 * gpus, dim)
    return torch.cat((chunks[rank], chunks[2 * gpus - 1 - rank]), dim)


def join_sequence(shards: Sequence[Any], dim: int = 1) -> Any:
    """The whole sequence, on the first shard's device; ``shards`` are by rank."""
    halves = [shard.to(shards[0].device).chunk(2, dim) for shard in shards]
    return torch.cat([*(first for first, _ in halves), *(second for _, second in reversed(halves))], dim)


@dataclass(frozen=True)
class ContextBuffers:
    """One rank's memory.  ``k`` and ``v``: [B, S / gpus, HK, D], to be filled before each launch; ``far_k`` and
    ``far_v``: where those of the peers come to; ``met``: counters, zeros at first."""

    rank: int
    k: Any
    v: Any
    k_peers: Sequence[Any]
    v_peers: Sequence[Any]
    far_k: Any
    far_v: Any
    met: Any
    met_peers: Sequence[Any]

    def arguments(self) -> dict[str, Any]:
        """What a call is given beside ``q``, ``o`` and ``scale``."""
        return dict(vars(self))


def _far(k: Any, gpus: int) -> Any:
    return k.new_empty(k.shape[0], (gpus - 1) * k.shape[1], *k.shape[2:])


def buffers_of_devices(shape: Sequence[int], dtype: Any, devices: Sequence[int]) -> list[ContextBuffers]:
    """Those of all ranks in one process, each on the device of its number.  ``shape``: a rank's keys, [B, S / gpus, HK,
    D]."""
    gpus = len(devices)
    k, v = ([torch.zeros(*shape, dtype=dtype, device=f"cuda:{device}") for device in devices] for _ in range(2))
    met = [torch.zeros(1 + 2 * gpus, 32, dtype=torch.int32, device=f"cuda:{device}") for device in devices]
    return [
        ContextBuffers(rank, k[rank], v[rank], k, v, _far(k[rank], gpus), _far(v[rank], gpus), met[rank], met)
        for rank in range(gpus)
    ]


def shared_buffers(shape: Sequence[int], dtype: Any, group: Any = None) -> ContextBuffers:
    """Those of this process's rank in ``group``, on the current device.  All of the group's processes call it."""
    import torch.distributed as dist  # pyright: ignore[reportMissingImports]
    import torch.distributed._symmetric_memory as symmetric_memory  # pyright: ignore[reportMissingImports]

    group = group or dist.group.WORLD
    rank, gpus = dist.get_rank(group), dist.get_world_size(group)

    def everyone(extents: Sequence[int], element: Any) -> tuple[Any, list[Any]]:
        """This rank's tensor, and those of all."""
        own = symmetric_memory.empty(*extents, dtype=element, device=torch.device("cuda", torch.cuda.current_device()))
        handle = symmetric_memory.rendezvous(own.zero_(), group)
        torch.cuda.synchronize()
        return own, [own if peer == rank else handle.get_buffer(peer, extents, element) for peer in range(gpus)]

    k, k_peers = everyone(shape, dtype)
    v, v_peers = everyone(shape, dtype)
    met, met_peers = everyone((1 + 2 * gpus, 32), torch.int32)
    dist.barrier(group)
    return ContextBuffers(rank, k, v, k_peers, v_peers, _far(k, gpus), _far(v, gpus), met, met_peers)
