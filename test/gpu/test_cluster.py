"""GEMMs whose CTAs share tiles of B in clusters of two, and outputs that go through shared memory to a TMA store."""

from typing import Any

import pytest

from test.gpu.test_gemm import SHAPES, Problem

CLUSTERS = [
    "gemm-cluster_128x256x64-store-paired_tiles",
    "gemm-cluster_128x128x64-bias_relu-paired_tiles",
    "gemm-cluster_128x256x64-swiglu-paired_tiles",
    "gemm-cluster_128x256x64-staged_store-paired_tiles",
]
STAGED = ["gemm-wgmma_128x256x64-staged_store-grouped_tiles", "gemm-wgmma_128x128x64-staged_store-grouped_tiles"]


@pytest.mark.parametrize("name", CLUSTERS + STAGED)
def test_shapes(torch: Any, load: Any, record: Any, name: str) -> None:
    """Odd numbers of tile rows too, where the second CTA of a cluster works on nothing."""
    kernel = load(name)
    errors: dict[str, float] = {}
    for shape in [*SHAPES, (4096, 4096, 4096)]:
        problem = Problem(torch, name, *shape)
        kernel(**problem.arguments())
        problem.check()
        errors["x".join(map(str, shape))] = problem.relative_error
    record(name, errors)


@pytest.mark.parametrize("name", CLUSTERS + STAGED)
def test_repeated_launches_agree(torch: Any, load: Any, name: str) -> None:
    """A race between the CTAs of a cluster, or with the copies of a store, shows as a difference between runs."""
    kernel = load(name)
    problem = Problem(torch, name, 1664, 2304, 768)
    kernel(**problem.arguments())
    first = problem.out.clone()
    for _ in range(50):
        problem.out.fill_(float("nan"))
        kernel(**problem.arguments())
        assert torch.equal(problem.out, first)
    problem.check()


def test_tiles_of_any_producer_are_stored_where_they_belong(torch: Any, load: Any) -> None:
    kernel = load("placed")
    for rows, columns in [(64, 64), (1, 8), (63, 72), (500, 264), (1024, 1024)]:
        x = torch.randn(rows, columns, device="cuda").to(torch.bfloat16)
        buffer = torch.full((rows + 4, columns + 16), float("nan"), device="cuda", dtype=torch.bfloat16)
        out = buffer[2 : 2 + rows, 8 : 8 + columns]
        kernel(x=x, out=out)
        torch.cuda.synchronize()
        assert torch.equal(out, x)
        out.fill_(float("nan"))
        assert bool(buffer.isnan().all()), "something was written outside the output"
