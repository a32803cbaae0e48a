"""Scores and sinks of attention against float64, and against what torch makes of the same formulas in f32."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from pipelink import runtime
from test.gpu.references import causal_pairs, error, operands, reference, rounded_attention

LENGTHS = (1, 63, 64, 65, 127, 1000, 4097)
SHAPES = [  # B, H, HK, SQ, SK
    *((1, 2, 2, length, length) for length in LENGTHS),
    (2, 4, 1, 300, 300),
    (1, 8, 1, 129, 515),
    (1, 2, 2, 515, 129),  # causal: queries before the first key
    (1, 16, 4, 1024, 1024),
]


def shaped(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def compare(
    torch: Any,
    package: Any,
    name: str,
    shape: tuple[int, ...],
    *,
    logits: Callable[[Any], Any] | None = None,
    sinks: Any = None,
    **arguments: Any,
) -> None:
    """Run ``attention-NAME``, whose second part is the variant and third the head dimension, and hold it to the
    reference."""
    b, h, _, sq, sk = shape
    variant, dimension = name.split("-")[0], int(name.split("-")[1])
    dtype = "float16" if "-f16" in name else "bfloat16"
    q, k, v = operands(torch, shape, dimension, dtype)
    scale = dimension**-0.5
    o = torch.full((b, sq, h, dimension), float("nan"), device="cuda", dtype=q.dtype)
    if sinks is not None:
        arguments |= {"sinks": sinks, "lse": torch.full((b, h, sq), float("nan"), device="cuda")}
    runtime.load(package(f"attention-{name}"))(q=q, k=k, v=v, o=o, scale=scale, **arguments)
    keep = causal_pairs(torch, sq, sk) if variant == "causal" else None
    expected, sums = reference(torch, q, k, v, scale, keep, logits=logits, sinks=sinks)
    peer = rounded_attention(torch, q, k, v, scale, keep, logits=logits, sinks=sinks)
    assert not o.isnan().any()
    assert error(o, expected) <= 1.1 * error(peer, expected) + 1e-4
    if sinks is not None:
        lse = arguments["lse"]
        assert torch.equal(lse.isinf(), sums.isinf())
        assert (lse.double() - sums)[~sums.isinf()].abs().max() < 2e-3


@pytest.mark.parametrize("cap", [5.0, 50.0, 1000.0])
@pytest.mark.parametrize("name", ["causal-128", "dense-64", "dense-256"])
@pytest.mark.parametrize("shape", SHAPES, ids=shaped)
def test_softcap(torch: Any, package: Any, name: str, shape: tuple[int, ...], cap: float) -> None:
    compare(torch, package, f"{name}-softcap", shape, logits=lambda x: cap * torch.tanh(x / cap), softcap=cap)


@pytest.mark.parametrize("name", ["causal-128", "dense-64", "dense-256"])
def test_softcap_keeps_nan(torch: Any, package: Any, name: str) -> None:
    """Of one query, and of it alone."""
    dimension = int(name.split("-")[1])
    q, k, v = operands(torch, (1, 2, 2, 130, 130), dimension)
    q[0, 77, 1, 3] = float("nan")
    o = torch.zeros((1, 130, 2, dimension), device="cuda", dtype=torch.bfloat16)
    runtime.load(package(f"attention-{name}-softcap"))(q=q, k=k, v=v, o=o, scale=0.1, softcap=20.0)
    assert o[0, 77, 1].isnan().all()
    o[0, 77, 1] = 0
    assert not o.isnan().any()


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("name", ["causal-64", "dense-128", "causal-256"])
@pytest.mark.parametrize("shape", SHAPES, ids=shaped)
def test_alibi(torch: Any, package: Any, name: str, shape: tuple[int, ...], batched: bool) -> None:
    b, h, _, sq, sk = shape
    slopes = torch.tensor([2.0 ** (-8 * (i + 1) / h) for i in range(h)], device="cuda").expand(b, h)
    if batched:
        slopes = slopes * torch.arange(1, b + 1, device="cuda")[:, None]
    distance = torch.arange(sk, device="cuda") - torch.arange(sk - sq, sk, device="cuda")[:, None]
    if name.startswith("dense"):
        slopes = -slopes  # towards the keys behind the query the logits would grow without a limit
    compare(
        torch,
        package,
        f"{name}-alibi",
        shape,
        logits=lambda x: x + slopes[:, :, None, None].to(x.dtype) * distance,
        alibi_slopes=slopes,
    )


@pytest.mark.parametrize("layout", ["full", "rows", "heads", "batches", "keys", "odd rows", "odd address"])
@pytest.mark.parametrize("name", ["dense-128-bias_bf16", "causal-64-bias_f32", "dense-256-bias_bf16"])
@pytest.mark.parametrize("shape", SHAPES, ids=shaped)
def test_bias(torch: Any, package: Any, name: str, shape: tuple[int, ...], layout: str) -> None:
    bias = biases(torch, shape, torch.float32 if "f32" in name else torch.bfloat16, layout)
    compare(torch, package, name, shape, logits=lambda x: x + bias.to(x.dtype), bias=bias)


def biases(torch: Any, shape: tuple[int, ...], dtype: Any, layout: str) -> Any:
    """[B, H, SQ, SK] of several layouts, between NaNs."""
    b, h, _, sq, sk = shape
    own = {"rows": (1, 1, sq, sk), "heads": (1, h, sq, sk), "batches": (b, 1, sq, sk), "keys": (1, 1, 1, sk)}
    extents = own.get(layout, (b, h, sq, sk))
    width = sk + 2 + (sk % 2 if layout != "odd rows" else 1 - sk % 2)
    buffer = torch.full((*extents[:3], width), float("nan"), device="cuda", dtype=dtype)
    found = buffer[..., 1 : sk + 1] if layout == "odd address" else buffer[..., :sk]
    generator = torch.Generator(device="cuda").manual_seed(sq + sk)
    found.copy_(3 * torch.randn(extents, generator=generator, device="cuda"))
    return found.expand(b, h, sq, sk)


@pytest.mark.parametrize("name", ["dense-128-bias_bf16", "dense-256-bias_bf16"])
def test_bias_of_minus_infinity(torch: Any, package: Any, name: str) -> None:
    """A mask: some pairs do not count, and of two queries none."""
    shape = (1, 2, 2, 200, 300)
    bias = biases(torch, shape, torch.bfloat16, "full").clone()
    bias[torch.rand(bias.shape, device="cuda") < 0.3] = -math.inf
    bias[..., 5, :] = bias[..., 199, :] = -math.inf
    bias[..., 70, :256] = -math.inf  # whole blocks, from the end
    bias[..., 71, 128:] = -math.inf
    compare(torch, package, name, shape, logits=lambda x: x + bias.to(x.dtype), bias=bias)


SINKS = [  # of two heads
    (0.0, 1.0),
    (-math.inf, -100.0),
    (30.0, 5.0),
]


@pytest.mark.parametrize("values", SINKS, ids=str)
@pytest.mark.parametrize("name", ["causal-128", "dense-64"])
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[1] == 2], ids=shaped)
def test_sinks(torch: Any, package: Any, name: str, shape: tuple[int, ...], values: tuple[float, ...]) -> None:
    sinks = torch.tensor(values, device="cuda", dtype=torch.bfloat16 if "128" in name else torch.float32)
    compare(torch, package, f"{name}-sinks", shape, sinks=sinks)


@pytest.mark.parametrize("shape", SHAPES, ids=shaped)
def test_sinks_of_many_heads(torch: Any, package: Any, shape: tuple[int, ...]) -> None:
    sinks = torch.linspace(-2, 4, shape[1], device="cuda").to(torch.bfloat16)
    compare(torch, package, "causal-128-sinks", shape, sinks=sinks)


@pytest.mark.parametrize("shape", SHAPES, ids=shaped)
def test_bias_and_sinks_in_f16(torch: Any, package: Any, shape: tuple[int, ...]) -> None:
    bias = biases(torch, shape, torch.float16, "full")
    sinks = torch.linspace(-2, 4, shape[1], device="cuda").to(torch.float16)
    compare(torch, package, "dense-64-f16-all", shape, logits=lambda x: x + bias.to(x.dtype), bias=bias, sinks=sinks)
