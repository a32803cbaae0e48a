"""What the device tests share: torch, the packages of prepare.py, and a visible skip without a device.

Runs with torch, cuda-bindings, numpy and pytest; no compiler is imported.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
PACKAGES = Path(os.environ.get("PIPELINK_GPU_PACKAGES", ROOT / "carry"))

from benchmarks import store  # noqa: E402
from benchmarks.machine_code import manifest  # noqa: E402
from pipelink import runtime  # noqa: E402  (the checkout's)


def missing() -> str | None:
    """Why no test of this folder can run, or None."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return "torch is not installed"
    if not torch.cuda.is_available():
        return "there is no CUDA device"
    if torch.cuda.get_device_capability(0)[0] != 9:
        return "device 0 is not a Hopper GPU"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    reason = missing() if here else None
    for item in here:
        item.add_marker(pytest.mark.gpu)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def torch() -> Any:
    return importlib.import_module("torch")


@pytest.fixture(scope="session")
def package() -> Callable[[str], Path]:
    """``package(name)``: the path of a package; skips where it was not carried along."""

    def find(name: str) -> Path:
        path = PACKAGES / f"{name}.plk"
        if not path.is_file():
            pytest.skip(f"{path} is missing: run test/gpu/prepare.py where the compilers are")
        return path

    return find


@pytest.fixture(scope="session")
def operator_kernels() -> Callable[[str], Path]:
    """``operator_kernels(files)``: the folder of the kernels of torch's operators; skips where it has none such."""

    def find(files: str) -> Path:
        folder = PACKAGES / "torch"
        if not list(folder.glob(files)):
            pytest.skip(f"{folder / files} is missing: run test/gpu/prepare.py where the compilers are")
        return folder

    return find


def machine(torch: Any) -> dict[str, str]:
    """The GPU and what it ran with, as results state it."""
    timing = importlib.import_module("benchmarks.timing")
    manifests = [manifest(path) for path in PACKAGES.glob("*.plk")]
    toolkits = {target["toolkit"] for found in manifests for target in found["targets"]}
    return {**timing.machine(), "toolkit": ", ".join(sorted(toolkits)), "date": store.now()}


@pytest.fixture(scope="session")
def record(torch: Any) -> Iterator[Callable[[str, dict[str, float]], None]]:
    """``record(kernel, relative errors by shape)``; merged into the file that PIPELINK_GPU_RESULTS names."""
    found: dict[str, dict[str, float]] = {}
    yield found.__setitem__
    output = os.environ.get("PIPELINK_GPU_RESULTS")
    if output and found:
        facts = {**machine(torch), "reference": "float64"}
        entries = {kernel: {"relative_error": errors, "with": facts} for kernel, errors in found.items()}
        store.add(Path(output), "correctness", entries)


@pytest.fixture(scope="session")
def record_hang(torch: Any) -> Iterator[Callable[[str, dict[str, object]], None]]:
    """``record_hang(kernel, seconds and message)``; merged into hangs.json beside the file of :func:`record`."""
    found: dict[str, dict[str, object]] = {}
    before = machine(torch)  # a kernel that traps takes the device away
    yield found.__setitem__
    output = os.environ.get("PIPELINK_GPU_RESULTS")
    if output and found:
        entries = {kernel: {**said, "with": {**before, "limit_s": 2.0}} for kernel, said in found.items()}
        store.add(Path(output).with_name("hangs.json"), "hangs", entries)


@pytest.fixture
def load(package: Callable[[str], Path]) -> Any:
    """``load(name)``: a fresh kernel, closed after the test."""
    loaded: list[runtime.Kernel] = []

    def make(name: str) -> runtime.Kernel:
        loaded.append(runtime.load(package(name)))
        return loaded[-1]

    yield make
    importlib.import_module("torch").cuda.synchronize()
    for kernel in loaded:
        kernel.close()
