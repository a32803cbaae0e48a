"""The mainloop of TMA and warps, whose object links for sm_120a too, run on a Hopper GPU; test_gemm.py's problems."""

from typing import Any

import pytest

from test.gpu.test_gemm import SHAPES, Problem

EPILOGUES = ("store", "residual_add", "swiglu")
NAMES = [f"gemm-sm120_128x128x64-{epilogue}-grouped_tiles" for epilogue in EPILOGUES]


@pytest.mark.parametrize("name", NAMES)
def test_shapes(torch: Any, load: Any, record: Any, name: str) -> None:
    kernel = load(name)
    errors: dict[str, float] = {}
    for shape in SHAPES:
        problem = Problem(torch, name, *shape)
        kernel(**problem.arguments())
        problem.check()
        errors["x".join(map(str, shape))] = problem.relative_error
    record(name, errors)


@pytest.mark.parametrize("name", NAMES[:2])
def test_whole_numbers_are_exact(torch: Any, load: Any, name: str) -> None:
    kernel = load(name)
    for shape in [(129, 264, 200), (640, 512, 512)]:
        problem = Problem(torch, name, *shape, whole=True)
        kernel(**problem.arguments())
        torch.cuda.synchronize()
        assert torch.equal(problem.out, problem.expected().to(torch.bfloat16))
        problem.check_guard()


def test_repeated_launches_agree(torch: Any, load: Any) -> None:
    """A race shows as a difference between runs."""
    kernel = load(NAMES[0])
    problem = Problem(torch, NAMES[0], 1536, 2304, 768)
    kernel(**problem.arguments())
    first = problem.out.clone()
    for _ in range(50):
        problem.out.fill_(float("nan"))
        kernel(**problem.arguments())
        assert torch.equal(problem.out, first)
