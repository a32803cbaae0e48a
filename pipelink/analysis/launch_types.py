"""Types of the launch contract: what a parameter may point to, hold and be bound to.

Pure functions from a parameter's type, as records spell it (``const f32*``, ``struct<16,16>*``, ``i32``), to what is
wrong with a tensor or a value for it, as the end of a sentence; None where nothing is.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Final

from pipelink.support.diagnostics import shown
from pipelink.support.launch import ELEMENT_BYTES, INTEGERS, SCALARS

_CLASS: Final = re.compile(r"[^*&]*<\d+,(\d+)>$")
_BYTES: Final = frozenset(("i8", "u8", "bool"))
_FLOATS: Final = ("f64", "f32", "f16", "bf16")


def pointee_align(type_: str) -> int:
    """Bytes that an address of a pointer type is a multiple of; 1 where the type does not say."""
    inner = _pointee(type_)
    if inner.endswith("*"):
        return 8
    found = _CLASS.match(inner)
    return int(found[1]) if found else ELEMENT_BYTES.get(inner, 1)


def pointee_fault(type_: str, element: str) -> str | None:
    """Whether a pointer may point to a tensor's elements.  Bytes, unsigned integers and classes stand for bits of any
    kind, integers of one size for each other."""
    inner = _pointee(type_)
    if inner not in ELEMENT_BYTES or inner == element or inner in _BYTES or inner.startswith("u"):
        return None
    if inner in INTEGERS and element in INTEGERS and ELEMENT_BYTES[inner] == ELEMENT_BYTES[element]:
        return None
    return f"points to {inner}, but the tensor holds {element}"


def _pointee(type_: str) -> str:
    return type_.removesuffix("*").strip().removeprefix("const ").strip() if type_.endswith("*") else ""


def value_fault(type_: str, value: object) -> str | None:
    """Whether a parameter of a type can be a value that is known at link time."""
    if type_ not in SCALARS and type_ != "bf16":
        return f"is a {type_}, and only numbers are bound at link time"
    if not isinstance(value, int | float):
        return f"is a {type_} and is bound to the text '{value}'"
    if type_ not in _FLOATS and isinstance(value, float):
        return f"is a {type_} and is bound to {value!r}, which is no integer"
    return None if _holds(type_, value) else f"is a {type_}, which cannot hold {shown(value)}"


def _holds(type_: str, value: float) -> bool:
    if type_ in ("bool", "i1"):
        return value in (0, 1)
    try:
        struct.pack("<" + SCALARS["f32" if type_ == "bf16" else type_], value)
    except (struct.error, OverflowError):
        return False
    return math.isfinite(value)


def scalar_bits(type_: str, value: float) -> int | float:
    """A value as the frame holds it: a 16-bit float as its bits, others as they are."""
    if type_ == "f16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    if type_ == "bf16":
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16  # to nearest, ties to even
    return float(value) if type_ in _FLOATS else int(value)
