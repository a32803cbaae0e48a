"""Attention out of the component library against float64 and torch: tails, grouped heads, views, poisoned outputs."""

from typing import Any

import pytest

from pipelink import LinkError, runtime
from test.gpu.references import causal_pairs, error, operands, reference

DIMENSIONS = (128, 64)
LENGTHS = (1, 63, 64, 65, 127, 128, 192, 193, 1000, 4097)
SHAPES = [  # B, H, HK, SQ, SK
    *((1, 2, 2, length, length) for length in LENGTHS),
    (2, 8, 2, 300, 300),
    (1, 8, 1, 129, 515),
    (3, 4, 4, 70, 1),
    (1, 2, 2, 515, 129),  # causal: queries before the first key
    (1, 16, 4, 2048, 2048),
]


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("variant", ["dense", "causal"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_attention(torch: Any, package: Any, variant: str, dimension: int, shape: tuple[int, ...]) -> None:
    b, h, _, sq, sk = shape
    q, k, v = operands(torch, shape, dimension)
    o = torch.full((b, sq, h, dimension), float("nan"), device="cuda", dtype=torch.bfloat16)
    scale = dimension**-0.5
    runtime.load(package(f"attention-{variant}-{dimension}"))(q=q, k=k, v=v, o=o, scale=scale)
    expected, _ = reference(torch, q, k, v, scale, causal_pairs(torch, sq, sk) if variant == "causal" else None)
    assert not o.isnan().any()
    rounded = expected.to(torch.bfloat16)
    if variant == "dense" or sq == sk:  # torch counts causality from the first key
        one, two, three = (x.transpose(1, 2) for x in (q, k, v))
        options = {"is_causal": variant == "causal", "enable_gqa": h != shape[2], "scale": scale}
        peer = torch.nn.functional.scaled_dot_product_attention(one, two, three, **options).transpose(1, 2)
        limit = 1.1 * error(peer, expected) + 1e-4
    else:
        limit = 1.5 * error(rounded, expected) + 2e-3
    assert error(o, expected) <= limit


@pytest.mark.parametrize(("variant", "dimension"), [("dense", 64), ("causal", 128)])
@pytest.mark.parametrize("shape", [(2, 4, 2, 300, 300), (1, 2, 2, 515, 129), (1, 2, 1, 1, 1)])
def test_logarithms_of_sums(torch: Any, package: Any, variant: str, dimension: int, shape: tuple[int, ...]) -> None:
    b, h, _, sq, sk = shape
    q, k, v = operands(torch, shape, dimension)
    o = torch.full((b, sq, h, dimension), float("nan"), device="cuda", dtype=torch.bfloat16)
    lse = torch.full((b, h, sq), float("nan"), device="cuda")
    runtime.load(package(f"attention-{variant}-{dimension}-lse"))(q=q, k=k, v=v, o=o, lse=lse, scale=0.125)
    _, expected = reference(torch, q, k, v, 0.125, causal_pairs(torch, sq, sk) if variant == "causal" else None)
    assert torch.equal(lse.isinf(), expected.isinf())
    seen = ~expected.isinf()
    assert (lse[seen].double() - expected[seen]).abs().max() < 2e-3
    assert (o[(~seen).transpose(1, 2)] == 0).all()


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_no_keys_and_no_queries(torch: Any, package: Any, dimension: int) -> None:
    kernel = runtime.load(package(f"attention-dense-{dimension}"))
    q, k, v = operands(torch, (1, 2, 2, 70, 70), dimension)
    o = torch.full((1, 70, 2, dimension), float("nan"), device="cuda", dtype=torch.bfloat16)
    with pytest.raises(LinkError, match="cannot address an empty tensor"):
        kernel(q=q, k=k[:, :0], v=v[:, :0], o=o, scale=1.0)
    kernel(q=q[:, :0], k=k, v=v, o=o[:, :0], scale=1.0)
    torch.cuda.synchronize()
    assert o.isnan().all()
