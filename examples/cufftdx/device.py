"""cuFFTDx as a helper object: a transform of NVIDIA's device library, made by libmathdx, for components to call.

libmathdx is a C library (wheel ``nvidia-libmathdx-cu13``); of its enumerations only those used here are named.
Source: libcommondx.h and libcufftdx.h of the wheel.
"""

import ctypes
import importlib.util
from pathlib import Path

from cuda.bindings import nvrtc

from pipelink.objects import Image, Object

SYMBOL_NAME, TARGET_SM = 0, 1  # commondxOption
SIZE, DIRECTION, TYPE, PRECISION, SM, EXECUTION, API = 0, 1, 2, 3, 4, 5, 10  # cufftdxOperatorType
FORWARD, C2C, F32, THREAD, LMEM = 0, 0, 5, 0, 0


def library() -> Path | None:
    """The library of the wheel, None if it is not installed."""
    found = importlib.util.find_spec("nvidia")
    folders = found.submodule_search_locations if found is not None else None
    files = [path for folder in folders or () for path in Path(folder).glob("cu13/lib/libmathdx.so*")]
    return files[0] if files else None


def transform(symbol: str, size: int, arch: str = "sm_90") -> Object:
    """``extern "C" __device__ void symbol(float2* values)``: a forward transform of ``size`` values of one thread, in
    place.  Raises OSError without the library, RuntimeError with what it says."""
    path = library()
    if path is None:
        raise OSError("libmathdx is missing: pip install nvidia-libmathdx-cu13")
    nvrtc.nvrtcVersion()  # loads the NVRTC that the rest is compiled with, which libmathdx looks for
    mathdx = ctypes.CDLL(str(path))

    def call(name: str, *arguments: object) -> None:
        if status := getattr(mathdx, name)(*arguments):
            text, last = ctypes.create_string_buffer(4096), ctypes.c_int()
            mathdx.commondxGetLastErrorStr(ctypes.byref(last), ctypes.c_size_t(len(text)), text)
            raise RuntimeError(f"{name}: {text.value.decode(errors='replace') or f'status {status}'}")

    target = ctypes.c_longlong(10 * int(arch.removeprefix("sm_")))
    descriptor, code, bytes_ = ctypes.c_longlong(), ctypes.c_longlong(), ctypes.c_size_t()
    call("cufftdxCreateDescriptor", ctypes.byref(descriptor))
    operators = {SIZE: size, DIRECTION: FORWARD, TYPE: C2C, PRECISION: F32, SM: target.value, EXECUTION: THREAD}
    operators[API] = LMEM
    for operator, value in operators.items():
        call("cufftdxSetOperatorInt64", descriptor, operator, ctypes.c_longlong(value))
    call("commondxCreateCode", ctypes.byref(code))
    call("commondxSetCodeOptionInt64", code, TARGET_SM, target)
    call("cufftdxSetOptionStr", descriptor, SYMBOL_NAME, symbol.encode())
    call("cufftdxFinalizeCode", code, descriptor)
    call("commondxGetCodeLTOIRSize", code, ctypes.byref(bytes_))
    data = ctypes.create_string_buffer(bytes_.value)
    call("commondxGetCodeLTOIR", code, bytes_, data)
    return Object(f"{symbol} of cuFFTDx", "", (), (Image(arch, "ltoir", "", data.raw),))
