"""Hostile arguments: whatever a call is given, it raises LinkError or starts the kernel, with the same parameters
whether the launch contract is compiled or checked part by part.

Arguments know what is expected: mostly tensors that nearly fit, of torch, of the CUDA array interface and of DLPack,
and numbers at the ends of ranges; some are of strangers' classes, which raise or lie.  Driver and torch are stand-ins.
Deterministic: the input is a function of (seed, index).
"""

from __future__ import annotations

import ctypes
import random
import sys
import time
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.launch import Device, Tensor, stand_ins  # noqa: E402
from pipelink.package import PackageImage, package_bytes  # noqa: E402
from pipelink.runtime import driver  # noqa: E402
from pipelink.runtime.kernel import Kernel  # noqa: E402
from pipelink.runtime.package import read  # noqa: E402
from pipelink.support.diagnostics import LinkError  # noqa: E402

SECONDS = 5.0  # that one call may take
NUMBERS: tuple[Any, ...] = (
    *(0, 1, 2, 3, 8, -1, 127, 255, 256, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, -(2**63), 10**400, 10**5000),
    *(0.0, -0.0, 0.5, 1e-45, 3.4e38, 3.5e38, 1e308, float("inf"), float("nan"), True, False, None, "8", b"8", "", 1j),
)  # fmt: skip
EXTENTS = (0, 1, 2, 3, 7, 8, 60, 64, 128, 256, 1000, 2**20, 2**32, 2**40, 2**62, 2**63)
ADDRESSES = (0, 1, 2, 4, 8, 16, 4096, 4100, 4104, 2**48, 2**63, 2**64 - 16, 2**64, -16)
LAUNCH: dict[str, Any] = {
    "kernel": "mix",
    "arguments": [
        {"name": "a", "kind": "tensor", "element": "f16", "shape": ["M", "K"]},
        {"name": "b", "kind": "tensor", "element": "f32", "shape": ["2 * M", "tiles", "4"], "access": "readwrite"},
        {"name": "out", "kind": "tensor", "element": "f32", "shape": ["M", "K"], "access": "write", "align": 16},
        {"name": "alpha", "kind": "scalar", "type": "f32"},
        {"name": "small", "kind": "scalar", "type": "u8"},
        {"name": "large", "kind": "scalar", "type": "i64"},
        {"name": "half", "kind": "scalar", "type": "f16"},
    ],
    "dimensions": ["M", "K", "steps"],
    "derived": [{"name": "tiles", "value": "ceildiv(M, 64)"}, {"name": "power", "value": "large * large + steps"}],
    "grid": ["tiles * steps", "1"],
    "threads": 128,
    "smem_bytes": 0,
    "workspaces": [{"name": "flags", "bytes": "tiles * K", "init": "none"}],
    "parameters": {
        "bytes": 256,
        "fields": [
            {"name": "a", "offset": 0, "bytes": 128, "kind": "tensor_map", "tensor": "a", "element": "f16",
             "box": [8]},
            {"name": "b", "offset": 128, "bytes": 8, "kind": "pointer", "tensor": "b"},
            {"name": "out", "offset": 136, "bytes": 8, "kind": "pointer", "tensor": "out", "align": 16},
            {"name": "flags", "offset": 144, "bytes": 8, "kind": "workspace", "workspace": "flags"},
            {"name": "ld", "offset": 152, "bytes": 4, "kind": "value", "type": "i32", "value": "stride(out, 0)"},
            {"name": "alpha", "offset": 156, "bytes": 4, "kind": "value", "type": "f32", "value": "alpha"},
            {"name": "power", "offset": 160, "bytes": 8, "kind": "value", "type": "i64", "value": "power"},
            {"name": "half", "offset": 168, "bytes": 2, "kind": "value", "type": "f16", "value": "half"},
            {"name": "small", "offset": 170, "bytes": 1, "kind": "value", "type": "u8", "value": "small"},
        ],
    },
}  # fmt: skip


class Raising:
    """Whatever is asked of it, it raises."""

    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(name)

    def __repr__(self) -> str:
        raise ZeroDivisionError

    __index__ = __float__ = __len__ = __iter__ = __call__ = __repr__  # type: ignore[assignment]


class Lying(Tensor):
    """A tensor of torch with any dtype, strides and device."""

    def __init__(self, address: int, shape: Any, strides: Any, dtype: str, device: Any) -> None:
        super().__init__(address, *shape)
        self._strides, self.dtype, self.device = strides, dtype, device

    def stride(self) -> Any:
        return self._strides


def tensor(name: str, sizes: dict[str, int], rng: random.Random) -> Any:
    """A tensor argument: one that fits, then perhaps changed in one way or two."""
    m, k = sizes["M"], sizes["K"]
    shape = {"a": [m, k], "b": [2 * m, -(-m // 64), 4], "out": [m, k]}[name]
    element = "f16" if name == "a" else "f32"
    strides, step = [0] * len(shape), 1
    for axis in range(len(shape) - 1, -1, -1):
        strides[axis], step = step, step * max(shape[axis], 1)
    address = 4096
    for _ in range(rng.choice((0, 0, 0, 0, 0, 1, 1, 2))):
        axis = rng.randrange(len(shape)) if shape else 0
        match rng.randrange(6):
            case 0 if shape:
                shape[axis] = rng.choice(EXTENTS)
            case 1 if strides:
                strides[axis % len(strides)] = rng.choice((0, 1, -1, 2, 3, 8, 64, 256, 640, 2**31, 2**40, 2**63))
            case 2:
                address = rng.choice(ADDRESSES)
            case 3:
                element = rng.choice(("bf16", "f16", "f32", "i32", "e4m3", "strange"))
            case 4 if shape:
                shape.pop(axis)
            case _:
                strides.append(1)
    kind = rng.choices(("torch", "array", "other"), (65, 34, 1))[0]
    if kind == "torch":
        dtype = {"bf16": "torch.bfloat16", "f16": "torch.float16", "f32": "torch.float32"}.get(element, element)
        device = rng.choices((Device(), Device("cpu"), Device("cuda", None), Device("cuda", 7)), (97, 1, 1, 1))[0]
        strides = [stride % 2**40 for stride in strides[: len(shape)]] + [1] * (len(shape) - len(strides))
        return Lying(address % 2**64, tuple(e % 2**62 for e in shape), tuple(strides), dtype, device)
    if kind == "array":
        size = {"f16": 2, "bf16": 2, "e4m3": 1}.get(element, 4)
        interface: dict[str, Any] = {
            "data": (address, rng.random() < 0.05), "shape": tuple(shape), "typestr": f"<f{size}", "version": 3,
            "strides": rng.choice((None, tuple(stride * size for stride in strides))),
        }  # fmt: skip
        for _ in range(rng.choice((0, 0, 0, 0, 0, 0, 1, 2))):
            key = rng.choice((*interface, "mask", "stream"))
            interface[key] = rng.choice((*NUMBERS, (), ("x",), [1], (4096,), Raising()))
        return SimpleNamespace(__cuda_array_interface__=interface)
    return rng.choice(
        (
            None, 5, "x", [1, 2], Raising(), SimpleNamespace(__cuda_array_interface__=Raising()),
            SimpleNamespace(__dlpack__=lambda **_: object(), __dlpack_device__=lambda: (2, 0)),
            SimpleNamespace(__dlpack__=Raising(), __dlpack_device__=lambda: (2, 0)),
            SimpleNamespace(__dlpack__=Raising(), __dlpack_device__=lambda: rng.choice(NUMBERS)),
        )
    )  # fmt: skip


def make(seed: int, index: int) -> dict[str, Any]:
    """The arguments of an index."""
    rng = random.Random(f"{seed}/{index}")
    sizes = {"M": rng.choice((0, 1, 64, 128, 100)), "K": rng.choice((0, 8, 64, 256, 7))}
    given: dict[str, Any] = {name: tensor(name, sizes, rng) for name in ("a", "b", "out")}
    given |= {"alpha": 0.5, "small": 3, "large": 5, "half": 1, "steps": 2}
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        given[rng.choice(("alpha", "small", "large", "half", "steps", "M", "a", "x"))] = rng.choice(
            (*NUMBERS, Raising())
        )
    if rng.random() < 0.1:
        given["stream"] = rng.choice((*NUMBERS, Raising(), SimpleNamespace(__cuda_stream__=rng.choice(NUMBERS))))
    if rng.random() < 0.05:
        given.pop(rng.choice(list(given)))
    return given


def outcome(kernel: Kernel, given: dict[str, Any], started: list[int]) -> tuple[str, ...]:
    """What a call came to: the ids of an error, the parameters of a launch, or nothing."""
    started.clear()
    try:
        kernel(**given)
    except LinkError as problem:
        str(problem).encode()
        return ("refused", *(item.id for item in problem.diagnostics))
    if not started:
        return ("nothing",)
    start = ctypes.c_uint64.from_address(started[-1]).value
    return ("launched", ctypes.string_at(start, 256).hex())


@cache
def devices() -> tuple[Any, Any, list[int]]:
    """What stands in for the driver and for torch, and the addresses of the parameters of launches."""
    cuda, torch = stand_ins()
    started: list[int] = []
    cuda.cuMemAlloc = lambda _size: (0, 0x7000)
    cuda.cuLaunchKernelEx = lambda _config, _function, address, _extra: (started.append(address), (0,))[1]
    cuda.cuPointerGetAttribute = lambda *_arguments: (0, 0)
    for name in ("cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy"):
        setattr(cuda, name, lambda *_arguments: (0,))
    cuda.cuEventCreate = lambda *_arguments: (0, 1)
    return cuda, torch, started


@cache
def kernels() -> tuple[Kernel, Kernel]:
    """The kernel whose contract is compiled, and the one that is checked part by part."""
    package = read(package_bytes("mix", [PackageImage("sm_90a", b"cubin", LAUNCH, 32, "13.0")]))
    compiled, checked = Kernel(package.kernels[0]), Kernel(package.kernels[0])
    checked._compiled = lambda *_arguments: None  # type: ignore[method-assign]
    return compiled, checked


def attempt(seed: int, index: int) -> str | None:
    """Try one call; what went wrong, or None."""
    cuda, torch, started = devices()
    given, start = make(seed, index), time.monotonic()
    kept = driver.cuda, sys.modules.get("torch")
    driver.cuda = lambda: cuda  # type: ignore[assignment]
    sys.modules["torch"] = torch
    try:
        found = [outcome(kernel, given, started) for kernel in kernels()]
    finally:
        driver.cuda = kept[0]
        sys.modules.pop("torch")
        if kept[1] is not None:
            sys.modules["torch"] = kept[1]
    taken = time.monotonic() - start
    if found[0] != found[1]:
        return f"{found[0]} compiled, {found[1]} checked"
    return f"took {taken:.1f} s" if taken > SECONDS else None
