"""Lists of blocks against float64 and torch: as others have them, and planned ahead; with bits, and named masks."""

from typing import Any

import pytest

from test.gpu.references import causal_pairs, held

DIMENSIONS = (128, 64)
LENGTHS = (1, 63, 64, 65, 127, 1000, 4097)
SHAPES = [  # B, H, HK, SQ, SK
    *((1, 2, 2, length, length) for length in LENGTHS),
    (2, 8, 2, 300, 700),
    (1, 8, 1, 515, 129),
    (2, 4, 1, 1000, 1000),
]
BLOCKS = [(128, 128), (64, 64), (192, 128), (256, 192), (384, 512)]


def status_of(torch: Any, shape: tuple[int, ...], block: tuple[int, int], shared: bool) -> Any:
    """[LB, LH, rows, columns]: 0 not at all, 1 partial, 2 full; the first row of blocks is empty."""
    b, h, _, sq, sk = shape
    generator = torch.Generator(device="cuda").manual_seed(sq + sk + block[0])
    extents = (1 if shared else b, 1 if shared else h, -(-sq // block[0]), -(-sk // block[1]))
    status = torch.randint(0, 3, extents, generator=generator, device="cuda")
    status[:, :, 0] *= extents[2] == 1
    return status


def lists_of(torch: Any, status: Any, block: tuple[int, int], lengths: tuple[int, int]) -> Any:
    from pipelink.torch.block_mask import BlockLists

    some, every = (
        ((status == kind).sum(-1).int(), torch.argsort((status != kind).int(), dim=-1, stable=True).int())
        for kind in (1, 2)
    )
    return BlockLists(*some, *every, block, lengths)


def spread(status: Any, block: tuple[int, int], shape: tuple[int, ...]) -> Any:
    """The status of each pair, [B, H, SQ, SK]."""
    b, h, _, sq, sk = shape
    wide = status.expand(b, h, -1, -1).repeat_interleave(block[0], 2).repeat_interleave(block[1], 3)
    return wide[:, :, :sq, :sk]


def some(b: Any, h: Any, q: Any, k: Any) -> Any:
    """Which pairs of a partial block count."""
    return (q * 7 + k * 3) % 5 < 2


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "x".join(map(str, block)))
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_plans(torch: Any, package: Any, shape: tuple[int, ...], block: tuple[int, int], dimension: int) -> None:
    from pipelink.torch.block_mask import plan_blocks

    b, h, _, sq, sk = shape
    status = status_of(torch, shape, block, shared=sq % 2 == 0)
    plan = plan_blocks(lists_of(torch, status, block, (sq, sk)), b, h, dimension, 132, some)
    pairs = spread(status, block, shape)
    decided = some(0, 0, torch.arange(sq, device="cuda")[:, None], torch.arange(sk, device="cuda"))
    keep = (pairs == 2) | ((pairs == 1) & decided)
    held(torch, package, f"attention-plan-{dimension}-lse", shape, dimension, keep, plan.arguments())


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_plans_whose_mask_is_named(torch: Any, package: Any, shape: tuple[int, ...], dimension: int) -> None:
    from pipelink.torch.block_mask import plan_blocks

    b, h, _, sq, sk = shape
    status = status_of(torch, shape, (128, 128), shared=False)
    status[:, :, :, sk // 128 :] = status[:, :, :, sk // 128 :].clamp(max=1)  # at the end the mask decides
    plan = plan_blocks(lists_of(torch, status, (128, 128), (sq, sk)), b, h, dimension, 132).arguments()
    del plan["mask_bits"]
    pairs = spread(status, (128, 128), shape)
    keep = (pairs == 2) | ((pairs == 1) & causal_pairs(torch, sq, sk))
    held(torch, package, f"attention-plan-causal-{dimension}-lse", shape, dimension, keep, plan)


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("tiles", [(1, 1), (2, 3)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_lists(
    torch: Any, package: Any, shape: tuple[int, ...], causal: bool, tiles: tuple[int, int], dimension: int
) -> None:
    from pipelink.torch.block_mask import list_blocks
    from pipelink.torch.table import TILES

    _, _, _, sq, sk = shape
    block = (TILES[dimension] * tiles[0], 128 * tiles[1])
    status = status_of(torch, shape, block, shared=sq % 2 == 0)
    last = sk // block[1]
    status[:, :, :, last:] = status[:, :, :, last:].clamp(max=1)
    given = list_blocks(lists_of(torch, status, block, (sq, sk)), dimension)
    pairs = spread(status, block, shape)
    keep = (pairs == 2) | ((pairs == 1) & causal_pairs(torch, sq, sk)) if causal else pairs > 0
    name = f"attention-blocks{'-causal' if causal else ''}-{dimension}-lse"
    held(torch, package, name, shape, dimension, keep, given)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_nothing_listed(torch: Any, package: Any, dimension: int) -> None:
    from pipelink.torch.block_mask import plan_blocks

    shape = (2, 4, 2, 300, 300)
    status = torch.zeros(1, 1, 3, 3, device="cuda", dtype=torch.int64)
    keep = torch.zeros(300, 300, dtype=torch.bool, device="cuda")
    plan = plan_blocks(lists_of(torch, status, (128, 128), (300, 300)), 2, 4, dimension, 132, some)
    held(torch, package, f"attention-plan-{dimension}-lse", shape, dimension, keep, plan.arguments())
