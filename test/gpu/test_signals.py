"""Signals between CTAs: order, payloads fetched by TMA, launches that follow each other."""

from typing import Any

import pytest

from pipelink.support.diagnostics import LinkError


def expected_sum(ctas: int, rounds: int) -> int:
    """What test::round_trip leaves where the token passes the CTAs in order, every round."""
    total = 0
    for r in range(rounds):
        for me in range(ctas):
            total = (total * 3 + me + r) & 0xFFFFFFFF
    return total


def sms(torch: Any) -> int:
    return int(torch.cuda.get_device_properties(0).multi_processor_count)


def test_a_token_passes_all_ctas(torch: Any, load: Any) -> None:
    """Launches of several grids follow each other on one stream: each counts from 0."""
    kernel = load("round_trip")
    for ctas, rounds in ((sms(torch), 200), (1, 5), (7, 1000), (sms(torch), 1), (2, 3), (sms(torch), 50)):
        found = torch.zeros(2, dtype=torch.int32, device="cuda")
        kernel(sum=found, ctas=ctas, rounds=rounds)
        assert int(found[0]) & 0xFFFFFFFF == expected_sum(ctas, rounds), (ctas, rounds)


class Pages:
    """Memory and arguments of test::page_writer and its readers."""

    def __init__(self, torch: Any, ctas: int) -> None:
        self.data = torch.full((ctas, 64, 32), -1, dtype=torch.int32, device="cuda")
        self.right = torch.zeros((ctas, 128), dtype=torch.int32, device="cuda")
        self.ctas = ctas

    def launch(self, kernel: Any, rounds: int, seed: int) -> None:
        self.data.fill_(-1)
        self.right.zero_()
        kernel(data=self.data, right=self.right, ctas=self.ctas, rounds=rounds, seed=seed)

    def check(self, rounds: int) -> None:
        assert bool((self.right == 8 * rounds).all()), (self.ctas, rounds, self.right.min().item())


@pytest.mark.parametrize("rounds", [1, 2, 3, 100_000])
def test_pages_through_global_memory(torch: Any, load: Any, rounds: int) -> None:
    """Every word that TMA fetches is of the round that the signal announced."""
    kernel = load("handed_pages")
    pages = Pages(torch, sms(torch))
    for seed in (1, 77):
        pages.launch(kernel, rounds, seed)
        pages.check(rounds)


def test_graph_replays_alternate_with_launches_of_other_shapes(torch: Any, load: Any) -> None:
    """A replay needs no memset: epochs live in device memory, in that of the capture and in that of the stream."""
    kernel = load("handed_pages")
    large, small, captured = Pages(torch, sms(torch)), Pages(torch, 5), Pages(torch, 64)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        kernel.preload(data=captured.data, right=captured.right, ctas=captured.ctas, rounds=9, seed=5)
        large.launch(kernel, 1, 0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        captured.launch(kernel, 9, 5)
    wrong = torch.zeros(3, dtype=torch.int64, device="cuda")
    with torch.cuda.stream(stream):
        for replay in range(1000):
            graph.replay()
            wrong[0] += (captured.right != 72).sum()
            large.launch(kernel, 4, replay)
            wrong[1] += (large.right != 32).sum()
            small.launch(kernel, 7, -replay)
            wrong[2] += (small.right != 56).sum()
    stream.synchronize()
    assert wrong.tolist() == [0, 0, 0]


def test_the_counters_are_right_after_a_launch_that_failed(torch: Any, load: Any) -> None:
    """A debug link of a kernel that loses its token leaves; the next launch counts from 0."""
    kernel = load("debug/lost_turn")
    for _ in range(3):
        found = torch.zeros(2, dtype=torch.int32, device="cuda")
        with pytest.raises(LinkError) as problem:
            kernel(sum=found, ctas=4, rounds=5)
        message = problem.value.diagnostics[0].message
        assert "waits for counter 2 of '@lost_turn::@take' to reach 3" in message, message
        for rounds in (1, 2):
            found.zero_()
            kernel(sum=found, ctas=4, rounds=rounds)
            assert int(found[0]) & 0xFFFFFFFF == expected_sum(4, rounds)
