"""Components alone between generated feeders and sinks (test/benches.py), linked by prepare.py and run here."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from pipelink import testing
from test.gpu.conftest import PACKAGES, ROOT


@pytest.fixture
def bench() -> Any:
    """``bench(name)``; skips where it was not carried along."""

    def find(name: str) -> testing.LinkedBench:
        path = PACKAGES / "bench" / f"{name}.bench"
        if not path.is_file():
            pytest.skip(f"{path} is missing: run test/gpu/prepare.py where the compilers are")
        return testing.load(path)

    return find


@pytest.mark.parametrize("name", ["doubler", "doubler_threads"])
def test_a_stream_in_and_out(torch: Any, bench: Any, name: str) -> None:
    doubler = bench(name)
    for count in (0, 1, 3, 50):
        x = np.random.default_rng(count).standard_normal((count, 32, 32), np.float32)
        assert np.array_equal(doubler.run(x=x, pages=count)["y"], 2 * x), count
    y = doubler.run(x=torch.ones(2, 32, 32, device="cuda"), pages=2)["y"]
    assert torch.equal(y, torch.full((2, 32, 32), 2.0))


def test_a_component_that_takes_what_never_comes(torch: Any, bench: Any) -> None:
    """In a process of its own: a kernel that hangs may take the device with it."""
    bench("doubler")
    script = (
        "import sys, numpy; from pathlib import Path; from pipelink import testing, LinkError\n"
        "try: testing.load(sys.argv[1]).run(x=numpy.zeros((3, 32, 32), 'f4'), pages=4)\n"
        "except LinkError as problem: print(problem.diagnostics[0].id, problem.diagnostics[0].message)\n"
    )
    command = [sys.executable, "-c", script, str(PACKAGES / "bench" / "doubler.bench")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert result.stdout.startswith("kernel-hang"), result.stdout + result.stderr


def test_calls_with_state(bench: Any) -> None:
    x = np.random.default_rng(1).standard_normal((6, 64), np.float32)
    order = ["reset", "add", "add", "add", "reset", "add", "add", "add"]
    got = bench("running_mean").run(call_order=order, add=x)["add"]
    means = np.concatenate([np.cumsum(part, 0) / np.arange(1, 4)[:, None] for part in (x[:3], x[3:])])
    np.testing.assert_allclose(got.result, means, rtol=1e-5, atol=1e-6)


def test_calls_that_are_answered(bench: Any) -> None:
    value = np.random.default_rng(2).standard_normal((5, 32), np.float32)
    answers = np.arange(5 * 32, dtype=np.float32).reshape(5, 32)
    got = bench("series").run(value=value, result=np.zeros_like(value), add=answers)
    assert np.array_equal(got["result"], answers)
    assert np.array_equal(got["add"].arguments[0], value)
    assert got["reset"].counts.tolist() == [1] * 32


def test_streams_of_structs_that_end(bench: Any) -> None:
    items = np.zeros(7, np.dtype([("value", "i4"), ("weight", "i4")]))
    items["value"], items["weight"] = np.arange(1, 8), 3
    got = bench("weigh").run(work=items, total=np.zeros(1, np.int32))
    assert got["total"].tolist() == [3 * 28]
    assert bench("weigh").run(work=items[:0], total=np.ones(1, np.int32))["total"].tolist() == [0]
    given = bench("items").run(counts=np.array([4], np.int32), work=10)["work"]
    assert given.reshape(-1).view(np.int32).reshape(-1, 2).tolist() == [[i, 2] for i in range(1, 5)]


def test_streams_within_a_stream(bench: Any) -> None:
    """The cookbook's: segments that end, in a stream that ends."""
    kind = np.dtype([("what", "i4"), ("number", "f4")])
    values, lengths = np.arange(1, 6, dtype=np.float32), np.array([2, 0, 3, 0], np.int32)
    expected = [(0, 1.0), (0, 2.0), (1, 0.0), (1, 0.0), (0, 3.0), (0, 4.0), (0, 5.0), (1, 0.0), (1, 0.0)]
    items = bench("segments").run(values=values, lengths=lengths, items=20)["items"].reshape(-1).view(kind)
    assert items.tolist() == expected
    assert bench("segment_sum").run(items=items)["sums"].tolist() == [3, 0, 12, 0]
    assert bench("segment_sum").run(items=items[:0])["sums"].tolist() == []
    out = bench("sum_writer").run(sums=values, out=np.zeros(6, np.float32))["out"]
    assert out.tolist() == [1, 2, 3, 4, 5, 0]


def test_scratch_memory_and_a_barrier(bench: Any) -> None:
    x = np.random.default_rng(3).standard_normal((9, 32, 32), np.float32)
    got = bench("column_max").run(x=x, maximum=np.zeros((9, 32), np.float32))
    assert np.array_equal(got["maximum"], x.max(1))


def test_swizzled_tiles(torch: Any, bench: Any) -> None:
    x = torch.randn(5, 64, 64).to(torch.bfloat16)
    got = bench("swizzled_reader").run(tiles=x, y=torch.zeros_like(x))
    assert torch.equal(got["y"], x)
    given = bench("swizzled_writer").run(x=x, tiles=10)["tiles"]
    assert torch.equal(given, x)


def test_bulk_copies(torch: Any, bench: Any) -> None:
    weight = torch.randn(16, 2048).to(torch.bfloat16)
    given = bench("weight_stream").run(weight=weight, w=4)["w"]
    expected = weight.reshape(2, 8, 2, 1024).transpose(1, 2).reshape(4, 8, 1024)
    assert torch.equal(given, expected)


def test_tokens(bench: Any) -> None:
    got = bench("turn").run(mine=5, other=5, order=np.zeros(10, np.int32), who=7)
    assert got["order"].tolist() == [7] * 5 + [0] * 5


def scattered(torch: Any, called: Any, rows: int, columns: int) -> Any:
    """The matrix of which calls with ``(chunk, row, col)`` give chunks of 16 x 64 for a warp."""
    values, row, col = called.arguments
    found = torch.full((rows, columns), float("nan"))
    lane, index = torch.arange(values.shape[1]) % 32, torch.arange(32)
    inner = lane[:, None] // 4 + 8 * (index // 2 % 2)
    across = 8 * (index // 4) + 2 * (lane[:, None] % 4) + index % 2
    found[(row[..., None] + inner).long(), (col[..., None] + across).long()] = values
    return found


def test_a_mainloop_alone(torch: Any, bench: Any) -> None:
    """wgmma out of a ring that the bench fills, with its tiles and its chunks in the test's hands."""
    a, b = (torch.randn(4, 128, 64).to(torch.bfloat16) for _ in range(2))
    work = torch.tensor([[0, 0, 1], [0, 0, 0]], dtype=torch.int32)
    got = bench("mainloop").run(ab=(a, b), work=work, k_tiles=4)
    assert got["work"].arguments[0][:, 0].tolist() == [0, 1]
    found = scattered(torch, got["store"], 128, 128)
    expected = torch.einsum("kmi,kni->mn", a.double(), b.double())
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-3)


def test_an_epilogue_alone(torch: Any, bench: Any) -> None:
    chunk = torch.randn(2, 32, 32)
    bias = torch.randn(64).to(torch.bfloat16)
    row = [0, 16]
    out = torch.zeros(32, 64, dtype=torch.bfloat16)
    got = bench("bias_relu").run(store=(chunk, row, [0, 0]), bias=bias, out=out)
    where = testing.Called(None, (chunk, torch.tensor(row)[:, None], torch.zeros(2, 1)), None)
    expected = (scattered(torch, where, 32, 64) + bias.float()).clamp(min=0).to(torch.bfloat16)
    assert torch.equal(got["out"], expected)


def test_a_scheduler_alone(bench: Any) -> None:
    got = bench("static_tiles").run(next=np.arange(5, dtype=np.int32), m_tiles=2, n_tiles=2)["next"]
    assert (got.result[:, 0, :2] == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]).all()
    assert (got.result[:, 0, 2] & 1).tolist() == [1, 1, 1, 1, 0]


def test_an_answer_that_fills_a_ring(torch: Any, bench: Any) -> None:
    """Eight warps call; what they hand on is read as the ring holds it."""
    chunk = torch.randn(1, 256, 32)
    row = (torch.arange(256) // 32 * 16)[None].int()
    got = bench("staged_store").run(store=(chunk, row, [0]), blocks=1)
    tile, places = got["blocks"]
    assert tile.shape[0] == 1
    assert places.shape == (1, 64)
    where = testing.Called(None, (chunk, row, torch.zeros(1, 256)), None)
    expected = scattered(torch, where, 128, 64).to(torch.bfloat16)
    # which of the eight blocks a warp fills goes by its number in the CTA, so what says where each belongs decides
    for block, first in zip(tile.reshape(8, 16, 64), places.view(torch.int32)[0, :8].tolist(), strict=True):
        assert torch.equal(block, expected[first : first + 16]), first


def test_the_examples(torch: Any) -> None:
    """The tests that stand in examples, where the compilers are as well."""
    pytest.importorskip("mlir.ir")
    folders = [ROOT / "examples" / name for name in ("component_test", "nested_streams")]
    result = subprocess.run([sys.executable, "-m", "pytest", "-q", *folders], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
