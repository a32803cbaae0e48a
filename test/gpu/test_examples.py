"""Kernels with components of other compilers: the CuTe mainloop, and what numba-cuda made of Python; a new variant of
attention."""

from typing import Any

import pytest

from test.gpu.references import causal_pairs, error, reference, rounded_attention
from test.gpu.references import operands as attention_operands

SHAPES = [(128, 256, 64), (1, 8, 8), (127, 248, 72), (300, 40, 1024), (1000, 1224, 520), (2048, 4096, 2048)]
ULP = 2.0**-8  # bf16: of the value, rounded to nearest


def operands(torch: Any, m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    """a, b, and their product in float64."""
    generator = torch.Generator(device="cuda").manual_seed(m + n + k)
    a = torch.randn(m, k, generator=generator, device="cuda").to(torch.bfloat16)
    b = (torch.randn(n, k, generator=generator, device="cuda") / k**0.5).to(torch.bfloat16)
    return a, b, a.double() @ b.double().T


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numba_epilogue(torch: Any, load: Any, shape: tuple[int, int, int]) -> None:
    m, n, _ = shape
    a, b, product = operands(torch, *shape)
    out = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    load("example-numba_epilogue")(a=a, b=b, out=out)
    torch.testing.assert_close(out.double(), torch.nn.functional.silu(product), rtol=ULP, atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_cute_mainloop(torch: Any, load: Any, shape: tuple[int, int, int]) -> None:
    m, n, _ = shape
    a, b, product = operands(torch, *shape)
    bias = torch.randn(n, device="cuda").to(torch.bfloat16)
    out = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    load("example-cute_mainloop")(a=a, b=b, bias=bias, out=out)
    torch.testing.assert_close(out.double(), torch.relu(product + bias.double()), rtol=ULP, atol=1e-3)


@pytest.mark.parametrize("chunk", [1, 7, 64, 300, 5000])
@pytest.mark.parametrize("shape", [(1, 2, 2, 1, 1), (2, 4, 2, 300, 300), (1, 2, 1, 129, 515), (1, 2, 2, 1000, 1000)])
def test_numba_mask(torch: Any, load: Any, shape: tuple[int, ...], chunk: int) -> None:
    b, h, _, sq, sk = shape
    q, k, v = attention_operands(torch, shape, 128)
    o = torch.full((b, sq, h, 128), float("nan"), device="cuda", dtype=torch.bfloat16)
    load("example-numba_mask")(q=q, k=k, v=v, o=o, scale=0.125, chunk=chunk)
    queries, keys = torch.arange(sk - sq, sk, device="cuda")[:, None], torch.arange(sk, device="cuda")
    keep = causal_pairs(torch, sq, sk) & (queries // chunk == keys // chunk)
    expected, _ = reference(torch, q, k, v, 0.125, keep)
    assert not o.isnan().any()
    assert error(o, expected) <= 1.1 * error(rounded_attention(torch, q, k, v, 0.125, keep), expected) + 1e-4


@pytest.mark.parametrize("count", [1, 2, 40, 100_000])
@pytest.mark.parametrize(
    "shape", [(1, 2, 2, 1, 1), (2, 4, 2, 300, 300), (1, 2, 1, 129, 515), (1, 2, 2, 515, 129), (1, 2, 2, 1000, 1000)]
)
def test_dilated(torch: Any, load: Any, shape: tuple[int, ...], count: int) -> None:
    """Every eighth key, so many of them."""
    b, h, _, sq, sk = shape
    q, k, v = attention_operands(torch, shape, 128)
    o = torch.full((b, sq, h, 128), float("nan"), device="cuda", dtype=torch.bfloat16)
    load("one_core/dilated")(q=q, k=k, v=v, o=o, scale=0.125, count=count)
    back = torch.arange(sk - sq, sk, device="cuda")[:, None] - torch.arange(sk, device="cuda")
    keep = (back >= 0) & (back < 8 * count) & (back % 8 == 0)
    expected, _ = reference(torch, q, k, v, 0.125, keep)
    assert not o.isnan().any()
    assert error(o, expected) <= 1.1 * error(rounded_attention(torch, q, k, v, 0.125, keep), expected) + 1e-4
