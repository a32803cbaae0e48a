"""Lists of blocks for attention: what its kernels of variants ``blocks`` and ``plan`` take, made of lists or of a
FlexAttention ``BlockMask``.

``plan_blocks`` turns lists of blocks of any multiple of 64 queries and keys, and a function that says which pairs of a
partial block count, into what variant ``plan`` reads: for each tile of the core its visits of 128 keys, for each 64
queries of a visit what they do there, the distinct bit masks of 64 x 128 pairs, and an order in which the CTAs finish
together.  It is made once, and serves every call.  ``list_blocks`` hands lists over as they are, where tiles fit.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import torch  # pyright: ignore[reportMissingImports]

from pipelink.support.diagnostics import error
from pipelink.torch.table import TILES

ROWS: Final = 64  # queries of a warpgroup
KEYS: Final = 128  # of a block of the core
SKIPPED, FULL, EDGE = -1, 1, 2  # block_kind in attention.cuh
_CHUNK: Final = 1024  # bit masks of ROWS x KEYS that are made at a time

MaskMod = Callable[[Any, Any, Any, Any], Any]


@dataclass(frozen=True)
class BlockLists:
    """Which blocks of keys each row of blocks needs, int32: ``kv_num_blocks`` [LB, LH, MB] of ``kv_indices``
    [LB, LH, MB, NB] are partial, ``full_kv_num_blocks`` of ``full_kv_indices`` full; LB and LH are those of the batches
    and heads, or 1.  ``block``: queries and keys of a block.  ``lengths``: of queries and keys."""

    kv_num_blocks: Any
    kv_indices: Any
    full_kv_num_blocks: Any
    full_kv_indices: Any
    block: tuple[int, int]
    lengths: tuple[int, int]

    @staticmethod
    def of(mask: Any) -> BlockLists:
        """Those of a ``torch.nn.attention.flex_attention.BlockMask``."""
        num, indices = mask.full_kv_num_blocks, mask.full_kv_indices
        if num is None:
            num, indices = torch.zeros_like(mask.kv_num_blocks), mask.kv_indices[..., :0]
        return BlockLists(
            mask.kv_num_blocks, mask.kv_indices, num, indices, tuple(mask.BLOCK_SIZE), tuple(mask.seq_lengths)
        )


@dataclass(frozen=True)
class BlockPlan:
    """Arguments of the kernels of variant ``plan``, int32.  ``list_order`` [CTAS, TURNS]: tiles of each CTA, -1 behind
    the last.  ``list_ends`` [LB, LH, tiles, 2]: from where on and up to where a tile's visits stand in ``list_entries``
    [VISITS, 4]: block of keys, and the kind for each 64 queries.  ``mask_bits`` [MASKS, 256]: see ``pack_masks``.
    ``made_for``: B, H, SQ, SK and D.  ``masked``: whether a function has said which pairs of partial blocks count."""

    list_order: Any
    list_ends: Any
    list_entries: Any
    mask_bits: Any
    made_for: tuple[int, int, int, int, int]
    masked: bool

    def arguments(self) -> dict[str, Any]:
        """By the kernel's names.  ``mask_bits`` is one of those kernels alone that have ``attention_block_mask``."""
        return {name: getattr(self, name) for name in ("list_order", "list_ends", "list_entries", "mask_bits")}


def pack_masks(keep: Any) -> Any:
    """Bit masks [N, 256] of int32 words of bools [N, 64, 128]: queries and keys.

    Word 64 * s + 2 * l + h belongs to lane l of the warp of queries 16 * s on; its bit 2 * g + e is the pair of query
    16 * s + l / 4 + 8 * h and key 8 * g + 2 * (l % 4) + e."""
    bits = keep.reshape(-1, 4, 2, 8, 16, 4, 2).permute(0, 1, 3, 5, 2, 4, 6).reshape(-1, 256, 32)
    words = (bits.long() << torch.arange(32, device=keep.device)).sum(-1)
    return torch.where(words >= 1 << 31, words - (1 << 32), words).int()


def _refuse(id: str, message: str, hint: str | None = None) -> NoReturn:
    raise error(id, f"attention: block_mask: {message}", hint=hint)


def _rows(dimension: int) -> int:
    """Queries of a tile."""
    if dimension not in (64, 128):
        _refuse("argument-shape", f"expected heads of 64 or 128, given {dimension}")
    return TILES[int(dimension)]  # which may be a symbol


def check_lists(lists: BlockLists, batches: int, heads: int) -> None:
    """Whether the lists fit batches, heads and rows of blocks.  Raises LinkError ``argument-dtype`` or
    ``argument-shape``."""
    rows = -(-lists.lengths[0] // lists.block[0])
    first = lists.kv_num_blocks
    for name, rank in (("kv_num_blocks", 3), ("kv_indices", 4), ("full_kv_num_blocks", 3), ("full_kv_indices", 4)):
        tensor = getattr(lists, name)
        if tensor.dtype not in (torch.int32, torch.int64):
            _refuse("argument-dtype", f"expected {name} of {torch.int32} or {torch.int64}, given {tensor.dtype}")
        fits = tensor.dim() == rank and tensor.shape[0] in (1, batches) and tensor.shape[1] in (1, heads)
        if not fits or tensor.shape[2] != rows or tensor.shape[:2] != first.shape[:2]:
            shape = f"[1 or {batches}, 1 or {heads}, {rows}{', blocks' * (rank == 4)}]"
            _refuse("argument-shape", f"expected {name} {shape}, given {list(tensor.shape)}")


def check_tiles(lists: BlockLists, dimension: int) -> None:
    """Whether a core's tiles fit into the blocks.  Raises LinkError ``argument-shape``."""
    rows = _rows(dimension)
    if lists.block[0] % rows or lists.block[1] % KEYS or min(lists.block) < 1:
        message = f"expected blocks of a multiple of {rows} queries and {KEYS} keys, given {list(lists.block)}"
        _refuse("argument-shape", message, hint="plan_blocks takes blocks of any multiple of 64")


def list_blocks(lists: BlockLists, dimension: int) -> dict[str, Any]:
    """Arguments of the kernels of variant ``blocks``.  Raises LinkError ``argument-shape`` where the tiles of the head
    dimension, 128 queries (D 128) or 192 (D 64) by 128 keys, do not fit into the blocks."""
    check_tiles(lists, dimension)
    rows = _rows(dimension)
    names = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices")
    tensors = {name: getattr(lists, name).int().contiguous() for name in names}
    return {**tensors, "q_block": lists.block[0] // rows, "kv_block": lists.block[1] // KEYS}


def _listed(counts: Any, indices: Any, blocks: int) -> Any:
    """[LB, LH, MB, blocks]: which blocks are in the lists."""
    there = torch.arange(indices.shape[-1], device=indices.device) < counts[..., None]
    found = torch.zeros(*indices.shape[:-1], blocks + 1, dtype=torch.bool, device=indices.device)
    return found.scatter_(-1, torch.where(there, indices, blocks).long(), True)[..., :blocks]


def _in_parts(listed: Any, block: tuple[int, int], rows: int, columns: int) -> Any:
    """The same [LB, LH, rows, columns] of parts of 64 queries and 64 keys."""
    parts = listed.repeat_interleave(block[0] // 64, -2).repeat_interleave(block[1] // 64, -1)[..., :rows, :columns]
    return torch.nn.functional.pad(parts, (0, columns - parts.shape[-1], 0, rows - parts.shape[-2]))


def _kept(mask_mod: MaskMod, at: Any, full: Any, partial: Any, lengths: tuple[int, int]) -> Any:
    """[N, 64, 128]: which pairs count at [N, 4], batch, head, and numbers of 64 queries and 128 keys, of whose two
    halves ``full`` and ``partial`` [N, 2] say what the lists say."""
    pair = torch.vmap(mask_mod, in_dims=(None, None, None, 0))
    decide = torch.vmap(torch.vmap(pair, in_dims=(None, None, 0, None)), in_dims=(0, 0, 0, 0))
    queries = (at[:, 2, None] * ROWS + torch.arange(ROWS, device=at.device)).clamp(max=lengths[0] - 1)
    keys = at[:, 3, None] * KEYS + torch.arange(KEYS, device=at.device)
    decided = decide(at[:, 0], at[:, 1], queries, keys.clamp(max=lengths[1] - 1))
    full, partial = (x.repeat_interleave(64, 1)[:, None, :] for x in (full, partial))
    return (full | (partial & decided)) & (keys < lengths[1])[:, None, :]


def _share(costs: list[float], ctas: int) -> list[list[int]]:
    """Tiles by CTA so that all finish together: who has least takes the next, longest first among as many neighbours as
    there are CTAs, which keeps a head's keys in the L2 cache, and among all of the last three such rounds."""
    rounds = [range(begin, min(begin + ctas, len(costs))) for begin in range(0, len(costs), ctas)]
    last = [tile for tiles in rounds[-3:] for tile in tiles]
    taken: list[list[int]] = [[] for _ in range(ctas)]
    free = [(0.0, cta) for cta in range(ctas)]
    for tiles in [*rounds[:-3], last]:
        for tile in sorted(tiles, key=lambda tile: -costs[tile]):
            load, cta = heapq.heappop(free)
            taken[cta].append(tile)
            heapq.heappush(free, (load + costs[tile], cta))
    return taken


def plan_blocks(
    lists: BlockLists, batches: int, heads: int, dimension: int, ctas: int, mask_mod: MaskMod | None = None
) -> BlockPlan:
    """The plan for ``batches`` and ``heads`` of Q, heads of ``dimension``, and a grid of ``ctas``: as many as the
    device has SMs.  ``mask_mod(batch, head, query, key)``, as FlexAttention's, says which pairs of partial blocks
    count, and is asked for the first of batches or heads that share lists; without it the kernel's mask component
    does, for blocks of a multiple of 128 keys.  Raises LinkError ``argument-shape`` or ``argument-dtype``."""
    rows, (sq, sk) = _rows(dimension), lists.lengths
    least = 64 if mask_mod else KEYS
    if lists.block[0] % 64 or lists.block[1] % least or min(lists.block) < 1:
        message = f"expected blocks of a multiple of 64 queries and {least} keys, given {list(lists.block)}"
        _refuse("argument-shape", message)
    check_lists(lists, batches, heads)
    device, groups = lists.kv_indices.device, rows // ROWS
    tiles, visits = -(-sq // rows), -(-sk // KEYS)
    partial, full = (
        _in_parts(_listed(counts, indices, -(-sk // lists.block[1])), lists.block, tiles * groups, visits * 2)
        for counts, indices in (
            (lists.kv_num_blocks, lists.kv_indices),
            (lists.full_kv_num_blocks, lists.full_kv_indices),
        )
    )
    behind = torch.arange(visits * 2, device=device) * 64 >= sk  # parts without keys
    there = torch.arange(tiles * groups, device=device)[:, None] * ROWS < sq
    partial, full = ((x & ~behind & there).unflatten(-1, (visits, 2)) for x in (partial, full))
    whole = (full | behind.unflatten(-1, (visits, 2))).all(-1)
    some = (partial | full).any(-1)
    ends = (torch.arange(visits, device=device) + 1) * KEYS > sk
    inside = torch.where(ends, EDGE, FULL).int()
    kinds = torch.where(some, torch.where(whole, inside, EDGE), SKIPPED).int()
    bits = torch.zeros(0, 256, dtype=torch.int32, device=device)
    at = (some & ~whole).nonzero()
    if mask_mod and len(at):
        index = tuple(at.T)
        packed, counted = [], []
        for n in range(0, len(at), _CHUNK):
            chunk = tuple(x[n : n + _CHUNK] for x in index)
            kept = _kept(mask_mod, at[n : n + _CHUNK], full[chunk], partial[chunk], lists.lengths)
            packed.append(pack_masks(kept))
            missing = ~kept & (at[n : n + _CHUNK, 3, None] * KEYS + torch.arange(KEYS, device=device) < sk)[:, None]
            counted.append(torch.stack((kept.flatten(1).any(1), ~missing.flatten(1).any(1)), 1))
        bits, number = torch.unique(torch.cat(packed), dim=0, return_inverse=True)
        any_, all_ = torch.cat(counted).unbind(1)
        kinds[index] = torch.where(any_, torch.where(all_, inside[at[:, 3]], EDGE + 1 + number), SKIPPED).int()
    kinds = kinds.unflatten(2, (tiles, groups))  # [LB, LH, tiles, groups, visits]
    visited = (kinds != SKIPPED).any(3)
    where = visited.nonzero()
    found = kinds.transpose(3, 4)[visited]  # [VISITS, groups]
    number = (where[:, 0] * visited.shape[1] + where[:, 1]) * tiles + where[:, 2]
    order = torch.argsort(number * 2 + ~(found >= EDGE).any(1), stable=True)
    entries = torch.full((len(where), 4), SKIPPED, dtype=torch.int32, device=device)
    entries[:, 0], entries[:, 1 : 1 + groups] = where[order, 3], found[order]
    until = visited.sum(-1).flatten().cumsum(0)
    begins = torch.cat((until.new_zeros(1), until[:-1]))
    costs = 1 + (kinds != SKIPPED).sum((3, 4)) / groups  # a tile's own, and its visits
    taken = _share(costs.expand(batches, heads, tiles).flatten().tolist(), max(1, min(ctas, batches * heads * tiles)))
    turns = max(1, *map(len, taken)) if len(taken) > 1 else max(1, len(taken[0]))
    table = torch.tensor([[*own, *[-1] * (turns - len(own))] for own in taken], dtype=torch.int32)
    return BlockPlan(
        table.to(device),
        torch.stack((begins, until), -1).int().reshape(*visited.shape[:3], 2),
        entries,
        bits,
        (batches, heads, sq, sk, dimension),
        mask_mod is not None,
    )
