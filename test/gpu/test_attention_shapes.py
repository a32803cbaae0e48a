"""Attention on f16, and with heads of 256, against float64 and torch."""

from typing import Any

import pytest

from pipelink import LinkError, runtime
from test.gpu.references import causal_pairs, error, operands, reference, rounded_attention

LENGTHS = (1, 63, 64, 65, 127, 128, 193, 1000, 4097)
SHAPES = [  # B, H, HK, SQ, SK
    *((1, 2, 2, length, length) for length in LENGTHS),
    (2, 8, 2, 300, 300),
    (1, 8, 1, 129, 515),
    (3, 4, 4, 70, 1),
    (1, 2, 2, 515, 129),  # causal: queries before the first key
    (1, 16, 4, 2048, 2048),
]
KERNELS = [(64, "float16"), (128, "float16"), (256, "float16"), (256, "bfloat16")]


@pytest.mark.parametrize(("dimension", "dtype"), KERNELS)
@pytest.mark.parametrize("variant", ["dense", "causal"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_attention(torch: Any, package: Any, variant: str, dimension: int, dtype: str, shape: tuple[int, ...]) -> None:
    b, h, hk, sq, sk = shape
    q, k, v = operands(torch, shape, dimension, dtype)
    o = torch.full((b, sq, h, dimension), float("nan"), device="cuda", dtype=q.dtype)
    name = f"attention-{variant}-{dimension}" + ("-f16" if dtype == "float16" else "")
    scale = dimension**-0.5
    runtime.load(package(name))(q=q, k=k, v=v, o=o, scale=scale)
    causal = variant == "causal"
    keep = causal_pairs(torch, sq, sk) if causal else None
    expected, _ = reference(torch, q, k, v, scale, keep)
    if not causal or sq == sk:  # torch counts causality from the first key
        one, two, three = (x.transpose(1, 2) for x in (q, k, v))
        options = {"is_causal": causal, "enable_gqa": h != hk, "scale": scale}
        peer = torch.nn.functional.scaled_dot_product_attention(one, two, three, **options).transpose(1, 2)
    else:
        peer = rounded_attention(torch, q, k, v, scale, keep)
    assert not o.isnan().any()
    assert error(o, expected) <= 1.1 * error(peer, expected) + 1e-4


@pytest.mark.parametrize("shape", [(2, 4, 2, 300, 300), (1, 2, 2, 515, 129), (1, 2, 1, 1, 1)])
def test_logarithms_of_sums(torch: Any, package: Any, shape: tuple[int, ...]) -> None:
    b, h, _, sq, sk = shape
    q, k, v = operands(torch, shape, 256)
    o = torch.full((b, sq, h, 256), float("nan"), device="cuda", dtype=torch.bfloat16)
    lse = torch.full((b, h, sq), float("nan"), device="cuda")
    runtime.load(package("attention-causal-256-lse"))(q=q, k=k, v=v, o=o, lse=lse, scale=0.0625)
    _, expected = reference(torch, q, k, v, 0.0625, causal_pairs(torch, sq, sk))
    assert torch.equal(lse.isinf(), expected.isinf())
    seen = ~expected.isinf()
    assert (lse[seen].double() - expected[seen]).abs().max() < 2e-3
    assert (o[(~seen).transpose(1, 2)] == 0).all()


def test_values_of_another_dimension_are_refused(torch: Any, package: Any) -> None:
    q, k, _ = operands(torch, (1, 2, 2, 64, 64), 128, "float16")
    v = torch.zeros((1, 64, 2, 64), device="cuda", dtype=torch.float16)
    with pytest.raises(LinkError, match=r"tensor 'v': expected \[B, SK, HK, 128\], given \[1, 64, 2, 64\]"):
        runtime.load(package("attention-dense-128-f16"))(q=q, k=k, v=v, o=torch.empty_like(q), scale=1.0)
