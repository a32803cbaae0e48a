"""Arrays of a test, as the bytes that a bench moves, and back.

numpy knows neither bf16 nor fp8: those are torch's tensors, ``ml_dtypes``, or their bits as unsigned integers.
"""

from __future__ import annotations

import math
import sys
from typing import Any, Final

import numpy as np

from pipelink.contract.vocabulary import SWIZZLES
from pipelink.runtime.tensors import is_torch, torch_element
from pipelink.support.diagnostics import error
from pipelink.testing.plan import Values

Array = np.ndarray[Any, Any]
#: numpy's type of an element, or of its bits.
STORAGE: Final = {
    "bf16": "u2", "f16": "f2", "f32": "f4", "f64": "f8", "tf32": "f4", "e4m3": "u1", "e5m2": "u1", "bool": "?",
    "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8",
}  # fmt: skip
_ML_DTYPES: Final = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
_TORCH: Final = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


def host(name: str, value: Any, element: str) -> Array:
    """``value`` as a numpy array of the element's storage type.  Raises LinkError ``argument-dtype``."""
    storage = np.dtype(STORAGE[element])
    if is_torch(value):
        torch: Any = sys.modules["torch"]
        given = torch_element(value.dtype)
        if given != element:
            raise _other_type(name, element, given)
        tensor = value.detach().cpu().contiguous()
        if element in _TORCH:
            tensor = tensor.view(torch.uint8 if storage.itemsize == 1 else torch.int16)
        return np.ascontiguousarray(tensor.numpy()).view(storage)
    if not hasattr(value, "dtype"):  # numbers, lists
        if element in _TORCH:
            raise _other_type(name, element, type(value).__name__)
        try:
            return np.asarray(value, storage)
        except (ValueError, TypeError, OverflowError) as problem:
            raise error("argument-dtype", f"'{name}': no array of {element}: {problem}") from problem
    array = np.asarray(value)
    if _ML_DTYPES.get(array.dtype.name) == element:
        return np.ascontiguousarray(array).view(storage)
    if array.dtype != storage:
        raise _other_type(name, element, array.dtype.name)
    return array


def _other_type(name: str, element: str, given: str) -> Exception:
    bits = f", or its bits as {np.dtype(STORAGE[element]).name}" if element in _TORCH else ""
    return error("argument-dtype", f"'{name}': expected {element}{bits}, given {given}")


def guest(array: Array, element: str, torch_wanted: bool) -> Any:
    """``array``, of the element's storage type, as the test gets it: of torch, or of numpy."""
    if not torch_wanted:
        return array
    torch: Any = sys.modules["torch"]
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    return tensor.view(getattr(torch, _TORCH[element])) if element in _TORCH else tensor


def positions(values: Values) -> Array | None:
    """Where each element of a tile lies in its slot, in elements; None where they lie in order."""
    swizzle = SWIZZLES.get(values.layout)
    if swizzle is None:
        return None
    size = np.dtype(STORAGE[values.element]).itemsize
    offsets = np.arange(math.prod(values.extents)) * size
    return (offsets ^ ((offsets >> 3) & swizzle.mask)) // size


def pack(name: str, value: Any, values: Values) -> Array:
    """Bytes ``[…, values.bytes]`` of an array ``[…, *extents]``, each value as it lies in memory.

    Raises LinkError ``argument-dtype`` and ``argument-shape``."""
    extents = values.extents
    if getattr(getattr(value, "dtype", None), "names", None) and values.element == "u8":  # a struct of the author's
        value = np.frombuffer(value.tobytes(), np.uint8).reshape(*value.shape, value.dtype.itemsize)
    array = host(name, value, values.element)
    ahead = array.ndim - len(extents)
    if ahead < 0 or array.shape[ahead:] != extents:
        raise error(
            "argument-shape", f"'{name}': expected […{''.join(f', {e}' for e in extents)}], given {_shape(array)}"
        )
    lead = array.shape[:ahead]
    flat = np.ascontiguousarray(array).reshape(*lead, math.prod(extents))
    order = positions(values)
    if order is not None:
        sorted_ = np.empty_like(flat)
        sorted_[..., order] = flat
        flat = sorted_
    return np.frombuffer(flat.tobytes(), np.uint8).reshape(*lead, values.bytes)


def unpack(data: Array, values: Values) -> Array:
    """What :func:`pack` packed, in the element's storage type."""
    lead = data.shape[:-1]
    flat = np.frombuffer(np.ascontiguousarray(data).tobytes(), STORAGE[values.element])
    flat = flat.reshape(*lead, math.prod(values.extents))
    order = positions(values)
    if order is not None:
        flat = flat[..., order]
    return flat.reshape(*lead, *values.extents)


def padded(data: Array, size: int, least: int = 0) -> Array:
    """``data`` ``[n, bytes]`` with rows of ``size`` bytes, and at least ``least`` rows."""
    found = np.zeros((max(len(data), least), size), np.uint8)
    found[: len(data), : data.shape[1]] = data
    return found


def _shape(array: Array) -> str:
    return f"[{', '.join(map(str, array.shape))}]"
