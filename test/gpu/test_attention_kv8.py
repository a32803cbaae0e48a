"""Attention on keys and values of e4m3 against float64 of what they stand for, and against the same in 16 bits."""

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
    rounded_attention,
)
from test.gpu.test_attention_split import shown

#: Name -> head dimension; by whether queries look at all keys.
DENSE = {"dense-128-p1": 128, "split-128-p4": 128, "split-64-p8": 64, "cute-split-128-p4": 128}
CAUSAL = {"causal-128-p1": 128, "causal-64-p1": 64, "window-64-p1": 64}
LENGTHS = {"split-lengths-128-p8": 128, "cute-split-lengths-64-p8": 64}
SHAPES = [  # B, H, HK, SQ, SK
    *((1, 8, heads, 1, length) for heads in (8, 2) for length in (1, 63, 64, 65, 127, 1000, 4097)),
    *((1, 2, 2, length, length) for length in (1, 63, 64, 65, 127, 192, 1000)),
    (1, 32, 8, 1, 20_000),
    (2, 8, 2, 300, 300),
    (70, 8, 2, 1, 300),  # more tiles than SMs
    (3, 4, 4, 70, 1),
    (1, 2, 2, 515, 129),  # causal: queries before the first key
    (1, 8, 2, 2048, 2048),
]
K_SCALE, V_SCALE = 0.037, 0.61


def bytes_of(torch: Any, shape: tuple[int, ...], d: int, dtype: str = "bfloat16") -> tuple[Any, Any, Any]:
    """q, and k and v of e4m3, their scales divided out: views, behind whose last rows there are NaNs."""
    q, k, v = operands(torch, shape, d, dtype)

    def narrow(values: Any, scale: float) -> Any:
        b, rows, heads, _ = values.shape
        buffer = torch.full((b, rows + 3, heads + 1, d), math.nan, device="cuda")
        buffer[:, :rows, 1:] = (values.float() / scale).clamp(-448, 448)
        return buffer.to(torch.float8_e4m3fn)[:, :rows, 1:]

    return q, narrow(k, K_SCALE), narrow(v, V_SCALE)


def check(torch: Any, found: Any, sums: Any, given: tuple[Any, Any, Any], causal: bool) -> None:
    """``found`` and ``sums`` of some sequences of one length; ``sums`` may be wanting."""
    q, k, v = given
    keep, scale = causal_pairs(torch, q.shape[1], k.shape[1]) if causal else None, q.shape[3] ** -0.5 * K_SCALE
    expected, lse = reference(torch, q, k.float(), v.float(), scale, keep)
    expected *= V_SCALE
    assert not found.isnan().any()
    peer = rounded_attention(torch, q, k.to(q.dtype), v.to(q.dtype), scale, keep).float() * V_SCALE
    chance = 4 * found.numel() ** -0.5  # each error is a mean of so many values, their quotient varies by its root
    assert error(found, expected) <= (1.1 + chance) * error(peer.to(q.dtype), expected) + 1e-4
    if sums is None:
        return
    check_sums(torch, found, sums, lse)


@pytest.mark.parametrize("name", [*DENSE, *CAUSAL])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_one_length(torch: Any, package: Any, name: str, shape: tuple[int, ...]) -> None:
    d = (DENSE | CAUSAL)[name]
    q, k, v = bytes_of(torch, shape, d)
    kernel = runtime.load(package(f"attention-kv8-{name}-lse"))
    given: dict[str, Any] = {"left": -1, "right": 0} if "window" in name else {}
    given |= {"q": q, "k": k, "v": v, "scale": d**-0.5 * K_SCALE, "v_scale": V_SCALE}
    o, lse = launched_alike(torch, q, lambda o, lse: kernel(o=o, lse=lse, **given))
    check(torch, o, lse, (q, k, v), name in CAUSAL)


@pytest.mark.parametrize(("name", "d"), [("dense-64", 64), ("split-causal-128-p4", 128)])
@pytest.mark.parametrize("shape", [(1, 8, 2, 1, 1000), (2, 8, 8, 130, 515)], ids=lambda x: "x".join(map(str, x)))
def test_f16(torch: Any, package: Any, name: str, d: int, shape: tuple[int, ...]) -> None:
    q, k, v = bytes_of(torch, shape, d, "float16")
    o, _ = poisoned(torch, q)
    runtime.load(package(f"attention-kv8-{name}-f16"))(q=q, k=k, v=v, o=o, scale=d**-0.5 * K_SCALE, v_scale=V_SCALE)
    check(torch, o, None, (q, k, v), "causal" in name)


@pytest.mark.parametrize("name", ["dense-128-p1", "causal-64-p1", "split-128-p4"])
def test_every_value_is_what_it_stands_for(torch: Any, package: Any, name: str) -> None:
    """One key: O is its values.  The two NaNs of e4m3 are NaN."""
    d = (DENSE | CAUSAL)[name]
    v = torch.arange(256, device="cuda").to(torch.uint8).view(torch.float8_e4m3fn).reshape(-1, 1, 1, d)
    q = torch.zeros(v.shape, device="cuda", dtype=torch.bfloat16)
    k = torch.zeros(v.shape, device="cuda").to(torch.float8_e4m3fn)
    o, lse = poisoned(torch, q)
    runtime.load(package(f"attention-kv8-{name}-lse"))(q=q, k=k, v=v, o=o, lse=lse, scale=1.0, v_scale=1.0)
    expected = v.to(torch.bfloat16)
    assert int(expected.isnan().sum()) == 2
    assert torch.equal(o.isnan(), expected.isnan())
    assert torch.equal(o.nan_to_num(0.0), expected.nan_to_num(0.0))


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize(
    ("lengths", "queries"),
    [
        ([0], 1),
        ([1, 63, 64, 65, 127, 128, 129, 1000, 4097, 0, 3, 20_000], 1),
        ([0, 0, 700, 0], 3),
        ([(37 * i) % 900 for i in range(150)], 1),
    ],
    ids=shown,
)
@pytest.mark.parametrize("heads", [(8, 2), (14, 2), (4, 4)], ids=lambda heads: "x".join(map(str, heads)))
def test_lengths(torch: Any, package: Any, name: str, lengths: list[int], queries: int, heads: tuple[int, int]) -> None:
    d, most = LENGTHS[name], max(*lengths, 1) + 77
    q, k, v = bytes_of(torch, (len(lengths), *heads, queries, most), d)
    for n, length in enumerate(lengths):  # what lies behind the end may be anything finite
        k.view(torch.uint8)[n, length:], v.view(torch.uint8)[n, length:] = 0x7E, 0xFE
    o, lse = poisoned(torch, q)
    seqused_k = torch.tensor(lengths, device="cuda", dtype=torch.int32)
    kernel = runtime.load(package(f"attention-kv8-{name}-lse"))
    kernel(q=q, k=k, v=v, o=o, lse=lse, scale=d**-0.5 * K_SCALE, v_scale=V_SCALE, seqused_k=seqused_k)
    check_sequences(torch, lengths, o, lse, (q, k, v), partial(check, causal=False))


def test_without_logarithms(torch: Any, package: Any) -> None:
    q, k, v = bytes_of(torch, (2, 32, 8, 1, 9000), 128)
    (o, lse), (other, _) = poisoned(torch, q), poisoned(torch, q)
    given: dict[str, Any] = {"q": q, "k": k, "v": v, "scale": 0.1 * K_SCALE, "v_scale": V_SCALE}
    runtime.load(package("attention-kv8-split-128-p4-lse"))(o=o, lse=lse, **given)
    runtime.load(package("attention-kv8-split-128-p4"))(o=other, **given)
    assert torch.equal(o, other)


def test_as_the_same_in_16_bits(torch: Any, package: Any) -> None:
    """Widened elements are exact, so nothing else is computed than on them."""
    q, k, v = bytes_of(torch, (2, 8, 2, 300, 1100), 128)
    (o, lse), (other, sums) = poisoned(torch, q), poisoned(torch, q)
    kernel = runtime.load(package("attention-kv8-causal-128-p1-lse"))
    kernel(q=q, k=k, v=v, o=o, lse=lse, scale=0.1 * K_SCALE, v_scale=1.0)
    wide = [x.to(torch.bfloat16) for x in (k, v)]
    kernel = runtime.load(package("attention-causal-128-lse"))
    kernel(q=q, k=wide[0], v=wide[1], o=other, lse=sums, scale=0.1 * K_SCALE)
    assert torch.equal(o, other)
    assert torch.equal(lse, sums)


def test_graph(torch: Any, package: Any) -> None:
    q, k, v = bytes_of(torch, (1, 32, 8, 1, 6000), 128)
    kernel, (o, _), (other, _) = (
        runtime.load(package("attention-kv8-split-128-p4")),
        poisoned(torch, q),
        poisoned(torch, q),
    )
    given: dict[str, Any] = {"q": q, "k": k, "v": v, "scale": 0.1 * K_SCALE, "v_scale": V_SCALE}
    kernel(o=other, **given)
    kernel.preload(o=o, **given)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(o=o, **given)
    for _ in range(3):
        o.fill_(float("nan"))
        graph.replay()
        assert torch.equal(o, other)
