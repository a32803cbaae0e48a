"""Attention whose keys several CTAs share, with heads as rows of a query, against float64 and torch."""

import math
from functools import partial
from typing import Any

import pytest

from pipelink import runtime
from test.gpu.references import (
    causal_pairs,
    check_sequences,
    check_sums,
    error,
    launched_alike,
    operands,
    poisoned,
    reference,
)

#: Names without and with causality: head dimension, heads as rows of a query.
DENSE = {"split-128-p1": 128, "split-128-p4": 128, "split-64-p8": 64}
CAUSAL = {"split-causal-128-p16": 128, "split-causal-64-p2": 64}
LENGTHS = {"split-lengths-128-p8": 128, "split-lengths-64-p4": 64}
CAUSAL_LENGTHS = {"split-lengths-causal-128-p4": 128, "split-lengths-causal-64-p1": 64}
SHAPES = [  # B, H, HK, SQ, SK
    *((1, 8, 2, 1, length) for length in (1, 63, 64, 65, 127, 128, 129, 1000, 4097, 40_000)),
    (1, 32, 8, 1, 8192),
    (3, 8, 8, 1, 515),
    (5, 28, 4, 1, 2000),  # seven heads share
    (2, 32, 1, 1, 3000),  # more than a tile's row takes
    (70, 8, 2, 1, 300),  # more tiles than SMs
    (2, 16, 2, 5, 1000),
    (1, 8, 2, 200, 1500),
    (2, 4, 4, 300, 129),
]
SEQUENCES = [  # lengths of their keys, and how many queries each has
    ([1000], 1),
    ([0], 1),
    ([1, 63, 64, 65, 127, 128, 129, 1000, 4097, 0, 3, 20_000], 1),
    ([0, 0, 700, 0], 3),
    ([300, 20, 0, 129, 4000], 130),  # causal: queries before the first key
    ([(37 * i) % 900 for i in range(150)], 1),
]


def shown(x: Any) -> str:
    return f"{len(x)}" if isinstance(x, list) else f"{x}"


def check(torch: Any, found: Any, sums: Any, operands: tuple[Any, Any, Any], scale: float, causal: bool) -> None:
    """``found`` and ``sums`` of some sequences of one length."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = operands
    sq, sk = q.shape[1], k.shape[1]
    expected, lse = reference(torch, q, k, v, scale, causal_pairs(torch, sq, sk) if causal else None)
    if not causal or sq == 1:
        options = {"enable_gqa": q.shape[2] != k.shape[2], "scale": scale}
        turned = [x.transpose(1, 2) for x in (q, k, v)]
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION]):  # others round no weights
            peer = torch.nn.functional.scaled_dot_product_attention(*turned, **options).transpose(1, 2)
        chance = 4 * found.numel() ** -0.5  # each error is a mean of so many values, their quotient varies by its root
        limit = (1.1 + chance) * error(peer, expected) + 2e-4
    else:
        limit = 1.5 * error(expected.to(torch.bfloat16), expected) + 2e-3
    assert error(found, expected) <= limit
    check_sums(torch, found, sums, lse)


@pytest.mark.parametrize("name", [*DENSE, *CAUSAL])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_one_length(torch: Any, package: Any, name: str, shape: tuple[int, ...]) -> None:
    d = (DENSE | CAUSAL)[name]
    q, k, v = operands(torch, shape, d)
    kernel = runtime.load(package(f"attention-{name}-lse"))
    scale = d**-0.5
    o, lse = launched_alike(torch, q, lambda o, lse: kernel(q=q, k=k, v=v, o=o, lse=lse, scale=scale))
    assert not o.isnan().any()
    check(torch, o, lse, (q, k, v), scale, name in CAUSAL)


def test_without_logarithms(torch: Any, package: Any) -> None:
    q, k, v = operands(torch, (2, 32, 8, 1, 9000), 128)
    (o, lse), (other, _) = poisoned(torch, q), poisoned(torch, q)
    runtime.load(package("attention-split-128-p4-lse"))(q=q, k=k, v=v, o=o, lse=lse, scale=0.1)
    runtime.load(package("attention-split-128-p4"))(q=q, k=k, v=v, o=other, scale=0.1)
    assert torch.equal(o, other)


def test_many_launches(torch: Any, package: Any) -> None:
    """A warpgroup that skips all blocks goes ahead of the other, and each of its warps of its neighbours: none may miss
    that a slot was filled."""
    kernel = runtime.load(package("attention-split-128-p4"))
    q, k, v = operands(torch, (7, 32, 8, 1, 8192), 128)
    o, _ = poisoned(torch, q)

    def given(n: int) -> dict[str, Any]:
        return {"q": q[n : n + 1], "k": k[n : n + 1], "v": v[n : n + 1], "o": o[n : n + 1], "scale": 0.1}

    for n in range(7):
        kernel(**given(n))
    expected = o.clone()
    kernel.preload(**given(0))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for n in range(7):
            kernel(**given(n))
    o.fill_(math.nan)
    for _ in range(10_000):
        graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(o, expected)


@pytest.mark.parametrize("shape", [(2, 16, 2, 1, 3000), (1, 14, 2, 3, 900)], ids=lambda x: "x".join(map(str, x)))
def test_sinks(torch: Any, package: Any, shape: tuple[int, ...]) -> None:
    q, k, v = operands(torch, shape, 64)
    o, lse = poisoned(torch, q)
    sinks = torch.linspace(-3, 3, shape[1], device="cuda")
    kernel = runtime.load(package("attention-split-64-p8-sinks"))
    kernel(q=q, k=k, v=v, o=o, lse=lse, scale=0.1, sinks=sinks)
    expected, sums = reference(torch, q, k, v, 0.1, sinks=sinks)
    assert error(o, expected) <= 1.5 * error(expected.to(torch.bfloat16), expected) + 2e-3
    assert (lse.double() - sums).abs().max() < 2e-3


def test_f16(torch: Any, package: Any) -> None:
    q, k, v = operands(torch, (3, 8, 2, 1, 5000), 64, "float16")
    o, _ = poisoned(torch, q)
    runtime.load(package("attention-split-64-p4-f16"))(q=q, k=k, v=v, o=o, scale=0.125)
    expected, _ = reference(torch, q, k, v, 0.125)
    assert error(o, expected) <= 1.5 * error(expected.half(), expected) + 1e-3


@pytest.mark.parametrize("name", [*LENGTHS, *CAUSAL_LENGTHS])
@pytest.mark.parametrize(("lengths", "queries"), SEQUENCES, ids=shown)
@pytest.mark.parametrize("heads", [(8, 2), (14, 2), (4, 4)], ids=lambda heads: "x".join(map(str, heads)))
def test_lengths(torch: Any, package: Any, name: str, lengths: list[int], queries: int, heads: tuple[int, int]) -> None:
    d, causal = (LENGTHS | CAUSAL_LENGTHS)[name], name in CAUSAL_LENGTHS
    b, most = len(lengths), max(*lengths, 1) + 77
    q, k, v = operands(torch, (b, *heads, queries, most), d)
    for n, length in enumerate(lengths):  # what lies behind the end may be anything finite
        k[n, length:], v[n, length:] = 1e30, -1e30
    o, lse = poisoned(torch, q)
    seqused_k = torch.tensor(lengths, device="cuda", dtype=torch.int32)
    runtime.load(package(f"attention-{name}-lse"))(q=q, k=k, v=v, o=o, lse=lse, scale=d**-0.5, seqused_k=seqused_k)
    check_sequences(torch, lengths, o, lse, (q, k, v), partial(check, scale=d**-0.5, causal=causal))


def test_graph(torch: Any, package: Any) -> None:
    q, k, v = operands(torch, (1, 32, 8, 1, 6000), 128)
    kernel, (o, lse), (other, sums) = (
        runtime.load(package("attention-split-128-p4-lse")),
        poisoned(torch, q),
        poisoned(torch, q),
    )
    kernel(q=q, k=k, v=v, o=other, lse=sums, scale=0.1)
    kernel.preload(q=q, k=k, v=v, o=o, lse=lse, scale=0.1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(q=q, k=k, v=v, o=o, lse=lse, scale=0.1)
    for _ in range(3):
        o.fill_(float("nan"))
        graph.replay()
        assert torch.equal(o, other)
