"""Attention over keys in several parts, each by a launch of its own, and the kernel that puts the parts together."""

import math
from itertools import pairwise
from typing import Any

import pytest

from pipelink import runtime
from test.gpu.references import causal_pairs, error, operands, reference

#: Where the keys are cut: parts of any length, without keys, and one alone.
CUTS = ([0, 700, 1500], [0, 0, 1, 129, 1500], [0, 1500], [0] + [50 * n for n in range(1, 31)] + [1500])


def merged(torch: Any, merge: Any, parts: Any, sums: Any) -> tuple[Any, Any]:
    _, b, sq, h, d = parts.shape
    o = torch.full((b, sq, h, d), float("nan"), device="cuda", dtype=torch.bfloat16)
    lse = torch.full((b, h, sq), float("nan"), device="cuda")
    merge(parts=parts, part_sums=sums, o=o, lse=lse)
    return o, lse


@pytest.mark.parametrize(
    ("name", "dimension", "shape"),
    [
        *((f"dense-{d}", d, (2, 8, 2, 200, 1500)) for d in (64, 128, 256)),
        ("split-128-p4", 128, (3, 32, 8, 1, 1500)),
        ("split-64-p8", 64, (2, 16, 2, 5, 1500)),
    ],
)
@pytest.mark.parametrize("cuts", CUTS, ids=lambda cuts: f"{len(cuts) - 1}")
def test_shards_of_keys(
    torch: Any, package: Any, name: str, dimension: int, shape: tuple[int, ...], cuts: list[int]
) -> None:
    q, k, v = operands(torch, shape, dimension)
    b, h, _, sq, _ = shape
    parts = torch.full((len(cuts) - 1, b, sq, h, dimension), float("nan"), device="cuda")
    sums = torch.full((len(cuts) - 1, b, h, sq), float("nan"), device="cuda")
    kernel, scale = runtime.load(package(f"attention-{name}-partial")), dimension**-0.5
    for n, (begin, end) in enumerate(pairwise(cuts)):
        shard = {"k": k[:, begin:end].contiguous(), "v": v[:, begin:end].contiguous()}
        if begin == end:  # nobody launches for nothing
            parts[n], sums[n] = 0, -math.inf
        else:
            kernel(q=q, **shard, o=parts[n], lse=sums[n], scale=scale)
    o, lse = merged(torch, runtime.load(package(f"attention-merge-{dimension}")), parts, sums)
    expected, expected_sums = reference(torch, q, k, v, scale)
    turned = (x.transpose(1, 2) for x in (q, k, v))
    peer = torch.nn.functional.scaled_dot_product_attention(*turned, enable_gqa=True, scale=scale).transpose(1, 2)
    assert error(o, expected) <= 1.1 * error(peer, expected) + 2e-4
    assert (lse.double() - expected_sums).abs().max() < 2e-3


def test_nothing_counts(torch: Any, package: Any) -> None:
    parts, sums = torch.zeros(3, 1, 5, 2, 128, device="cuda"), torch.full((3, 1, 2, 5), -math.inf, device="cuda")
    parts[1, :, 2], sums[1, :, :, 2] = 7.0, 100.0  # of one query one part
    o, lse = merged(torch, runtime.load(package("attention-merge-128")), parts, sums)
    assert (o[:, 2] == 7).all()
    assert (lse[:, :, 2] == 100).all()
    assert (o[:, [0, 1, 3, 4]] == 0).all()
    assert (lse[:, :, [0, 1, 3, 4]] == -math.inf).all()


def test_f16_is_not_rounded(torch: Any, package: Any) -> None:
    q, k, v = operands(torch, (1, 4, 2, 515, 515), 128, "float16")
    o = torch.full((1, 515, 4, 128), float("nan"), device="cuda")
    lse = torch.full((1, 4, 515), float("nan"), device="cuda")
    ends = torch.tensor([0, 515], device="cuda", dtype=torch.int32)
    kernel = runtime.load(package("attention-varlen-causal-128-f16-partial"))
    kernel(q=q, k=k, v=v, o=o, lse=lse, scale=0.1, cu_seqlens_q=ends, cu_seqlens_k=ends)
    expected, sums = reference(torch, q, k, v, 0.1, causal_pairs(torch, 515, 515))
    assert error(o, expected) <= error(o.half(), expected)
    assert error(o, expected) <= 1e-3
    assert (lse.double() - sums).abs().max() < 2e-3
