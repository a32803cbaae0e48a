"""CTAs of a cluster exchange values through each other's shared memory, and meet before and after."""

from typing import Any

import pytest

ROUNDS = 1000
WORD = 0xFFFFFFFF


def mixed(value: Any, rank: Any, turn: int) -> Any:
    """What a thread makes of its value, in 64-bit integers of which the lower half counts."""
    return ((value ^ value >> 15) * 2654435761 + rank * 40503 + turn) & WORD


def output(torch: Any, *shape: int) -> Any:
    return torch.zeros(*shape, dtype=torch.int32, device="cuda").view(torch.uint32)


def words(torch: Any, tensor: Any) -> Any:
    return tensor.view(torch.int32).long() & WORD


@pytest.mark.parametrize(("name", "ctas"), [("read_by_two", 2), ("read_by_four", 4)])
@pytest.mark.parametrize("clusters", [1, 33, 200])
def test_values_that_the_other_ctas_read(torch: Any, load: Any, name: str, ctas: int, clusters: int) -> None:
    """Each round a thread adds up the values of its number in all CTAs of the cluster; every round is compared."""
    kernel, threads = load(f"exchange_{name}"), 128
    out = output(torch, clusters * ctas, ROUNDS, threads)
    kernel(out=out)
    found = words(torch, out).reshape(clusters, ctas, ROUNDS, threads)
    value = torch.arange(threads, device="cuda").expand(ctas, threads)
    rank = torch.arange(ctas, device="cuda")[:, None]
    for turn in range(ROUNDS):
        value = mixed(value, rank, turn).sum(0, keepdim=True).expand(ctas, threads) & WORD
        assert torch.equal(found[:, :, turn], value.expand(clusters, ctas, threads)), turn


@pytest.mark.parametrize(("name", "ctas"), [("written_by_one", 1), ("written_by_two", 2), ("written_by_four", 4)])
@pytest.mark.parametrize("clusters", [1, 33, 200])
def test_values_that_the_cta_before_writes(torch: Any, load: Any, name: str, ctas: int, clusters: int) -> None:
    """Each round a thread writes its value into the next CTA of the cluster, and adds what it was given."""
    kernel = load(f"exchange_{name}")
    out = output(torch, clusters * ctas, ROUNDS)
    kernel(out=out)
    found = words(torch, out).reshape(clusters, ctas, ROUNDS)
    value, rank = torch.zeros(ctas, dtype=torch.int64, device="cuda"), torch.arange(ctas, device="cuda")
    for turn in range(ROUNDS):
        value = mixed(value, rank, turn)
        value = (value + value.roll(1)) & WORD
        assert torch.equal(found[:, :, turn], value.expand(clusters, ctas)), turn
