"""Attention over sequences that stand one behind another, against float64 and torch, sequence by sequence."""

from typing import Any

import pytest

from pipelink import runtime
from test.gpu.references import causal_pairs, error, operands, reference

DIMENSIONS = (128, 64)
#: Lengths of the sequences' queries and keys.
BATCHES = {
    "one": ([1000], [1000]),
    "lengths": ([1, 63, 64, 65, 127, 128, 192, 193, 1000, 4097], [1, 63, 64, 65, 127, 128, 192, 193, 1000, 4097]),
    "none in between": ([0, 5, 0, 0, 300, 0], [0, 5, 0, 0, 300, 0]),
    "no keys": ([7, 200, 130], [0, 200, 0]),
    "no queries": ([0, 200, 0], [9, 200, 500]),
    "more keys": ([1, 129, 3, 1], [1000, 515, 64, 127]),
    "more queries": ([515, 70, 200], [129, 1, 199]),  # causal: queries before the first key
    "many short": ([1 + 37 * i % 160 for i in range(77)], [1 + 37 * i % 160 for i in range(77)]),
}
HEADS = ((2, 2), (8, 2), (8, 1))


def begins(torch: Any, lengths: list[int]) -> Any:
    return torch.tensor([0, *lengths], device="cuda").cumsum(0, dtype=torch.int32)


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("variant", ["varlen", "varlen-causal"])
@pytest.mark.parametrize("heads", HEADS, ids=lambda heads: "x".join(map(str, heads)))
@pytest.mark.parametrize("batch", BATCHES)
def test_sequences(torch: Any, package: Any, variant: str, dimension: int, heads: tuple[int, int], batch: str) -> None:
    queries, keys = BATCHES[batch]
    q, k, v = operands(torch, (1, *heads, sum(queries), sum(keys)), dimension)
    cu_q, cu_k = begins(torch, queries), begins(torch, keys)
    o = torch.full((1, sum(queries), heads[0], dimension), float("nan"), device="cuda", dtype=torch.bfloat16)
    lse = torch.full((1, heads[0], sum(queries)), float("nan"), device="cuda")
    scale = dimension**-0.5
    kernel = runtime.load(package(f"attention-{variant}-{dimension}-lse"))
    kernel(q=q, k=k, v=v, o=o, lse=lse, scale=scale, cu_seqlens_q=cu_q, cu_seqlens_k=cu_k)
    assert not o.isnan().any()
    assert not lse.isnan().any()
    causal = variant == "varlen-causal"
    for n, (sq, sk) in enumerate(zip(queries, keys, strict=True)):
        rows, columns = slice(int(cu_q[n]), int(cu_q[n + 1])), slice(int(cu_k[n]), int(cu_k[n + 1]))
        one, two, three, found = q[:, rows], k[:, columns], v[:, columns], o[:, rows]
        if not sq:
            continue
        if not sk:
            assert (found == 0).all()
            assert (lse[:, :, rows] == -float("inf")).all()
            continue
        expected, sums = reference(torch, one, two, three, scale, causal_pairs(torch, sq, sk) if causal else None)
        if not causal or sq == sk:  # torch counts causality from the first key
            turned = (x.transpose(1, 2) for x in (one, two, three))
            options = {"is_causal": causal, "enable_gqa": heads[0] != heads[1], "scale": scale}
            peer = torch.nn.functional.scaled_dot_product_attention(*turned, **options).transpose(1, 2)
            limit = 1.1 * error(peer, expected) + 1e-4
        else:
            limit = 1.5 * error(expected.to(torch.bfloat16), expected) + 2e-3
        assert error(found, expected) <= limit
        seen = ~sums.isinf()
        assert torch.equal(lse[:, :, rows].isinf(), ~seen)
        assert (lse[:, :, rows][seen].double() - sums[seen]).abs().max() < 2e-3
        assert (found[(~seen).transpose(1, 2)] == 0).all()


@pytest.mark.parametrize("variant", ["varlen", "varlen-causal"])
def test_one_sequence_is_ordinary_attention(torch: Any, package: Any, variant: str) -> None:
    q, k, v = operands(torch, (1, 8, 2, 700, 700), 128)
    o, other = (torch.full((1, 700, 8, 128), float("nan"), device="cuda", dtype=torch.bfloat16) for _ in range(2))
    lse = torch.empty((1, 8, 700), device="cuda")
    both = begins(torch, [700])
    kernel = runtime.load(package(f"attention-{variant}-128-lse"))
    kernel(q=q, k=k, v=v, o=o, lse=lse, scale=0.1, cu_seqlens_q=both, cu_seqlens_k=both)
    plain = "causal" if variant == "varlen-causal" else "dense"
    runtime.load(package(f"attention-{plain}-128"))(q=q, k=k, v=v, o=other, scale=0.1)
    assert torch.equal(o, other)
