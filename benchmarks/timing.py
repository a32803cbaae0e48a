"""Paired, interleaved timing of GEMM kernels against cuBLAS on one GPU.

The card's clock drifts with heat and power, so a time alone means little: each sample of a kernel is taken next to a
sample of its reference, in alternating order, and only the ratio of the two is used.  A sample is a batch of launches
between two events; the 95% interval of the median ratio is bootstrapped over the pairs.
Needs torch and cuda-bindings, nothing of PipeLink.
"""

from __future__ import annotations

import ctypes
import random
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from cuda.bindings import driver

SHAPES = ((4096, 4096, 4096), (8192, 8192, 8192), (4096, 14336, 4096), (16384, 1024, 4096))  # M, N, K


def check(result):
    """The value of a driver call; raises RuntimeError when it failed."""
    if result[0] != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(result[0]))
    return result[1] if len(result) == 2 else result[1:]


def tensor_map(tensor: torch.Tensor, rows: int, cols: int, promotion: int = 256) -> bytes:
    """A 2-D bf16 tensor map with a box of rows x cols and the 128-byte swizzle; promotion is that of L2 in bytes."""
    height, width = tensor.shape
    promotions = driver.CUtensorMapL2promotion
    encoded = check(
        driver.cuTensorMapEncodeTiled(
            driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            2,
            tensor.data_ptr(),
            [driver.cuuint64_t(width), driver.cuuint64_t(height)],
            [driver.cuuint64_t(tensor.stride(0) * 2)],
            [driver.cuuint32_t(cols), driver.cuuint32_t(rows)],
            [driver.cuuint32_t(1), driver.cuuint32_t(1)],
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
            {
                0: promotions.CU_TENSOR_MAP_L2_PROMOTION_NONE,
                128: promotions.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                256: promotions.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            }[promotion],
            driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    )
    return b"".join(int(word).to_bytes(8, "little") for word in encoded.opaque)


@dataclass
class Arguments:
    """Kernel arguments kept alive for the driver: bytes (aligned blocks), ctypes values."""

    values: list

    def __post_init__(self) -> None:
        self._blocks = [ctypes.create_string_buffer(v, len(v)) if isinstance(v, bytes) else v for v in self.values]
        self.array = (ctypes.c_void_p * len(self._blocks))(*[ctypes.addressof(b) for b in self._blocks])


def load_function(path: Path, name: str, smem: int):
    """The named kernel of a cubin, allowed smem bytes of dynamic shared memory."""
    module = check(driver.cuModuleLoadData(path.read_bytes()))
    function = check(driver.cuModuleGetFunction(module, name.encode()))
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    check(driver.cuFuncSetAttribute(function, attribute, smem))
    return function


def launcher(function, grid: int, threads: int, smem: int, arguments: Arguments) -> Callable[[], None]:
    """A call that launches the kernel on torch's current stream."""
    stream = torch.cuda.current_stream().cuda_stream
    array = ctypes.addressof(arguments.array)

    def launch() -> None:
        check((driver.cuLaunchKernel(function, grid, 1, 1, threads, 1, 1, smem, stream, array, 0)[0], None))

    launch.keep = arguments  # type: ignore[attr-defined]
    return launch


def sample(launch: Callable[[], None], launches: int):
    """Events around a batch of launches."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(launches):
        launch()
    end.record()
    return begin, end, launches


def milliseconds(events) -> float:
    """Time of one launch in a finished sample."""
    begin, end, launches = events
    return begin.elapsed_time(end) / launches


def paired(pairs: dict[str, tuple[Callable[[], None], Callable[[], None]]], rounds: int, launches: int, seed: int = 0):
    """Time pairs (reference, kernel), all interleaved.

    Returns name -> (list of reference ms, list of kernel ms), one entry per round.
    """
    order = random.Random(seed)
    for reference, kernel in pairs.values():
        sample(reference, 2)
        sample(kernel, 2)
    torch.cuda.synchronize()
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in pairs}
    for index in range(rounds):
        names = list(pairs)
        order.shuffle(names)
        taken = []
        for position, name in enumerate(names):
            reference, kernel = pairs[name]
            if (index + position) % 2:
                second = sample(kernel, launches)
                first = sample(reference, launches)
            else:
                first = sample(reference, launches)
                second = sample(kernel, launches)
            taken.append((name, first, second))
        torch.cuda.synchronize()
        for name, first, second in taken:
            times[name][0].append(milliseconds(first))
            times[name][1].append(milliseconds(second))
    return times


def interval(ratios: list[float], resamples: int = 1000, seed: int = 0) -> tuple[float, float, float]:
    """Median of the ratios and its bootstrapped 95% interval."""
    draw = random.Random(seed)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(resamples))
    return statistics.median(ratios), medians[int(resamples * 0.025)], medians[int(resamples * 0.975)]


def driver_version() -> str:
    """The kernel driver's version, such as ``580.159.04``; ``unknown`` if nvidia-smi is missing."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def machine() -> dict[str, str]:
    """The GPU and what it runs with, as results state it."""
    return {"gpu": torch.cuda.get_device_name(0), "driver": driver_version(), "torch": torch.__version__}
