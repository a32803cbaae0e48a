"""Operands and references of the attention benchmarks, on the host: what is right passes, and each fault is seen."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.families.attention import ATTENTION, CONFIGURATIONS, Attention

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from benchmarks.families import attention_problem  # noqa: E402
from benchmarks.families.attention_problem import AttentionProblem  # noqa: E402


@pytest.fixture(autouse=True)
def on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_problem, "DEVICE", "cpu")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(multi_processor_count=132))


def launch(problem: AttentionProblem) -> None:
    """Stands in for a kernel: float32 scores, weights of V's type, all rows."""
    rows = torch.arange(problem.queries)
    for batch in range(problem.batches):
        for head in range(problem.heads):
            o, lse = problem._reference(batch, head, rows, rounded=True)
            problem.results["o"][batch, :, head] = o
            if "lse" in problem.results:
                problem.results["lse"][batch, head] = lse


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda c: c.name)
def test_each_configuration(configuration: Attention) -> None:
    for shape in ATTENTION.tails:
        problem: Any = configuration.problem(shape)
        with pytest.raises(AssertionError):
            problem.check()
        launch(problem)
        assert problem.check() < 1e-2
        every = (problem.batches, problem.heads, problem.queries, problem.keys)
        pairs = math.prod(every) if problem.keep is None else int(problem.keep.expand(every).sum())
        assert problem.work == pytest.approx(4e-12 * pairs * configuration.dimension)
        tensors = [value for value in problem.arguments().values() if isinstance(value, torch.Tensor)]
        assert all(tensor.numel() for tensor in tensors)
        first, second = problem.rotation(2)
        assert second["k"].data_ptr() != first["k"].data_ptr()
        assert torch.equal(second["k"].isnan(), first["k"].isnan())


@pytest.mark.parametrize("fault", ["block", "row", "rest", "guard", "sum", "scaled"])
def test_faults_are_seen(fault: str) -> None:
    configuration = Attention("causal", 64, output="lse")
    problem: Any = configuration.problem((1, 2, 1, 130, 300))
    launch(problem)
    problem.check()
    o, lse = problem.results["o"], problem.results["lse"]
    if fault == "block":  # of keys, for one head
        problem.k[:, 128:256] = 0
        expected, _ = problem._reference(0, 1, torch.arange(130), rounded=True)
        o[0, :, 1] = expected
        problem.k[:, 128:256] = torch.randn(problem.k[:, 128:256].shape)
    elif fault == "row":
        o[0, 77, 1] *= 1.1
    elif fault == "rest":
        o[0, 129, 0, 63] = float("nan")
    elif fault == "guard":
        problem.buffers[0][0, 1, 0, 0] = 1
    elif fault == "sum":
        lse[0, 1, 5] += 0.01
    else:
        o *= 1.02
    with pytest.raises(AssertionError):
        problem.check()


def test_pages_hold_the_keys() -> None:
    configuration = Attention("paged-causal", 128, page=64)
    problem: Any = configuration.problem((3, 2, 1, 70, 200))
    given = problem.arguments()
    for (batch, begin, length), pages in zip(problem.sequences, given["block_table"].tolist(), strict=True):
        for key in range(length):
            for name in ("k", "v"):
                own = getattr(problem, name)[batch, begin + key]
                assert torch.equal(given[name][pages[key // 64], key % 64], own)
    assert given["k"].isnan().any()
    assert given["seqused_k"].tolist() == [200, 133, 66]
    assert given["cu_seqlens_q"].tolist() == [0, 70, 116, 139]
