"""Attention of few queries with the core of 16 rows written with CuTe, against float64 and torch."""

from functools import partial
from typing import Any

import pytest

from pipelink import runtime
from test.gpu import test_attention_split as split
from test.gpu.references import check_sequences, error, launched_alike, operands, poisoned, reference

#: Names without and with causality: head dimension, heads as rows of a query.
DENSE, CAUSAL = "cute-split-128-p4", "cute-split-causal-128-p16"
LENGTHS = {"cute-split-lengths-128-p8": 128, "cute-split-lengths-64-p4": 64}
CAUSAL_LENGTHS = {"cute-split-lengths-causal-128-p4": 128}
SHAPES = [  # B, H, HK, SQ, SK
    *split.SHAPES,
    *((1, 8, heads, 1, length) for heads in (1, 8) for length in (1, 65, 1000, 4097)),
    (1, 4, 1, 1, 100_000),  # every CTA has a part of the one tile
    (2, 8, 2, 17, 700),  # causal: queries of several tiles
]


@pytest.mark.parametrize("name", [DENSE, CAUSAL])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_one_length(torch: Any, package: Any, name: str, shape: tuple[int, ...]) -> None:
    q, k, v = operands(torch, shape, 128)
    kernel = runtime.load(package(f"attention-{name}-lse"))
    o, lse = launched_alike(torch, q, lambda o, lse: kernel(q=q, k=k, v=v, o=o, lse=lse, scale=128**-0.5))
    assert not o.isnan().any()
    split.check(torch, o, lse, (q, k, v), 128**-0.5, name == CAUSAL)


def test_large_scores(torch: Any, package: Any) -> None:
    """The maximum rises by far from block to block, and each warp's keys differ."""
    q, k, v = operands(torch, (1, 8, 2, 1, 3000), 128)
    k *= torch.linspace(0.1, 20, 3000, device="cuda").to(k.dtype)[None, :, None, None]
    o, lse = poisoned(torch, q)
    runtime.load(package(f"attention-{DENSE}-lse"))(q=q, k=k, v=v, o=o, lse=lse, scale=0.3)
    split.check(torch, o, lse, (q, k, v), 0.3, causal=False)


def test_without_logarithms(torch: Any, package: Any) -> None:
    q, k, v = operands(torch, (2, 32, 8, 1, 9000), 128)
    (o, lse), (other, _) = poisoned(torch, q), poisoned(torch, q)
    runtime.load(package(f"attention-{DENSE}-lse"))(q=q, k=k, v=v, o=o, lse=lse, scale=0.1)
    runtime.load(package(f"attention-{DENSE}"))(q=q, k=k, v=v, o=other, scale=0.1)
    assert torch.equal(o, other)


@pytest.mark.parametrize("name", [*LENGTHS, *CAUSAL_LENGTHS])
@pytest.mark.parametrize(("lengths", "queries"), split.SEQUENCES, ids=split.shown)
@pytest.mark.parametrize("heads", [(8, 2), (14, 2), (4, 4), (8, 1)], ids=lambda heads: "x".join(map(str, heads)))
def test_lengths(torch: Any, package: Any, name: str, lengths: list[int], queries: int, heads: tuple[int, int]) -> None:
    d, causal = (LENGTHS | CAUSAL_LENGTHS)[name], name in CAUSAL_LENGTHS
    q, k, v = operands(torch, (len(lengths), *heads, queries, max(*lengths, 1) + 77), d)
    for n, length in enumerate(lengths):  # what lies behind the end may be anything finite
        k[n, length:], v[n, length:] = 1e30, -1e30
    o, lse = poisoned(torch, q)
    seqused_k = torch.tensor(lengths, device="cuda", dtype=torch.int32)
    runtime.load(package(f"attention-{name}-lse"))(q=q, k=k, v=v, o=o, lse=lse, scale=d**-0.5, seqused_k=seqused_k)
    check_sequences(torch, lengths, o, lse, (q, k, v), partial(split.check, scale=d**-0.5, causal=causal))


def test_capped_scores_and_sinks(torch: Any, package: Any) -> None:
    q, k, v = operands(torch, (2, 8, 8, 3, 2000), 128)
    o, _ = poisoned(torch, q)
    sinks = torch.linspace(-3, 3, 8, device="cuda")
    kernel = runtime.load(package("attention-cute-split-128-p2-capped"))
    kernel(q=q, k=k, v=v, o=o, scale=0.125, softcap=5.0, sinks=sinks)
    expected, _ = reference(torch, q, k, v, 0.125, logits=lambda x: 5 * torch.tanh(x / 5), sinks=sinks)
    assert error(o, expected) <= 1.5 * error(expected.to(torch.bfloat16), expected) + 2e-3


def test_graph(torch: Any, package: Any) -> None:
    q, k, v = operands(torch, (1, 32, 8, 1, 6000), 128)
    kernel, (o, lse), (other, sums) = (
        runtime.load(package(f"attention-{DENSE}-lse")),
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
