"""Sliding windows against float64 and torch: both edges, one, none, and windows with nothing in them."""

from typing import Any

import pytest

from pipelink import runtime
from test.gpu.references import error, operands, reference

DIMENSIONS = (256, 128, 64)
LENGTHS = (1, 63, 64, 65, 127, 1000, 4097)
SHAPES = [  # B, H, HK, SQ, SK
    *((1, 2, 2, length, length) for length in LENGTHS),
    (2, 8, 2, 300, 300),
    (1, 8, 1, 129, 515),
    (1, 4, 1, 515, 129),  # queries before the first key
    (3, 4, 4, 70, 1),
]
WINDOWS = [
    (-1, -1),
    (-1, 0),
    (0, 0),
    (1023, 0),
    (127, 0),
    (128, 0),
    (62, 0),
    (40, 30),
    (0, 129),
    (200, -1),
    (1 << 30, 0),
]


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: "to".join(map(str, window)))
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_windows(torch: Any, package: Any, shape: tuple[int, ...], window: tuple[int, int], dimension: int) -> None:
    b, h, hk, sq, sk = shape
    left, right = window
    q, k, v = operands(torch, shape, dimension)
    o = torch.full((b, sq, h, dimension), float("nan"), device="cuda", dtype=torch.bfloat16)
    lse = torch.full((b, h, sq), float("nan"), device="cuda")
    kernel = runtime.load(package(f"attention-window-{dimension}-lse"))
    kernel(q=q, k=k, v=v, o=o, lse=lse, scale=dimension**-0.5, left=left, right=right)
    ahead = torch.arange(sk, device="cuda") - torch.arange(sq, device="cuda")[:, None] - (sk - sq)
    keep = ((ahead >= -left) | (left < 0)) & ((ahead <= right) | (right < 0))
    expected, sums = reference(torch, q, k, v, dimension**-0.5, keep)
    assert not o.isnan().any()
    seen = ~sums.isinf()
    assert torch.equal(~lse.isinf(), seen)
    assert (o[~seen.transpose(1, 2)] == 0).all()
    if not seen.any():
        return
    assert (lse[seen].double() - sums[seen]).abs().max() < 2e-3
    one, two, three = (x.transpose(1, 2) for x in (q, k, v))
    peer = torch.nn.functional.scaled_dot_product_attention(one, two, three, attn_mask=keep, enable_gqa=h != hk)
    peer = torch.where(seen[..., None], peer, 0).transpose(1, 2)
    assert error(o, expected) <= 1.1 * error(peer, expected) + 1e-4
