"""What a launch can pass, and which names it has taken: the linker refuses the rest where it is declared, the runtime
where a package has it all the same."""

from __future__ import annotations

from typing import Final

#: Element types of tensors, and their bytes.
ELEMENT_BYTES: Final = {
    "bf16": 2, "f16": 2, "f32": 4, "f64": 8, "tf32": 4, "i8": 1, "i16": 2, "i32": 4, "i64": 8,
    "u8": 1, "u16": 2, "u32": 4, "u64": 8, "bool": 1, "e4m3": 1, "e5m2": 1, "e8m0": 1,
}  # fmt: skip
#: Types of scalars, and their codes in Python's struct.
SCALARS: Final = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "f16": "e", "f32": "f", "f64": "d", "bool": "?", "i1": "?",
}  # fmt: skip
INTEGERS: Final = frozenset(name for name in SCALARS if name[0] in "iu" and name != "i1")
GRID_LIMITS: Final = (2**31 - 1, 65535, 65535)  # CTAs in x, y, z: CUDA C++ Programming Guide, technical specifications
MAX_RANK: Final = 8  # dimensions of a tensor
BUILTINS: Final = ("sms", "occupancy")  # names of expressions that the device gives
RESERVED: Final = ("stream", "device")  # what the runtime's methods are passed beside arguments
