"""The synthetic kernel of the placement benchmark, at the size that a test can afford."""

import importlib.util
from pathlib import Path
from types import ModuleType

_FILE = Path(__file__).resolve().parents[3] / "benchmarks" / "placement.py"


def _benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("placement_benchmark", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_hundred_instances_are_near_the_bound_within_a_second_of_work() -> None:
    benchmark = _benchmark()
    benchmark.measure(8)  # imports
    found = benchmark.measure(100)
    assert found["value"] >= 0.97 * found["bound"]
    assert found["smem_bytes"] <= 1.02 * found["smem_bound"]
    assert found["work"] < 1  # not by the clock: tests share the machine


def test_the_same_kernel_is_placed_alike() -> None:
    benchmark = _benchmark()
    results = [benchmark.measure(40) for _ in range(2)]
    times = {"seconds": 0, "work": 0}
    assert results[0] | times == results[1] | times
