"""Transfers that the GEMMs do not use, and two instances of one large object."""

from typing import Any

import pytest

STEPS = (1, 2, 3, 7, 50)


def numbers(torch: Any, steps: int) -> Any:
    count = steps * 64 * 64
    return (torch.arange(count, device="cuda") % 251 - 125).to(torch.bfloat16).reshape(steps, 64, 64)


@pytest.mark.parametrize("name", ["ring_plain_plain", "ring_swizzled_swizzled", "ring_plain_swizzled"])
def test_rings_filled_by_threads(torch: Any, load: Any, name: str) -> None:
    """Every slot arrives whole and in order, also where the layout is converted; the stream's end is seen."""
    kernel = load(name)
    for steps in STEPS:
        x = numbers(torch, steps)
        y = torch.full_like(x, float("nan"))
        kernel(x=x, y=y)
        torch.cuda.synchronize()
        assert torch.equal(x, y), steps


def test_two_readers_of_one_ring(torch: Any, load: Any) -> None:
    kernel = load("ring_two_readers")
    for steps in STEPS:
        x = numbers(torch, steps)
        y, z = torch.full_like(x, float("nan")), torch.full_like(x, float("nan"))
        kernel(x=x, y=y, z=z)
        torch.cuda.synchronize()
        assert torch.equal(x, y)
        assert torch.equal(x, z)


def test_swizzled_buffers_behind_memory_of_an_odd_size(torch: Any, load: Any) -> None:
    kernel = load("ring_behind_odd")
    x, seen = numbers(torch, 50), torch.zeros(1, dtype=torch.int32, device="cuda")
    y = torch.full_like(x, float("nan"))
    kernel(x=x, y=y, seen=seen)
    torch.cuda.synchronize()
    assert torch.equal(x, y)
    assert int(seen[0]) == 0


def test_tokens_make_two_roles_take_turns(torch: Any, load: Any) -> None:
    kernel = load("turns")
    order = torch.zeros(2000, dtype=torch.int32, device="cuda")
    kernel(order=order)
    assert order.tolist() == [1, 2] * 1000


def test_two_instances_of_a_large_object(torch: Any, load: Any) -> None:
    """7,000 instructions of which each instance is half; constants, shared memory, barriers and state of their own."""
    kernel = load("twice")
    count = 3000
    out = torch.zeros(count, dtype=torch.int32, device="cuda").view(torch.uint32)
    kernel(out=out)
    found = [value & 0xFFFFFFFF for value in out.view(torch.int32).tolist()]

    def scramble(x: int, salt: int) -> int:
        start, lane = x, x % 128
        for i in range(1200):
            x = ((x ^ x >> 7) * 1664525 + (i ^ salt)) & 0xFFFFFFFF
        return x + (lane & 63) * salt + start

    for i in (0, 1, 63, 64, 127, 128, 1000, count - 129):
        assert found[i] == (scramble(i, 3) + scramble(i, 5)) & 0xFFFFFFFF, i
