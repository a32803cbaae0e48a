"""A megakernel of products whose weights go through one ring of pages: every stage waits for the one before."""

from typing import Any

import pytest

PAGE, ROWS_OF = 16384, {2048: 4, 8192: 1}


class Streamed:
    """A program for test::stream over all SMs, its weights, and what it computes.  ``stages`` are rows and columns."""

    def __init__(self, torch: Any, stages: list[tuple[int, int]], seed: int) -> None:
        torch.manual_seed(seed)
        self.torch, self.stages = torch, stages
        ctas = int(torch.cuda.get_device_properties(0).multi_processor_count)
        program = torch.zeros(ctas, len(stages), 32, dtype=torch.int32)
        self.first, weights = [], []
        for number, (rows, columns) in enumerate(stages):
            pages, first = rows * columns * 2 // PAGE, sum(map(len, weights))
            self.first.append(first)
            for cta in range(ctas):
                count = max(0, -(-(pages - cta) // ctas))
                operands = [first + cta, ctas, count, number, ctas, cta * ROWS_OF[columns]]
                program[cta, number, 0] = list(ROWS_OF).index(columns)
                program[cta, number, 4:10] = torch.tensor(operands)
            weights.append(torch.randn(pages, PAGE // 2, device="cuda", dtype=torch.bfloat16) * 1000 * columns**-0.5)
        self.weights = torch.cat(weights)
        self.program = program.cuda()
        self.lengths = torch.full((ctas,), len(stages), dtype=torch.int32, device="cuda")
        self.activations = torch.zeros(2, 16384, device="cuda")

    def arguments(self) -> dict[str, Any]:
        names = ("program", "lengths", "weights", "activations")
        return {name: getattr(self, name) for name in names}

    def check(self, kernel: Any) -> None:
        self.activations.fill_(float("nan"))
        self.activations[0, :8192] = self.torch.randn(8192, device="cuda")
        wanted = self.activations.clone()
        kernel(**self.arguments())
        for number, (rows, columns) in enumerate(self.stages):
            first, pages = self.first[number], rows * columns * 2 // PAGE
            matrix = self.weights[first : first + pages].reshape(rows, columns).float()
            x = wanted[number % 2, :columns].bfloat16().float()
            wanted[1 - number % 2, :rows] = matrix @ x * 1e-3
        last = 1 - (len(self.stages) - 1) % 2
        rows = self.stages[-1][0]
        got, right = self.activations[last, :rows], wanted[last, :rows]
        assert (got - right).norm() < 1e-2 * right.norm(), (got - right).norm() / right.norm()


@pytest.mark.parametrize("layers", [1, 4])
def test_stages_follow_each_other(torch: Any, load: Any, layers: int) -> None:
    """Matrices of two shapes in turn, so that pages of the one follow pages of the other in the ring."""
    stages = [(8192, 2048), (2048, 8192), (2048, 2048), (16384, 2048), (3072, 8192), (2048, 2048)] * layers
    problem = Streamed(torch, stages, layers)
    kernel = load("megakernel")
    for _ in range(3):
        problem.check(kernel)


def test_a_stage_for_which_some_ctas_have_nothing(torch: Any, load: Any) -> None:
    Streamed(torch, [(8192, 2048), (64, 8192), (8, 2048)], 3).check(load("megakernel"))


def test_graph_replays(torch: Any, load: Any) -> None:
    """A replay computes from what is in memory then; each counts its signals anew."""
    problem, kernel = Streamed(torch, [(8192, 2048), (2048, 8192)], 5), load("megakernel")
    given = problem.arguments()
    kernel.preload(**given)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(**given)
    for _ in range(50):
        problem.check(lambda **_: graph.replay())
