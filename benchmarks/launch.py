"""What a launch costs the host.

    python benchmarks/launch.py PACKAGE [--gpu] [--output benchmarks/results/launch.json]

PACKAGE is a linked GEMM that takes ``a`` of [M, K], ``b`` of [N, K], ``out`` of [M, N] and perhaps ``bias`` of [N], as
``make demo`` writes build/gemm.plk.  Prints the median time of a call, in microseconds: with a shape that was launched
before, and with one that was not (another M at every call, as decoding has it).  With ``--gpu`` tensors are torch's, on
a device, and ``torch.mm`` is called with the same shapes; without it, tensors and driver are stand-ins, and what is
left is the runtime's own work.  ``--output`` merges the result into a JSON file, which keeps the other mode's.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from cuda.bindings import driver as bindings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pipelink import runtime  # noqa: E402
from pipelink.runtime import driver  # noqa: E402

N, K = 512, 512  # small, so that the device is never what is waited for
STEPS = 64  # calls between synchronisations: fewer than a stream holds


class Device(NamedTuple):
    """What the runtime reads of a torch device."""

    type: str = "cuda"
    index: int = 0


class Tensor:
    """What the runtime reads of a torch tensor: bf16, row-major, on device 0."""

    device = Device()
    dtype = "torch.bfloat16"

    def __init__(self, address: int, *shape: int) -> None:
        self.address, self.shape = address, shape

    def data_ptr(self) -> int:
        return self.address

    def stride(self) -> tuple[int, ...]:
        return (self.shape[1], 1) if len(self.shape) == 2 else (1,)


def stand_ins() -> tuple[Any, Any]:
    """What stands in for ``cuda.bindings.driver``, with a Hopper GPU, and for torch.

    Of the bindings everything is the real one, but for the functions that call libcuda."""
    found = {name: getattr(bindings, name) for name in dir(bindings) if not name.startswith("__")}
    capability = {"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR": 9, "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR": 0}
    attributes = {
        **capability,
        "CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT": 132,
        "CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448,
        "CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK": 1024,
    }
    success, encoded = bindings.CUresult.CUDA_SUCCESS, bindings.CUtensorMap()

    def returns(*values: Any) -> Callable[..., Any]:
        return lambda *_arguments: (success, *values)

    found |= {
        "cuCtxGetCurrent": returns(bindings.CUcontext(1)),
        "cuDeviceGet": returns(0),
        "cuDeviceGetCount": returns(1),
        "cuDeviceGetAttribute": lambda attribute, _device: (success, attributes[attribute.name]),
        "cuDevicePrimaryCtxRetain": returns(bindings.CUcontext(1)),
        "cuFuncGetAttribute": returns(0),
        "cuFuncSetAttribute": returns(),
        "cuLaunchKernelEx": returns(),
        "cuModuleGetFunction": returns(bindings.CUfunction(1)),
        "cuModuleLoadData": returns(bindings.CUmodule(1)),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor": returns(1),
        "cuStreamGetCaptureInfo": returns(bindings.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE, 0),
        "cuTensorMapEncodeTiled": returns(encoded),
    }
    stream = SimpleNamespace(cuda_stream=0)
    torch = SimpleNamespace(Tensor=Tensor, cuda=SimpleNamespace(current_stream=lambda _device: stream))
    return SimpleNamespace(**found), torch


def without_a_gpu() -> tuple[Any, Callable[..., Tensor], Callable[[], None]]:
    """As :func:`on_a_gpu`, with stand-ins."""
    cuda, torch = stand_ins()
    driver.cuda = lambda: cuda  # type: ignore[assignment]
    sys.modules["torch"] = torch
    return torch, lambda *shape: Tensor(len(shape) << 30, *shape), lambda: None


def on_a_gpu() -> tuple[Any, Callable[..., Any], Callable[[], None]]:
    """torch, a maker of tensors that begin where the others of their rank do, a synchronisation."""
    import torch

    buffers = {rank: torch.zeros(1 << 26, dtype=torch.bfloat16, device="cuda") for rank in (1, 2)}

    def tensor(*shape: int) -> Any:
        count = 1
        for extent in shape:
            count *= extent
        return buffers[len(shape)][:count].view(*shape)

    return torch, tensor, torch.cuda.synchronize


def microseconds(calls: Sequence[Callable[[], object]], synchronize: Callable[[], None]) -> float:
    """The median time of a call."""
    taken: list[int] = []
    gc.collect()
    gc.disable()
    for number, call in enumerate(calls):
        if number % STEPS == 0:
            synchronize()
        start = time.perf_counter_ns()
        call()
        taken.append(time.perf_counter_ns() - start)
    gc.enable()
    synchronize()
    return round(statistics.median(taken) / 1e3, 2)


def measure(package: Path, count: int, *, gpu: bool) -> dict[str, float]:
    """Microseconds of each kind of call, ``count`` of it."""
    torch, tensor, synchronize = on_a_gpu() if gpu else without_a_gpu()
    kernel = runtime.load(package)
    names = list(kernel.contract.tensors)
    b, bias = tensor(N, K), tensor(N)

    def arguments(m: int) -> dict[str, Any]:
        given = {"a": tensor(m, K), "b": b, "out": tensor(m, N), "bias": bias}
        return {name: given[name] for name in names}

    def launches(shapes: Sequence[int]) -> list[Callable[[], object]]:
        return [partial(kernel, **arguments(m)) for m in shapes]

    microseconds(launches([1] * STEPS), synchronize)  # loads the code
    found = {
        "known_us": microseconds(launches([1] * count), synchronize),
        "new_us": microseconds(launches(range(2, count + 2)), synchronize),
    }
    if gpu:
        turned = b.T

        def products(shapes: Sequence[int]) -> list[Callable[[], object]]:
            return [partial(torch.mm, tensor(m, K), turned, out=tensor(m, N)) for m in shapes]

        microseconds(products([1] * STEPS), synchronize)
        found["torch_mm_known_us"] = microseconds(products([1] * count), synchronize)
        found["torch_mm_new_us"] = microseconds(products(range(2, count + 2)), synchronize)
    return found


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path, help="a linked GEMM")
    parser.add_argument("--gpu", action="store_true", help="launch on device 0, and compare with torch.mm")
    parser.add_argument("--calls", type=int, default=2000, help="calls of each kind [2000]")
    parser.add_argument("--output", type=Path, help="JSON file to merge the result into")
    given = parser.parse_args()
    found: dict[str, Any] = dict(measure(given.package, given.calls, gpu=given.gpu))
    for name, value in found.items():
        print(f"{name.removesuffix('_us').replace('_', ' '):<16} {value:8.2f} µs")
    if given.output:
        found |= {"calls": given.calls, "shape": [N, K], "cpu": processor(), "python": platform.python_version()}
        if given.gpu:
            import torch

            found |= {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
        results = json.loads(given.output.read_text()) if given.output.exists() else {"benchmark": "launch"}
        results["gpu" if given.gpu else "stand_in"] = found
        given.output.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
