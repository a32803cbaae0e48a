"""Warpgroups of one role take turns: in the order of their numbers, and each sees what those before it did."""

from typing import Any

import pytest

ROUNDS = 2000
WORD = 0xFFFFFFFF


def mixed(value: Any, warpgroup: int, turn: int) -> Any:
    """What a warpgroup makes of the value that it finds, in 64-bit integers of which the lower half counts."""
    return ((value ^ value >> 15) * 2654435761 + warpgroup * 40503 + turn) & WORD


@pytest.mark.parametrize(("name", "warpgroups"), [("two_in_turn", 2), ("three_in_turn", 3), ("four_in_turn", 4)])
@pytest.mark.parametrize("ctas", [1, 132, 1000])
def test_warpgroups_in_their_order(torch: Any, load: Any, name: str, warpgroups: int, ctas: int) -> None:
    """Two turns a round.  In the first, each thread changes a value that all warpgroups share, in a way that depends on
    the order, and leaves it in shared memory; in the second, all find there what the last one left.  Launched again,
    since the barriers have to be as they were."""
    kernel, threads, device = load(name), 128, "cuda"
    first = torch.arange(ctas * threads, dtype=torch.int32, device=device).reshape(ctas, threads)
    values = first.clone().view(torch.uint32)
    value = first.long()
    for _ in range(2):
        seen = torch.zeros(ctas, ROUNDS, threads * warpgroups, dtype=torch.int32, device=device).view(torch.uint32)
        kernel(values=values, seen=seen)
        found = (seen.view(torch.int32).long() & WORD).reshape(ctas, ROUNDS, warpgroups, threads)
        neighbour = torch.arange(threads, device=device) ^ 96
        for turn in range(ROUNDS):
            for warpgroup in range(warpgroups):
                value = mixed(value, warpgroup, turn)
            assert torch.equal(found[:, turn], value[:, None, neighbour].expand(-1, warpgroups, -1)), turn
        assert torch.equal(values.view(torch.int32).long() & WORD, value)
