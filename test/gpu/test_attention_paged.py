"""Attention over keys and values in pages, against float64: pages in any order, NaN in those that nobody names."""

import math
from typing import Any

import pytest

from pipelink import runtime
from test.gpu.references import causal_pairs, check_sums, error, operands, reference

#: Names of packages: head dimension, keys of a page.
PREFILL = {
    "paged-128-p1-page16": (128, 16),
    "paged-64-p1-page256": (64, 256),
    "paged-causal-128-p1-page64": (128, 64),
    "paged-causal-128-p1-page256": (128, 256),
    "paged-causal-64-p1-page16": (64, 16),
}
DECODE = {
    "split-lengths-128-p4-page16": (128, 16),
    "split-lengths-128-p4-page64": (128, 64),
    "split-lengths-128-p4-page256": (128, 256),
    "split-lengths-causal-128-p8-page64": (128, 64),
}


def in_pages(torch: Any, caches: tuple[Any, Any], lengths: list[int], page: int) -> tuple[Any, Any, Any]:
    """Caches of pages in no order, and the table that names them; what is no sequence's is NaN, and what lies behind a
    sequence's end within its last page is 0.  Entries behind a sequence's last page name no page that there is."""
    counts = [-(-length // page) for length in lengths]
    most, total = max(*counts, 1), sum(counts)
    order = torch.randperm(total + 3, generator=torch.Generator().manual_seed(total))
    table = torch.full((len(lengths), most), 2_000_000_000, dtype=torch.int32)
    pages = [torch.full((total + 3, page, *cache.shape[2:]), math.nan, dtype=cache.dtype) for cache in caches]
    used = 0
    for n, (length, count) in enumerate(zip(lengths, counts, strict=True)):
        for number in range(count):
            at, rows = int(order[used]), min(page, length - number * page)
            for to, cache in zip(pages, caches, strict=True):
                to[at] = 0
                to[at, :rows] = cache[n, number * page : number * page + rows].cpu()
            table[n, number], used = at, used + 1
    keys, values = (x.cuda() for x in pages)
    return keys, values, table.cuda()


def check(torch: Any, found: Any, sums: Any, given: tuple[Any, Any, Any], scale: float, causal: bool) -> None:
    q, k, v = given
    keep = causal_pairs(torch, q.shape[1], k.shape[1]) if causal else None
    expected, lse = reference(torch, q, k, v, scale, keep)
    assert error(found, expected) <= 1.5 * error(expected.to(torch.bfloat16), expected) + 2e-3
    check_sums(torch, found, sums, lse)


LENGTHS = ([1, 63, 64, 65, 127, 128, 1000, 4097], [0, 15, 0, 16, 17, 300, 0], [2000], [257, 0])


@pytest.mark.parametrize("name", PREFILL)
@pytest.mark.parametrize("lengths", LENGTHS, ids=lambda lengths: str(len(lengths)))
@pytest.mark.parametrize("heads", [(8, 2), (4, 4)], ids=lambda heads: "x".join(map(str, heads)))
def test_prefill(torch: Any, package: Any, name: str, lengths: list[int], heads: tuple[int, int]) -> None:
    (d, page), b, scale = PREFILL[name], len(lengths), 0.1
    queries = [(37 * n * n + 5) % (length + 2) for n, length in enumerate(lengths)]
    _, k, v = operands(torch, (b, *heads, 1, max(*lengths, 1)), d)
    q, _, _ = operands(torch, (1, *heads, sum(queries), 1), d)
    keys, values, table = in_pages(torch, (k, v), lengths, page)
    cu_q = torch.tensor([0, *queries], device="cuda").cumsum(0, dtype=torch.int32)
    o = torch.full((1, sum(queries), heads[0], d), math.nan, device="cuda", dtype=torch.bfloat16)
    lse = torch.full((1, heads[0], sum(queries)), math.nan, device="cuda")
    runtime.load(package(f"attention-{name}-lse"))(
        q=q, k=keys, v=values, o=o, lse=lse, scale=scale, block_table=table, cu_seqlens_q=cu_q,
        seqused_k=torch.tensor(lengths, device="cuda", dtype=torch.int32),
    )  # fmt: skip
    assert not o.isnan().any()
    assert not lse.isnan().any()
    for n, length in enumerate(lengths):
        rows = slice(int(cu_q[n]), int(cu_q[n + 1]))
        if not length:
            assert (o[:, rows] == 0).all()
            assert (lse[:, :, rows] == -math.inf).all()
        elif queries[n]:
            given = (q[:, rows], k[n : n + 1, :length], v[n : n + 1, :length])
            check(torch, o[:, rows], lse[:, :, rows], given, scale, "causal" in name)


@pytest.mark.parametrize("name", DECODE)
@pytest.mark.parametrize("lengths", [*LENGTHS, [40_000, 3, 9000]], ids=lambda lengths: str(len(lengths)))
@pytest.mark.parametrize(("heads", "queries"), [((8, 2), 1), ((14, 2), 3)])
def test_decode(torch: Any, package: Any, name: str, lengths: list[int], heads: tuple[int, int], queries: int) -> None:
    (d, page), b, scale = DECODE[name], len(lengths), 0.1
    q, k, v = operands(torch, (b, *heads, queries, max(*lengths, 1)), d)
    keys, values, table = in_pages(torch, (k, v), lengths, page)
    o = torch.full((b, queries, heads[0], d), math.nan, device="cuda", dtype=torch.bfloat16)
    lse = torch.full((b, heads[0], queries), math.nan, device="cuda")
    runtime.load(package(f"attention-{name}-lse"))(
        q=q, k=keys, v=values, o=o, lse=lse, scale=scale, block_table=table,
        seqused_k=torch.tensor(lengths, device="cuda", dtype=torch.int32),
    )  # fmt: skip
    assert not o.isnan().any()
    assert not lse.isnan().any()
    for n, length in enumerate(lengths):
        one = slice(n, n + 1)
        if not length:
            assert (o[one] == 0).all()
            assert (lse[one] == -math.inf).all()
        else:
            given = (q[one], k[one, :length], v[one, :length])
            check(torch, o[one], lse[one], given, scale, "causal" in name)
