"""A CUDA driver of our own with two devices, for what a launch decides before it asks the real one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pipelink import runtime
from pipelink.package import PackageImage, package_bytes
from pipelink.runtime import driver
from pipelink.runtime.kernel import Kernel

MEMORY = 1 << 40  # bytes of address space that each device owns
LAUNCH: dict[str, Any] = {
    "kernel": "copy",
    "arguments": [
        {"name": "x", "kind": "tensor", "element": "f32", "shape": ["N"], "access": "read"},
        {"name": "out", "kind": "tensor", "element": "f32", "shape": ["N"], "access": "write"},
    ],
    "dimensions": ["N"],
    "derived": [],
    "grid": ["ceildiv(N, 128)"],
    "threads": 128,
    "smem_bytes": 0,
    "parameters": {
        "bytes": 64,
        "align": 64,
        "fields": [
            {"name": "x", "offset": 0, "bytes": 8, "kind": "pointer", "tensor": "x"},
            {"name": "out", "offset": 8, "bytes": 8, "kind": "pointer", "tensor": "out"},
        ],
    },
}


def kernel(**changes: Any) -> Kernel:
    """The kernel of ``LAUNCH``, with changes to its launch contract."""
    return runtime.load(package_bytes("copy", [PackageImage("sm_90a", b"cubin", {**LAUNCH, **changes}, 32, "13.0")]))


def tensor(device: int = 0, n: int = 128) -> Any:
    """A vector of f32 in a device's memory."""
    data = (device * MEMORY + 4096, False)
    return SimpleNamespace(__cuda_array_interface__={"shape": (n,), "typestr": "<f4", "data": data, "version": 3})


class Driver:
    """Records what is loaded and launched.  ``capturing``: every stream is in a graph capture."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loaded: list[int] = []
        self.launched: list[int] = []
        self.attributes: list[str] = []
        self.capturing = False
        self.stack = [0]  # current contexts, as ordinals of their devices
        self.version = 13000
        monkeypatch.setattr(driver, "cuda", lambda: self)
        monkeypatch.setattr(driver, "call", self.call)
        monkeypatch.setattr(driver, "device_of", lambda pointer: pointer // MEMORY)
        monkeypatch.setattr(driver, "capability", lambda _ordinal: (9, 0))
        monkeypatch.setattr(driver, "capture_id", lambda _stream: 1 if self.capturing else 0)

    def __getattr__(self, name: str) -> Any:
        """Enumerations: their members are their own names."""
        return _Names()

    def call(self, function: str, *arguments: Any) -> Any:
        if function == "cuModuleLoadData":
            self.loaded.append(self.current)
        elif function == "cuFuncSetAttribute":
            self.attributes.append(arguments[1])
        elif function == "cuCtxPushCurrent":
            self.stack.append(int(arguments[0]))
        elif function == "cuCtxPopCurrent":
            self.stack.pop()
        elif function == "cuLaunchKernelEx":
            self.launched.append(arguments[0].hStream)
        elif function == "cuDeviceGetAttribute":
            return 1024 if "RESERVED" in arguments[0] else 232448
        elif function in ("cuDeviceGet", "cuDevicePrimaryCtxRetain"):
            return arguments[0]
        answers = {"cuDeviceGetCount": 2, "cuDriverGetVersion": self.version, "cuFuncGetAttribute": 0}
        return self.current if function == "cuCtxGetCurrent" else answers.get(function, 1)

    @property
    def current(self) -> int:
        return self.stack[-1]

    def CUlaunchConfig(self) -> Any:
        return SimpleNamespace()

    def CUlaunchAttribute(self) -> Any:
        return SimpleNamespace(value=SimpleNamespace(clusterDim=SimpleNamespace()))

    def CUstream(self, stream: int) -> int:
        return stream

    def cuCtxGetCurrent(self) -> tuple[int, int]:
        return 0, self.current

    def cuLaunchKernelEx(self, configuration: Any, *_: Any) -> tuple[int]:
        self.call("cuLaunchKernelEx", configuration)
        return (0,)


class _Names:
    def __getattr__(self, name: str) -> str:
        return name
