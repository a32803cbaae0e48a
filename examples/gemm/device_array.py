"""A bf16 matrix on the GPU with cuda-bindings and numpy alone, shared through DLPack.

With torch or cupy at hand their tensors do the same; the demo must run without them.  Layout of the capsule: the
unversioned ``DLManagedTensor`` of DLPack's ``dlpack.h``.
"""

import ctypes
from typing import Any

import numpy as np
from cuda.bindings import driver

CUDA_DEVICE, BFLOAT = 2, 4  # kDLCUDA, kDLBfloat


class _Tensor(ctypes.Structure):
    """DLTensor, followed by the manager's two fields."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def check(result: tuple[Any, ...]) -> Any:
    """The value of a driver call.  Raises RuntimeError with the driver's own name of the error."""
    status, *values = result
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(status.name)
    return values[0] if values else None


def to_bf16(values: np.ndarray) -> np.ndarray:
    """f32 to bf16 bits, rounded to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """bf16 bits to f32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


class DeviceArray:
    """A packed bf16 array at ``address`` in device memory.  Make one with ``upload``, give it back with ``free``."""

    def __init__(self, address: int, shape: tuple[int, ...]) -> None:
        self.address, self.shape = address, shape
        self._extents = (ctypes.c_int64 * len(shape))(*shape)
        extents = ctypes.cast(self._extents, ctypes.POINTER(ctypes.c_int64))
        self._tensor = _Tensor(address, CUDA_DEVICE, 0, len(shape), BFLOAT, 16, 1, extents)

    @classmethod
    def upload(cls, values: np.ndarray) -> "DeviceArray":
        """A copy of f32 ``values`` in the current context's memory."""
        bits = to_bf16(values)
        address = int(check(driver.cuMemAlloc(bits.nbytes)))
        check(driver.cuMemcpyHtoD(address, bits.ctypes.data, bits.nbytes))
        return cls(address, bits.shape)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA_DEVICE, 0

    def __dlpack__(self, *, stream: int | None = None) -> object:
        """A capsule that borrows this array: it must outlive its use."""
        return _new_capsule(ctypes.addressof(self._tensor), b"dltensor", None)

    def read(self) -> np.ndarray:
        """The values as f32, after everything launched before has finished."""
        check(driver.cuCtxSynchronize())
        bits = np.empty(self.shape, np.uint16)
        check(driver.cuMemcpyDtoH(bits.ctypes.data, self.address, bits.nbytes))
        return from_bf16(bits)

    def free(self) -> None:
        """Give the memory back."""
        check(driver.cuMemFree(self.address))
