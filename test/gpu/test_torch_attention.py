"""Attention as an operator of torch: what its arguments mean, against float64; compiled, captured, checked by torch.

Kernels are those of ``TORCH`` in prepare.py.
"""

import importlib
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from test.gpu.references import causal_pairs, error, operands, reference


@pytest.fixture(scope="module")
def attention(operator_kernels: Any) -> Any:
    folder = operator_kernels("attention-*.plk")
    return partial(importlib.import_module("pipelink.torch").attention, folder=folder)


def distances(torch: Any, sq: int, sk: int) -> Any:
    """[SQ, SK]: key minus query, where the last query stands at the last key."""
    return torch.arange(sk, device="cuda") - torch.arange(sk - sq, sk, device="cuda")[:, None]


def mask_mod(b: Any, h: Any, q: Any, k: Any) -> Any:
    return ((q - k).abs() < 70) | ((q * 7 + k * 3) % 11 == 0)


def block_mask(torch: Any, sq: int, sk: int) -> Any:
    flex = importlib.import_module("torch.nn.attention.flex_attention")
    return flex.create_block_mask(mask_mod, None, None, sq, sk, device="cuda")


def pairs(torch: Any, sq: int, sk: int) -> Any:
    rows, columns = torch.arange(sq, device="cuda")[:, None], torch.arange(sk, device="cuda")
    return mask_mod(0, 0, rows, columns)


def window(torch: Any, shape: tuple[int, ...], left: int, right: int) -> Any:
    ahead = distances(torch, *shape[3:])
    return (ahead >= -left) & (ahead <= right)


Case = tuple[tuple[int, ...], int, str, Callable[[Any, tuple[int, ...]], tuple[dict[str, Any], dict[str, Any]]]]
MANY = (2, 8, 2, 300, 515)  # B, H, HK, SQ, SK


def _bias(torch: Any, shape: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    bias = torch.randn(shape[1], 1, shape[4], device="cuda").bfloat16()
    return {"bias": bias}, {"logits": lambda x: x + bias}


def _alibi(torch: Any, shape: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    slopes = torch.linspace(0.01, 0.3, shape[1], device="cuda")
    away = distances(torch, *shape[3:])
    changed = {"logits": lambda x: x + slopes[:, None, None] * away, "keep": causal_pairs(torch, *shape[3:])}
    return {"alibi_slopes": slopes, "causal": True}, changed


def _sinks(torch: Any, shape: tuple[int, ...], dtype: str) -> Any:
    return torch.linspace(-2, 3, shape[1], device="cuda").to(getattr(torch, dtype))


def _few(torch: Any, shape: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    sinks = _sinks(torch, shape, "float32")
    return {"sinks": sinks, "softcap": 20.0}, {"sinks": sinks, "logits": lambda x: 20 * torch.tanh(x / 20)}


def _window_sinks(torch: Any, shape: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    sinks = _sinks(torch, shape, "bfloat16")
    return {"sinks": sinks, "window": (100, 3), "causal": True}, {"sinks": sinks, "keep": window(torch, shape, 100, 0)}


#: Shape, D, type, and what makes the operator's arguments and the reference's.
CASES: dict[str, Case] = {
    "dense": (MANY, 128, "bfloat16", lambda torch, shape: ({}, {})),
    "causal": (
        MANY, 64, "bfloat16", lambda torch, shape: ({"causal": True}, {"keep": causal_pairs(torch, *shape[3:])})
    ),
    "causal window, sinks": (MANY, 64, "bfloat16", _window_sinks),
    "window": (
        MANY, 128, "bfloat16", lambda torch, shape: ({"window": (9, 40)}, {"keep": window(torch, shape, 9, 40)})
    ),
    "f16, softcap": (
        MANY,
        128,
        "float16",
        lambda torch, shape: (
            {"causal": True, "softcap": 5.0},
            {"keep": causal_pairs(torch, *shape[3:]), "logits": lambda x: 5 * torch.tanh(x / 5)},
        ),
    ),
    "bias": (MANY, 128, "bfloat16", _bias),
    "alibi, 256": (MANY, 256, "bfloat16", _alibi),
    "block mask": (
        MANY,
        64,
        "bfloat16",
        lambda torch, shape: ({"block_mask": block_mask(torch, *shape[3:])}, {"keep": pairs(torch, *shape[3:])}),
    ),
    "block mask, softcap": (
        MANY,
        128,
        "bfloat16",
        lambda torch, shape: (
            {"block_mask": block_mask(torch, *shape[3:]), "softcap": 5.0},
            {"keep": pairs(torch, *shape[3:]), "logits": lambda x: 5 * torch.tanh(x / 5)},
        ),
    ),
    "one query": ((3, 8, 2, 1, 5000), 128, "bfloat16", lambda torch, shape: ({"causal": True}, {})),
    "one query, sinks": ((3, 8, 2, 1, 900), 128, "bfloat16", _few),
    "one query, sinks, 64": ((3, 8, 2, 1, 900), 64, "bfloat16", _few),
    "one query, seven heads": ((1, 14, 2, 1, 3000), 64, "bfloat16", lambda torch, shape: ({}, {})),
}  # fmt: skip


def held(o: Any, lse: Any, expected: Any, sums: Any) -> None:
    assert not o.isnan().any()
    assert error(o, expected) <= 1.5 * error(expected.to(o.dtype), expected) + 2e-3
    seen = ~sums.isinf()
    assert (lse.isinf() == ~seen).all()
    assert (lse[seen].double() - sums[seen]).abs().max() < 2e-3


@pytest.mark.parametrize("name", CASES)
def test_arguments(torch: Any, attention: Any, name: str) -> None:
    shape, d, dtype, make = CASES[name]
    q, k, v = operands(torch, shape, d, dtype)
    arguments, changed = make(torch, shape)
    o, lse = attention(q, k, v, **arguments, scale=0.1, return_lse=True)
    held(o, lse, *reference(torch, q, k, v, 0.1, **changed))


def test_lists_of_blocks_with_causality(torch: Any, attention: Any) -> None:
    """Every partial block of causality listed as partial, the others as full."""
    flex = importlib.import_module("torch.nn.attention.flex_attention")
    lists = importlib.import_module("pipelink.torch").BlockLists
    mask = flex.create_block_mask(lambda b, h, q, k: q >= k, None, None, 700, 700, device="cuda")
    q, k, v = operands(torch, (2, 4, 4, 700, 700), 128)
    o, lse = attention(q, k, v, block_mask=lists.of(mask), causal=True, return_lse=True)
    held(o, lse, *reference(torch, q, k, v, 128**-0.5, causal_pairs(torch, 700, 700)))


def test_sequences_behind_one_another(torch: Any, attention: Any) -> None:
    q_lengths, k_lengths = [5, 300, 1, 130], [5, 400, 129, 140]
    q, _, _ = operands(torch, (1, 8, 2, sum(q_lengths), 1), 128)
    _, k, v = operands(torch, (1, 8, 2, 1, sum(k_lengths)), 128)
    begins = [torch.tensor([0, *x], device="cuda").cumsum(0, dtype=torch.int32) for x in (q_lengths, k_lengths)]
    o, lse = attention(q[0], k[0], v[0], cu_seqlens=tuple(begins), causal=True, return_lse=True)
    assert (o.shape, lse.shape) == (q[0].shape, (8, sum(q_lengths)))
    for n in range(4):
        rows, columns = (slice(int(x[n]), int(x[n + 1])) for x in begins)
        keep = causal_pairs(torch, q_lengths[n], k_lengths[n])
        expected = reference(torch, q[:, rows], k[:, columns], v[:, columns], 128**-0.5, keep)
        held(o[None, rows], lse[None, :, rows], *expected)


@pytest.mark.parametrize("page", [None, 64])
def test_caches(torch: Any, attention: Any, page: int | None) -> None:
    """In one piece and in pages, in no order; one sequence is empty."""
    lengths = [1000, 0, 3, 4096]
    q, k, v = operands(torch, (4, 8, 2, 1, 4096), 128)
    table, caches = None, (k, v)
    if page:
        order = torch.randperm(4 * 4096 // page, device="cuda")
        caches = tuple(torch.empty_like(x).reshape(-1, page, 2, 128) for x in (k, v))
        for to, of in zip(caches, (k, v), strict=True):
            to[order] = of.reshape(-1, page, 2, 128)
        table = order.int().reshape(4, -1)
    used = torch.tensor(lengths, device="cuda", dtype=torch.int32)
    o, lse = attention(q, *caches, seqused_k=used, block_table=table, causal=True, return_lse=True)
    for n, length in enumerate(lengths):
        if not length:
            assert (o[n] == 0).all()
            assert (lse[n] == -math.inf).all()
            continue
        one = slice(n, n + 1)
        held(o[one], lse[one], *reference(torch, q[one], k[one, :length], v[one, :length], 128**-0.5))


def test_queries_behind_one_another_over_pages(torch: Any, attention: Any) -> None:
    queries, lengths = [200, 1, 70], [333, 4000, 70]
    q, _, _ = operands(torch, (1, 4, 4, sum(queries), 1), 128)
    _, k, v = operands(torch, (3, 4, 4, 1, 4000), 128)
    pages = [x.reshape(-1, 16, 4, 128) for x in (k, v)]
    table = torch.arange(3 * 250, device="cuda", dtype=torch.int32).reshape(3, 250)
    begins = torch.tensor([0, *queries], device="cuda").cumsum(0, dtype=torch.int32)
    used = torch.tensor(lengths, device="cuda", dtype=torch.int32)
    o, lse = attention(q[0], *pages, cu_seqlens=begins, seqused_k=used, block_table=table, causal=True, return_lse=True)
    for n, length in enumerate(lengths):
        rows, one = slice(int(begins[n]), int(begins[n + 1])), slice(n, n + 1)
        keep = causal_pairs(torch, queries[n], length)
        expected = reference(torch, q[:, rows], k[one, :length], v[one, :length], 128**-0.5, keep)
        held(o[None, rows], lse[None, :, rows], *expected)


def test_no_keys(torch: Any, attention: Any) -> None:
    q, k, v = operands(torch, MANY, 64)
    o, lse = attention(q, k[:, :0], v[:, :0], return_lse=True)
    assert (o == 0).all()
    assert (lse == -math.inf).all()
    sinks = torch.linspace(-1, 1, 8, device="cuda").bfloat16()
    _, lse = attention(q, k[:, :0], v[:, :0], window=(100, 0), sinks=sinks, return_lse=True)
    assert torch.equal(lse, sinks.float()[:, None].expand(2, 8, 300))
    assert attention(q[:, :0], k, v).shape == (2, 0, 8, 64)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", ["causal", "causal window, sinks", "bias", "block mask", "one query"])
def test_compiled_without_a_graph_break(torch: Any, attention: Any, name: str, dynamic: bool) -> None:
    shape, d, dtype, make = CASES[name]
    q, k, v = operands(torch, shape, d, dtype)
    arguments, changed = make(torch, shape)
    attention(q, k, v, **arguments)  # plans a mask
    torch._dynamo.reset()
    function = torch.compile(lambda *x: attention(*x, **arguments) * 2, fullgraph=True, dynamic=dynamic)
    expected, _ = reference(torch, q, k, v, d**-0.5, **changed)
    for _ in range(2):
        assert error(function(q, k, v), 2 * expected) <= 1.5 * error(expected.to(q.dtype), expected) + 2e-3


@pytest.mark.parametrize("name", ["dense", "block mask", "one query"])
def test_graph(torch: Any, attention: Any, name: str) -> None:
    shape, d, dtype, make = CASES[name]
    q, k, v = operands(torch, shape, d, dtype)
    arguments, _ = make(torch, shape)
    attention(q, k, v, **arguments)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        o = attention(q, k, v, **arguments)
    q.mul_(-1)
    for _ in range(2):
        o.fill_(math.nan)
        graph.replay()
        assert torch.equal(o, attention(q, k, v, **arguments))


@pytest.mark.parametrize("name", ["dense", "causal window, sinks", "bias", "block mask"])
def test_opcheck(torch: Any, attention: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, d, dtype, make = CASES[name]
    tensors = operands(torch, shape, d, dtype)
    arguments, _ = make(torch, shape)
    given: list[Any] = []
    operator = torch.ops.pipelink.attention

    def record(*values: Any) -> Any:
        given.append(values)
        return operator(*values)

    monkeypatch.setattr(torch.ops.pipelink, "attention", record)
    attention(*tensors, **arguments)
    monkeypatch.undo()
    torch.library.opcheck(operator.default, given[0])


def test_a_kernel_that_is_not_there(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = importlib.import_module("pipelink.runtime")
    linking = importlib.import_module("pipelink.torch.linking")
    monkeypatch.setattr(linking, "find_spec", lambda _: None)
    q, k, v = operands(torch, MANY, 64)
    with pytest.raises(runtime.LinkError, match="no kernel 'attention-causal-64-softcap'") as caught:
        importlib.import_module("pipelink.torch").attention(q, k, v, causal=True, softcap=3.0, folder=tmp_path)
    assert "--only attention-causal-64-softcap" in caught.value.diagnostics[0].hint
