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


@pytest.mark.parametrize(("name", "output"), [("gathered", "y"), ("gathered_store", "out")])
def test_rows_gathered_by_cp_async(torch: Any, load: Any, name: str, output: str) -> None:
    """Rows arrive whole whether threads read them or, behind the reader's fence, TMA; where there is none, zeros do."""
    kernel = load(name)
    x = torch.randn(500, 64, device="cuda").to(torch.bfloat16)
    for count in (1, 63, 64, 65, 1000, 20000):
        index = torch.randint(-1, 500, (count,), device="cuda", dtype=torch.int32)
        found = torch.full((count, 64), float("nan"), device="cuda", dtype=torch.bfloat16)
        kernel(**{"x": x, "index": index, output: found})
        torch.cuda.synchronize()
        expected = torch.where((index >= 0)[:, None], x[index.clamp(min=0)], torch.zeros_like(found))
        assert torch.equal(found, expected), count


def test_weights_by_bulk_copies(torch: Any, load: Any) -> None:
    kernel = load("matvec")
    for rows, columns in ((8, 1024), (16, 4096), (8200, 2048)):
        weight = torch.randn(rows, columns, device="cuda").to(torch.bfloat16)
        x, y = torch.randn(columns, device="cuda"), torch.full((rows,), float("nan"), device="cuda")
        kernel(weight=weight, x=x, y=y)
        expected = weight.double() @ x.double()
        scale = weight.double().abs() @ x.double().abs()
        assert ((y.double() - expected).abs() <= 1e-5 * scale).all(), (rows, columns)


def test_mbarriers_of_the_components_own(torch: Any, load: Any) -> None:
    kernel = load("own_mbarriers")
    for rows, columns in ((1, 2048), (3, 4096), (500, 14336)):
        x = torch.randn(rows, columns, device="cuda")
        y = torch.full_like(x, float("nan"))
        kernel(x=x, y=y)
        assert torch.equal(y, 2 * x), (rows, columns)


def test_rotary_embedding_by_sines_that_need_stack(torch: Any, load: Any) -> None:
    """Angles up to 130,000: the sines' slow path, which works in local memory."""
    kernel = load("rope")
    for rows in (1, 7, 4096):
        x = torch.randn(rows, 128, device="cuda")
        position = torch.randint(0, 131072, (rows,), device="cuda", dtype=torch.int32)
        y = torch.full_like(x, float("nan"))
        kernel(x=x, y=y, position=position)
        # the angle as the kernel has it, in f32: its rounding is large against the sine's
        frequency = torch.exp2(torch.arange(64, device="cuda", dtype=torch.float32) * (-13.287712379549449 / 64))
        angle = (position.float()[:, None] * frequency).double()
        a, b = x.double().split(64, dim=1)
        expected = torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), dim=1)
        error = (y.double() - expected).abs()
        # exp2f may be off by a unit in the last place, in the kernel and here: 2^-22 of the angle
        allowed = 1e-6 + 2.0**-22 * angle.repeat(1, 2).abs()
        assert (error <= 3 * allowed * (a.abs() + b.abs()).repeat(1, 2)).all(), rows


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


def pages(torch: Any, count: int, salt: int) -> Any:
    return torch.randn(count, 1024, generator=torch.Generator("cuda").manual_seed(salt), device="cuda")


def test_readers_of_different_shapes(torch: Any, load: Any) -> None:
    """One warp sums while four take maxima through scratch memory and a named barrier."""
    kernel, x = load("different_readers"), pages(torch, 37, 1)
    total, best = (torch.full((37, 32), float("nan"), device="cuda") for _ in range(2))
    kernel(input=x, sum=total, maximum=best)
    grid = x.reshape(37, 32, 32)
    torch.testing.assert_close(total, grid.sum(1), rtol=1e-5, atol=1e-5)
    assert torch.equal(best, grid.amax(1))


def test_two_rings_of_the_same_components(torch: Any, load: Any) -> None:
    kernel, a, b = load("two_rings"), pages(torch, 21, 2), pages(torch, 21, 3)
    best_a, best_b = (torch.full((21, 32), float("nan"), device="cuda") for _ in range(2))
    kernel(input_a=a, input_b=b, maximum_a=best_a, maximum_b=best_b)
    assert torch.equal(best_a, a.reshape(21, 32, 32).amax(1))
    assert torch.equal(best_b, b.reshape(21, 32, 32).amax(1))


def test_a_trip_count_bound_at_link_time(torch: Any, load: Any) -> None:
    kernel, x = load("bound_value"), pages(torch, 8, 4)
    total = torch.full((8, 32), float("nan"), device="cuda")
    kernel(input=x, sum=total)
    torch.testing.assert_close(total[:6], x.reshape(8, 32, 32).sum(1)[:6], rtol=1e-5, atol=1e-5)
    assert bool(total[6:].isnan().all()), "six pages were bound, more were read"


def test_streams_of_work_items_end_and_may_be_empty(torch: Any, load: Any) -> None:
    kernel = load("work_items")
    counts = torch.tensor([0, 1, 2, 3, 4, 5, 9, 0, 100, 1000], dtype=torch.int32, device="cuda")
    total = torch.full_like(counts, -1)
    kernel(counts=counts, total=total)
    assert torch.equal(total, counts * (counts + 1))


@pytest.mark.parametrize("name", ["phases", "phases_of_a_warp"])
def test_roles_run_one_after_the_other_over_one_scratch_memory(torch: Any, load: Any, name: str) -> None:
    kernel = load(name)
    for rows in (1, 7, 3000):
        x = torch.randn(rows, 512, device="cuda")
        y, z = torch.full_like(x, float("nan")), torch.full_like(x, float("nan"))
        last = torch.full((rows,), float("nan"), device="cuda")
        kernel(x=x, y=y, z=z, last=last)
        assert torch.equal(y, x.roll(-5, 1)), rows
        assert torch.equal(z, x.roll(-500, 1)), rows
        assert torch.equal(last, x[:, 511]), rows


def test_a_ring_is_read_on_by_the_role_that_follows(torch: Any, load: Any) -> None:
    kernel, x = load("in_turns"), pages(torch, 11, 6)
    first, second = (torch.full((11, 32), float("nan"), device="cuda") for _ in range(2))
    kernel(input=x, first=first, second=second)
    expected = x.reshape(11, 32, 32).sum(1)
    torch.testing.assert_close(first[:5], expected[:5], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(second[:6], expected[5:], rtol=1e-5, atol=1e-5)


def test_state_survives_between_calls(torch: Any, load: Any) -> None:
    kernel = load("state")
    values = torch.randn(50, 32, generator=torch.Generator("cuda").manual_seed(5), device="cuda")
    means = torch.full_like(values, float("nan"))
    kernel(value=values, result=means)
    expected = values.cumsum(0) / torch.arange(1, 51, device="cuda")[:, None]
    torch.testing.assert_close(means, expected, rtol=1e-5, atol=1e-5)
