"""Attention with the core written with CuTe, and the library's other parts, against float64 and torch."""

import math
from typing import Any

import pytest

from pipelink import runtime
from test.gpu import test_attention_lists as lists
from test.gpu.references import causal_pairs, error, held, operands, reference

SHAPES = [  # B, H, HK, SQ, SK
    *((1, 2, 2, length, length) for length in (1, 63, 64, 65, 127, 128, 129, 1000, 4097)),
    (2, 8, 2, 300, 300),
    (1, 8, 1, 129, 515),
    (3, 4, 4, 70, 1),
    (1, 2, 2, 515, 129),  # causal: queries before the first key
    (1, 16, 4, 2048, 2048),
]


def poisoned(torch: Any, q: Any) -> tuple[Any, Any]:
    b, sq, h, d = q.shape
    o = torch.full((b, sq, h, d), float("nan"), device="cuda", dtype=q.dtype)
    return o, torch.full((b, h, sq), float("nan"), device="cuda")


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_dense(torch: Any, package: Any, shape: tuple[int, ...]) -> None:
    q, k, v = operands(torch, shape, 128)
    o, _ = poisoned(torch, q)
    runtime.load(package("attention-cute-dense-128"))(q=q, k=k, v=v, o=o, scale=128**-0.5)
    expected, _ = reference(torch, q, k, v, 128**-0.5)
    turned = (x.transpose(1, 2) for x in (q, k, v))
    options = {"enable_gqa": shape[1] != shape[2], "scale": 128**-0.5}
    peer = torch.nn.functional.scaled_dot_product_attention(*turned, **options).transpose(1, 2)
    assert error(o, expected) <= 1.1 * error(peer, expected) + 1e-4


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_causal_with_capped_scores_and_sinks(torch: Any, package: Any, shape: tuple[int, ...]) -> None:
    q, k, v = operands(torch, shape, 128)
    o, lse = poisoned(torch, q)
    sinks = torch.linspace(-3, 3, shape[1], device="cuda").to(torch.bfloat16)
    kernel = runtime.load(package("attention-cute-causal-128-lse"))
    kernel(q=q, k=k, v=v, o=o, lse=lse, scale=0.125, softcap=5.0, sinks=sinks)
    keep = causal_pairs(torch, shape[3], shape[4])
    expected, sums = reference(torch, q, k, v, 0.125, keep, logits=lambda x: 5 * torch.tanh(x / 5), sinks=sinks)
    assert error(o, expected) <= 1.5 * error(expected.to(torch.bfloat16), expected) + 2e-3
    assert (lse.double() - sums).abs().max() < 3e-3


@pytest.mark.parametrize("shape", [(1, 4, 2, 700, 1100), (2, 4, 4, 1024, 1024)], ids=lambda x: "x".join(map(str, x)))
@pytest.mark.parametrize("block", [(64, 64), (128, 128)], ids=lambda x: "x".join(map(str, x)))
def test_plans(torch: Any, package: Any, shape: tuple[int, ...], block: tuple[int, int]) -> None:
    """Rows of blocks of 64 queries: each warpgroup skips blocks that the other takes."""
    from pipelink.torch.block_mask import plan_blocks

    b, h, _, sq, sk = shape
    status = lists.status_of(torch, shape, block, shared=False)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    plan = plan_blocks(lists.lists_of(torch, status, block, (sq, sk)), b, h, 128, sms, lists.some)
    pairs = lists.spread(status, block, shape)
    decided = lists.some(0, 0, torch.arange(sq, device="cuda")[:, None], torch.arange(sk, device="cuda"))
    keep = (pairs == 2) | ((pairs == 1) & decided)
    held(torch, package, "attention-cute-plan-128-lse", shape, 128, keep, plan.arguments())


@pytest.mark.parametrize("lengths", [[(1, 1)], [(300, 300), (0, 5), (129, 700), (64, 0), (1, 4000)]], ids=str)
def test_sequences_of_several_lengths(torch: Any, package: Any, lengths: list[tuple[int, int]]) -> None:
    of_q, of_k = zip(*lengths, strict=True)
    q, k, v = operands(torch, (1, 4, 2, sum(of_q), sum(of_k)), 128)
    o, lse = poisoned(torch, q)
    cu_q, cu_k = (
        torch.tensor([sum(of[:n]) for n in range(len(of) + 1)], device="cuda", dtype=torch.int32) for of in (of_q, of_k)
    )
    kernel = runtime.load(package("attention-cute-varlen-128-lse"))
    kernel(q=q, k=k, v=v, o=o, lse=lse, scale=0.1, cu_seqlens_q=cu_q, cu_seqlens_k=cu_k)
    for n, (rows, keys) in enumerate(lengths):
        at, begin = slice(int(cu_q[n]), int(cu_q[n]) + rows), int(cu_k[n])
        if not keys:
            assert (o[:, at] == 0).all()
            assert (lse[:, :, at] == -math.inf).all()
        elif rows:
            expected, sums = reference(torch, q[:, at], k[:, begin : begin + keys], v[:, begin : begin + keys], 0.1)
            assert error(o[:, at], expected) <= 1.5 * error(expected.to(torch.bfloat16), expected) + 2e-3
            assert (lse[:, :, at].double() - sums).abs().max() < 2e-3
