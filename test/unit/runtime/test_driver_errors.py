"""What a launch says when the driver or the device refuses, with a driver of our own."""

from types import SimpleNamespace
from typing import Any

import pytest

from pipelink import runtime
from pipelink.package import PackageImage, package_bytes
from pipelink.runtime import driver
from pipelink.support.diagnostics import LinkError

LAUNCH: dict[str, Any] = {
    "kernel": "fill",
    "arguments": [{"name": "out", "kind": "tensor", "element": "f32", "shape": ["N"], "access": "write"}],
    "dimensions": ["N"],
    "derived": [],
    "grid": ["ceildiv(N, 128)"],
    "threads": 128,
    "smem_bytes": 0,
    "parameters": {
        "bytes": 64,
        "align": 64,
        "fields": [{"name": "out", "offset": 0, "bytes": 8, "kind": "pointer", "tensor": "out"}],
    },
}


def test_a_failed_call_carries_cudas_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(
        cuInit=lambda _flags: (999,),
        cuGetErrorName=lambda _status: (0, b"CUDA_ERROR_UNKNOWN"),
        cuGetErrorString=lambda _status: (0, b"unknown error"),
    )
    monkeypatch.setattr(driver, "cuda", lambda: fake)
    with pytest.raises(LinkError, match=r"cuInit failed: CUDA_ERROR_UNKNOWN \(unknown error\) \[driver-error\]"):
        driver.call("cuInit", 0)


def test_a_device_without_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = runtime.load(package_bytes("fill", [PackageImage("sm_90a", b"cubin", LAUNCH, 32, "13.0")]))
    tensor = SimpleNamespace(
        __cuda_array_interface__={"shape": (128,), "typestr": "<f4", "data": (0x1000, False), "version": 3}
    )
    monkeypatch.setattr(driver, "device_of", lambda _pointer: 0)
    monkeypatch.setattr(driver, "capability", lambda _ordinal: (8, 0))
    monkeypatch.setattr(driver, "primary_context", lambda _ordinal: None)
    message = r"no code for device 0, which is sm_80: the package holds sm_90a \[no-image\]"
    with pytest.raises(LinkError, match=message):
        kernel(out=tensor)


def test_shared_memory_must_begin_where_it_was_placed() -> None:
    driver.check_base("fill", 0, 1024, 0)
    for reserved, static in ((0, 0), (2048, 0), (1024, 16)):
        with pytest.raises(LinkError, match=rf"reserves {reserved} B and the code has {static} B.*\[smem-base\]"):
            driver.check_base("fill", 0, reserved, static)
