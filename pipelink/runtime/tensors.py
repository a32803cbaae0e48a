"""Tensors of other libraries, seen without copying: address, shape, strides, element type, device.

Input: a torch tensor (read directly, which also works for tensors that require gradients), any object with
``__dlpack__``, or one with ``__cuda_array_interface__``.  The DLPack capsule is read and left unconsumed, so the
caller keeps the memory alive, as for every stream-ordered launch.  Layouts: DLPack 1.x ``dlpack.h``; CUDA array
interface version 3.  What strangers' objects say is held to ranges here: extents, strides and addresses fit 64 bits.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from pipelink.support.diagnostics import LinkError, error, shown
from pipelink.support.launch import ELEMENT_BYTES
from pipelink.support.limits import LAUNCH_NUMBER

_DLPACK_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged
_DLPACK_VERSION = (1, 0)  # the newest whose capsules are asked for
_DLPACK_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
_MAX_RANK = 64  # dimensions, as of numpy and torch
_DLPACK_CODES = {
    (0, 8): "i8", (0, 16): "i16", (0, 32): "i32", (0, 64): "i64",
    (1, 8): "u8", (1, 16): "u16", (1, 32): "u32", (1, 64): "u64",
    (2, 16): "f16", (2, 32): "f32", (2, 64): "f64", (4, 16): "bf16", (6, 8): "bool",
    (10, 8): "e4m3", (12, 8): "e5m2", (14, 8): "e8m0",
}  # fmt: skip
_TYPESTR = {
    "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64",
    "f2": "f16", "f4": "f32", "f8": "f64", "b1": "bool",
}  # fmt: skip
_TORCH_TYPES = {
    "torch.bfloat16": "bf16", "torch.float16": "f16", "torch.float32": "f32", "torch.float64": "f64",
    "torch.int8": "i8", "torch.int16": "i16", "torch.int32": "i32", "torch.int64": "i64",
    "torch.uint8": "u8", "torch.uint16": "u16", "torch.uint32": "u32", "torch.uint64": "u64", "torch.bool": "bool",
    "torch.float8_e4m3fn": "e4m3", "torch.float8_e5m2": "e5m2", "torch.float8_e8m0fnu": "e8m0",
}  # fmt: skip


ViewTuple = tuple[int, tuple[int, ...], tuple[int, ...], str, int]  # of a TensorView, which costs more to make


class TensorView(NamedTuple):
    """``strides`` in elements; ``device`` is a CUDA ordinal, -1 where the owner did not say; ``pointer`` is the address
    of the first element; ``read_only``: the owner forbids to write."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: str
    device: int
    read_only: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)


class _DLTensor(ctypes.Structure):
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
    )


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


_python = ctypes.PyDLL(None)  # a handle of our own: argument types set on ctypes.pythonapi are everybody's
_capsule_pointer = _python.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_capsule_is = _python.PyCapsule_IsValid
_capsule_is.restype, _capsule_is.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)


def packed_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides = [1] * len(shape)
    for dimension in range(len(shape) - 2, -1, -1):
        strides[dimension] = strides[dimension + 1] * max(shape[dimension + 1], 1)
    return tuple(strides)


def is_torch(value: object) -> bool:
    """Whether ``value`` is a tensor of a torch that is already loaded."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_foreign(value: object) -> bool:
    """Whether ``value`` is a tensor of anybody but torch."""
    try:
        shared = hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")
    except Exception:  # of a stranger's class
        return False
    return shared or isinstance(value, TensorView)


def view(
    name: str, value: object, stream: int | None = None, follow: Callable[[int, int], None] | None = None
) -> TensorView:
    """The tensor argument ``name``; a view is taken as it is.

    ``stream`` is the CUDA stream handle that will use it, for DLPack's ordering; None asks for none.  ``follow(theirs,
    address)`` lets the user of the memory at ``address`` wait for what stream ``theirs`` has under way, which the CUDA
    array interface leaves to the consumer.
    Raises LinkError ``argument-type``, ``argument-device``, ``argument-dtype`` or ``argument-stride``."""
    if is_torch(value):
        return _torch_view(name, value)
    try:
        if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
            return _dlpack_view(name, value, stream)
        if hasattr(value, "__cuda_array_interface__"):
            return _array_interface_view(name, value, follow)
        if isinstance(value, TensorView):
            return value
    except LinkError:
        raise
    except Exception as problem:  # of a stranger's class
        message = f"tensor '{name}': {type(value).__name__} does not say what it is: {shown(problem, 200)}"
        raise error("argument-type", message) from problem
    raise error(
        "argument-type",
        f"tensor '{name}': expected a CUDA tensor (DLPack or __cuda_array_interface__), given {type(value).__name__}",
    )


@lru_cache(maxsize=64)
def torch_element(dtype: object) -> str:
    """The element type of a torch dtype; torch's own name where it has none."""
    return _TORCH_TYPES.get(str(dtype), str(dtype))


def _torch_view(name: str, tensor: Any) -> TensorView:
    if tensor.device.type != "cuda":
        raise error("argument-device", f"tensor '{name}': expected a CUDA device, given {tensor.device}")
    return TensorView(
        int(tensor.data_ptr()),
        tuple(tensor.shape),
        tuple(tensor.stride()),
        torch_element(tensor.dtype),
        int(tensor.device.index or 0),
    )


def _dlpack_view(name: str, value: Any, stream: int | None) -> TensorView:
    kind, device = (int(part) for part in value.__dlpack_device__())
    if kind not in _DLPACK_CUDA:
        raise error(
            "argument-device", f"tensor '{name}': expected a CUDA device, given DLPack device type {shown(kind)}"
        )
    # DLPack's CUDA convention: -1 is no ordering, 1 the legacy default stream, other values are handles
    ordering = -1 if stream is None else (stream or 1)
    try:
        try:
            capsule = value.__dlpack__(stream=ordering, max_version=_DLPACK_VERSION)
        except TypeError:  # a producer from before DLPack 1.0, whose capsules cannot say that they are read-only
            capsule = value.__dlpack__(stream=ordering)
    except Exception as problem:
        message = f"tensor '{name}' cannot be shared through DLPack: {shown(problem, 200)}"
        raise error("argument-type", message) from problem
    return read_capsule(name, capsule, device)


def read_capsule(name: str, capsule: object, device: int) -> TensorView:
    """The view that a DLPack capsule describes; the capsule stays unconsumed.

    Raises LinkError ``argument-type`` or ``argument-dtype``."""
    read_only = False
    if _capsule_is(capsule, b"dltensor"):
        tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    elif _capsule_is(capsule, b"dltensor_versioned"):
        managed = _DLManagedTensorVersioned.from_address(_capsule_pointer(capsule, b"dltensor_versioned"))
        if managed.major > _DLPACK_VERSION[0]:
            raise error("argument-type", f"tensor '{name}': DLPack version {managed.major} is newer than this runtime")
        tensor, read_only = managed.tensor, bool(managed.flags & _DLPACK_READ_ONLY)
    else:
        raise error("argument-type", f"tensor '{name}': __dlpack__ gave no DLPack capsule")
    if not 0 <= tensor.ndim <= _MAX_RANK or (tensor.ndim and not tensor.shape):
        raise error(
            "argument-type", f"tensor '{name}': a DLPack tensor of {tensor.ndim} dimensions, or without a shape"
        )
    shape = tuple(int(tensor.shape[i]) for i in range(tensor.ndim))
    strides = tuple(int(tensor.strides[i]) for i in range(tensor.ndim)) if tensor.strides else packed_strides(shape)
    element = _DLPACK_CODES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if element is None:
        raise error(
            "argument-dtype",
            f"tensor '{name}': DLPack type (code {tensor.code}, {tensor.bits} bits, {tensor.lanes} lanes) is unknown",
        )
    pointer = (tensor.data or 0) + tensor.byte_offset
    return _checked(name, TensorView(pointer, shape, strides, element, device, read_only))


def _array_interface_view(name: str, value: Any, follow: Callable[[int, int], None] | None) -> TensorView:
    interface = value.__cuda_array_interface__
    try:
        pointer, read_only = interface["data"]
        pointer, shape = _index(pointer), tuple(map(_index, interface["shape"]))
        typestr, given = str(interface["typestr"]), interface.get("strides")
        strides = None if given is None else tuple(map(_index, given))
        stream = interface.get("stream")
        stream = None if stream is None else _index(stream)
        mask = interface.get("mask")
    except Exception as problem:
        message = f"tensor '{name}': malformed __cuda_array_interface__: {shown(problem, 200)}"
        raise error("argument-type", message) from problem
    if mask is not None:
        raise error("argument-type", f"tensor '{name}' has a mask, which a kernel would not see")
    element = _TYPESTR.get(typestr[1:]) if typestr[:1] in "<|=" else None
    if element is None:
        raise error("argument-dtype", f"tensor '{name}': array type {shown(typestr)} is unknown")
    size = ELEMENT_BYTES[element]
    if strides is None:
        strides = packed_strides(shape)
    elif any(stride % size for stride in strides):
        raise error(
            "argument-stride", f"tensor '{name}': strides {shown(list(strides))} are not whole {element} elements"
        )
    else:
        strides = tuple(stride // size for stride in strides)
    if stream is not None and not 0 < stream < 1 << 64:
        raise error("argument-type", f"tensor '{name}': {shown(stream)} is no stream of a __cuda_array_interface__")
    device = getattr(getattr(value, "device", None), "id", None)
    ordinal = device if isinstance(device, int) else -1
    found = _checked(name, TensorView(pointer, shape, strides, element, ordinal, bool(read_only)))
    if stream is not None and follow is not None and pointer:
        follow(stream, pointer)
    return found


def _index(value: Any) -> int:
    """An integer, of whatever class.  Raises TypeError."""
    return int(value.__index__())


def _checked(name: str, found: TensorView) -> TensorView:
    """A stranger's view.  Raises LinkError ``argument-type`` where it is none."""
    if len(found.strides) != found.rank or found.rank > _MAX_RANK:
        raise error("argument-type", f"tensor '{name}': {found.rank} extents and {len(found.strides)} strides")
    if not all(0 <= extent <= LAUNCH_NUMBER for extent in found.shape):
        raise error("argument-type", f"tensor '{name}': shape {shown(list(found.shape))} is none")
    reach = sum(abs(stride) * max(extent - 1, 0) for extent, stride in zip(found.shape, found.strides, strict=True))
    if reach > LAUNCH_NUMBER or not all(abs(stride) <= LAUNCH_NUMBER for stride in found.strides):
        raise error("argument-type", f"tensor '{name}': strides {shown(list(found.strides))} are none")
    if not 0 <= found.pointer < 1 << 64:
        raise error("argument-type", f"tensor '{name}': {shown(found.pointer)} is no address")
    return found
