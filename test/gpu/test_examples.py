"""Kernels with components of other compilers: the CuTe mainloop, and the epilogue that numba-cuda made of Python."""

from typing import Any

import pytest

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
