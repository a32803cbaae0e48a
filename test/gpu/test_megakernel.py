"""A megakernel of products whose weights go through one ring of pages: every stage waits for the one before."""

from typing import Any

import pytest

from pipelink.runtime import Program
from test.programs import PAGE, add_stages


class Streamed:
    """A program for test::stream over all SMs, its weights, and what it computes.  ``stages`` are rows and columns."""

    def __init__(self, torch: Any, kernel: Any, stages: list[tuple[int, int]], seed: int) -> None:
        torch.manual_seed(seed)
        self.torch, self.kernel, self.stages = torch, kernel, stages
        program = Program(kernel, int(torch.cuda.get_device_properties(0).multi_processor_count))
        self.first = add_stages(program, stages)
        weights = [
            torch.randn(rows * columns * 2 // PAGE, PAGE // 2, device="cuda", dtype=torch.bfloat16)
            * 1000
            * columns**-0.5
            for rows, columns in stages
        ]
        self.weights = torch.cat(weights)
        program.check(LONGEST=program.longest)
        array = program.instructions()
        self.program = torch.frombuffer(array, dtype=torch.int32).reshape(array.shape).cuda()
        self.lengths = torch.frombuffer(program.lengths(), dtype=torch.int32).cuda()
        self.activations = torch.zeros(2, 16384, device="cuda")

    def arguments(self) -> dict[str, Any]:
        names = ("program", "lengths", "weights", "activations")
        return {name: getattr(self, name) for name in names}

    def check(self, launch: Any = None) -> None:
        """Launch, or do what launches, and compare."""
        self.activations.fill_(float("nan"))
        self.activations[0, :8192] = self.torch.randn(8192, device="cuda")
        wanted = self.activations.clone()
        (launch or self.kernel)(**self.arguments())
        for number, (rows, columns) in enumerate(self.stages):
            first, pages = self.first[number], rows * columns * 2 // PAGE
            matrix = self.weights[first : first + pages].reshape(rows, columns).float()
            x = wanted[number % 2, :columns].bfloat16().float()
            wanted[1 - number % 2, :rows] = matrix @ x * 1e-3
        last = 1 - (len(self.stages) - 1) % 2
        rows = self.stages[-1][0]
        got, right = self.activations[last, :rows], wanted[last, :rows]
        off = float((got - right).norm() / right.norm())
        assert off < 4e-3 * len(self.stages) ** 0.5, off  # of bf16, in every stage


@pytest.mark.parametrize("layers", [1, 4])
def test_stages_follow_each_other(torch: Any, load: Any, layers: int) -> None:
    """Matrices of two shapes in turn, so that pages of the one follow pages of the other in the ring."""
    stages = [(8192, 2048), (2048, 8192), (2048, 2048), (16384, 2048), (3072, 8192), (2048, 2048)] * layers
    problem = Streamed(torch, load("megakernel"), stages, layers)
    for _ in range(3):
        problem.check()


def test_a_stage_for_which_some_ctas_have_nothing(torch: Any, load: Any) -> None:
    Streamed(torch, load("megakernel"), [(8192, 2048), (64, 8192), (8, 2048)], 3).check()


def test_graph_replays(torch: Any, load: Any) -> None:
    """A replay computes from what is in memory then; each counts its signals anew."""
    kernel = load("megakernel")
    problem = Streamed(torch, kernel, [(8192, 2048), (2048, 8192)], 5)
    given = problem.arguments()
    kernel.preload(**given)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(**given)
    for _ in range(50):
        problem.check(lambda **_: graph.replay())
