"""Sliding windows against float64 and torch: both edges, one, none, and windows with nothing in them."""

from typing import Any

import pytest

from test.gpu.references import held

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
    *_, sq, sk = shape
    left, right = window
    ahead = torch.arange(sk, device="cuda") - torch.arange(sq, device="cuda")[:, None] - (sk - sq)
    keep = ((ahead >= -left) | (left < 0)) & ((ahead <= right) | (right < 0))
    given = {"left": left, "right": right}
    held(torch, package, f"attention-window-{dimension}-lse", shape, dimension, keep, given)
