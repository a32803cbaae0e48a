"""Plans of block lists against plain loops: what a kernel would count by them is what lists and mask say."""

from __future__ import annotations

from typing import Any

import pytest

from pipelink import LinkError
from pipelink.components.attention import SHAPES

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from pipelink.torch.block_mask import EDGE, FULL, SKIPPED, BlockLists, list_blocks, pack_masks, plan_blocks  # noqa: E402
from pipelink.torch.table import TILES  # noqa: E402


def bit(words: Any, query: int, key: int) -> bool:
    """The pair's bit, found as a lane of a fragment finds it."""
    lane, h, g, e = query % 8 * 4 + key % 8 // 2, query % 16 // 8, key // 8, key % 2
    return bool(int(words[64 * (query // 16) + 2 * lane + h]) >> (2 * g + e) & 1)


def test_every_pair_has_its_bit() -> None:
    keep = torch.rand(3, 64, 128, generator=torch.Generator().manual_seed(1)) < 0.5
    words = pack_masks(keep)
    assert (words.shape, words.dtype) == ((3, 256), torch.int32)
    assert all(bit(words[n], q, k) == bool(keep[n, q, k]) for n in range(3) for q in range(64) for k in range(128))


def lists_of(status: Any, block: tuple[int, int], lengths: tuple[int, int]) -> BlockLists:
    """Of [LB, LH, MB, NB]: 0 not at all, 1 partial, 2 full."""
    some, every = (
        ((status == kind).sum(-1).int(), torch.argsort((status != kind).int(), dim=-1, stable=True).int())
        for kind in (1, 2)
    )
    return BlockLists(*some, *every, block, lengths)


def counted(plan: Any, shape: tuple[int, int, int, int], rows: int) -> Any:
    """[B, H, SQ, SK]: how often a kernel would count each pair, found as walker and mask find it."""
    b, h, sq, sk = shape
    found, tiles = torch.zeros(b, h, sq, sk, dtype=torch.int), -(-sq // rows)
    numbers = [int(t) for t in plan.list_order.flatten() if t >= 0]
    assert sorted(numbers) == list(range(b * h * tiles))
    for number in numbers:
        m, head, batch = number % tiles, number // tiles % h, number // tiles // h
        lb, lh = (min(x, n - 1) for x, n in zip((batch, head), plan.list_ends.shape[:2], strict=True))
        begin, end = map(int, plan.list_ends[lb, lh, m])
        masked = [max(map(int, entry[1:])) >= EDGE for entry in plan.list_entries[begin:end]]
        assert masked == sorted(masked, reverse=True)  # partial ones first
        for entry in plan.list_entries[begin:end]:
            index, *kinds = map(int, entry)
            assert set(kinds) != {SKIPPED}
            for group in range(rows // 64):
                q, k, kind = m * rows + group * 64, index * 128, kinds[group]
                if kind == SKIPPED:
                    continue
                assert kind != FULL or k + 128 <= sk
                keep = torch.ones(64, 128, dtype=torch.int)
                if kind > EDGE:
                    words = plan.mask_bits[kind - EDGE - 1]
                    keep = torch.tensor([[bit(words, i, j) for j in range(128)] for i in range(64)]).int()
                part = found[batch, head, q : q + 64, k : k + 128]
                part += keep[: part.shape[0], : part.shape[1]]
    return found


@pytest.mark.parametrize("dimension", [128, 64])
@pytest.mark.parametrize(
    ("shape", "block", "shared"),
    [
        ((1, 2, 500, 700), (128, 128), (1, 2)),
        ((2, 1, 257, 130), (64, 64), (1, 1)),
        ((1, 1, 400, 400), (192, 192), (1, 1)),
        ((1, 1, 385, 1000), (256, 512), (1, 1)),
        ((1, 2, 1, 65), (64, 64), (1, 1)),
    ],
)
def test_plans_say_what_lists_and_mask_say(
    dimension: int, shape: tuple[int, int, int, int], block: tuple[int, int], shared: tuple[int, int]
) -> None:
    _, _, sq, sk = shape
    rows, columns = -(-sq // block[0]), -(-sk // block[1])
    status = torch.randint(0, 3, (*shared, rows, columns), generator=torch.Generator().manual_seed(sum(shape)))

    def some(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (q * 7 + k * 3 + h) % 5 < 2

    plan = plan_blocks(lists_of(status, block, (sq, sk)), *shape[:2], dimension, 3, some)
    b, h, q, k = torch.meshgrid(*map(torch.arange, shape), indexing="ij")
    b, h = (x.clamp(max=n - 1) for x, n in zip((b, h), shared, strict=True))  # what shares lists shares the mask
    spread = status.expand(*shape[:2], -1, -1).repeat_interleave(block[0], 2).repeat_interleave(block[1], 3)
    spread = spread[:, :, :sq, :sk]
    expected = (spread == 2) | ((spread == 1) & some(b, h, q, k))
    assert torch.equal(counted(plan, shape, TILES[dimension]), expected.int())


def test_flex_attention_s_block_mask() -> None:
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    shape = (1, 1, 300, 300)

    def near(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (q >= k) & (q - k < 100)

    mask = flex.create_block_mask(near, None, None, *shape[2:], device="cpu")
    plan = plan_blocks(BlockLists.of(mask), *shape[:2], 64, 132, mask.mask_mod)
    q, k = torch.arange(300)[:, None], torch.arange(300)
    assert torch.equal(counted(plan, shape, 192)[0, 0], near(0, 0, q, k).int())
    assert (plan.list_entries[:, 1:] == SKIPPED).any()


def test_masks_that_look_into_tensors() -> None:
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    document, heads = torch.arange(300) // 70, torch.tensor([1, 0])

    def inside(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (document[q] == document[k]) & (heads[h] == 1)

    mask = flex.create_block_mask(inside, None, 2, 300, 300, device="cpu")
    plan = plan_blocks(BlockLists.of(mask), 3, 2, 128, 132, mask.mask_mod)
    same = (document[:, None] == document).int()
    expected = torch.stack((same, torch.zeros_like(same))).expand(3, -1, -1, -1)
    assert torch.equal(counted(plan, (3, 2, 300, 300), 128), expected)


def test_full_and_empty_masks_are_no_masks() -> None:
    status = torch.ones(1, 1, 2, 2)
    lists = lists_of(status, (128, 128), (256, 256))
    always = plan_blocks(lists, 1, 1, 128, 4, lambda b, h, q, k: q >= 0)
    assert (len(always.mask_bits), set(always.list_entries[:, 1].tolist())) == (1, {FULL})
    never = plan_blocks(lists, 1, 1, 128, 4, lambda b, h, q, k: q < 0)
    assert len(never.list_entries) == 0
    assert (never.list_ends == 0).all()
    named = plan_blocks(lists, 1, 1, 128, 4)
    assert (len(named.mask_bits), set(named.list_entries[:, 1].tolist())) == (0, {EDGE})


def test_ctas_finish_together() -> None:
    generator = torch.Generator().manual_seed(3)
    status = (torch.rand(1, 16, 128, 128, generator=generator) < 0.1).int() * 2
    plan = plan_blocks(lists_of(status, (128, 128), (16384, 16384)), 1, 16, 128, 132)
    costs = torch.tensor([int(e - b) + 1 for b, e in plan.list_ends.reshape(-1, 2)])
    loads = torch.stack([costs[own[own >= 0].long()].sum() for own in plan.list_order])
    assert loads.max() < 1.03 * loads.float().mean()


def test_tiles_are_those_of_the_core() -> None:
    assert {d: shape.queries for d, shape in SHAPES.items()} == TILES


def test_what_does_not_fit_is_refused() -> None:
    status = torch.ones(1, 1, 2, 2)
    with pytest.raises(LinkError, match="a multiple of 64 queries and 64 keys") as problem:
        plan_blocks(lists_of(status, (96, 64), (192, 128)), 1, 1, 128, 4, lambda b, h, q, k: q >= k)
    assert problem.value.diagnostics[0].id == "argument-shape"
    with pytest.raises(LinkError, match="a multiple of 64 queries and 128 keys"):
        plan_blocks(lists_of(status, (64, 64), (128, 128)), 1, 1, 128, 4)
    with pytest.raises(LinkError, match="1 or 4"):
        plan_blocks(lists_of(status.expand(2, 1, 2, 2), (128, 128), (256, 256)), 4, 1, 128, 4)
    with pytest.raises(LinkError, match=r"kv_num_blocks \[1 or 1, 1 or 1, 3\], given \[1, 1, 2\]"):
        plan_blocks(lists_of(status, (128, 128), (300, 256)), 1, 1, 128, 4)
    with pytest.raises(LinkError, match="a multiple of 192 queries and 128 keys"):
        list_blocks(lists_of(status, (128, 128), (256, 256)), 64)
    given = list_blocks(lists_of(status, (256, 384), (512, 700)), 128)
    assert (given["q_block"], given["kv_block"]) == (2, 3)
