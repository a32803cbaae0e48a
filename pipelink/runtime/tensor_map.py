"""TMA descriptors: from a tensor view and a placed box to the arguments of ``cuTensorMapEncodeTiled``.

Input: the view (strides in elements, row-major order) and the field of the launch contract.  Output:
:class:`Descriptor`, in the driver's order (fastest dimension first).  Rules: CUDA driver API,
``cuTensorMapEncodeTiled``; they are checked here because the driver only answers CUDA_ERROR_INVALID_VALUE.
"""

from __future__ import annotations

from typing import NamedTuple

from pipelink.runtime.manifest import Field
from pipelink.runtime.tensors import TensorView
from pipelink.support.diagnostics import error
from pipelink.support.launch import ELEMENT_BYTES

MAX_EXTENT = 2**32  # elements in a dimension
MAX_STRIDE = 2**40  # bytes, exclusive
MAX_BOX = 256  # elements in a dimension of the box
UNIT = 16  # bytes: address, strides and the box's inner extent are multiples of it

# CUtensorMapDataType, and CUtensorMapSwizzle: mode n > 0 swizzles within rows of 16 << n bytes
DATA_TYPES = {
    "u8": 0, "i8": 0, "bool": 0, "e4m3": 0, "e5m2": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5,
    "f16": 6, "f32": 7, "f64": 8, "bf16": 9, "tf32": 11,
}  # fmt: skip
SWIZZLES = {"none": 0, "row_major": 0, "swizzle32": 1, "swizzle64": 2, "swizzle128": 3}


# of a Descriptor, which costs more to make
DescriptorTuple = tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int, ...], int]


class Descriptor(NamedTuple):
    """Arguments of ``cuTensorMapEncodeTiled``: ``strides`` in bytes, without the fastest dimension's."""

    data_type: int
    pointer: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int

    @property
    def rank(self) -> int:
        return len(self.extents)


def describe(field: Field, tensor: TensorView) -> Descriptor:
    """The descriptor of ``tensor`` for a tensor-map field.  A box larger than the tensor is legal: TMA fills what
    lies outside with zeros and does not write there.

    Raises LinkError ``empty-tensor``, ``argument-stride``, ``argument-alignment`` or ``tensor-map``."""
    name, size = field.tensor, ELEMENT_BYTES[tensor.element]
    if 0 in tensor.shape:
        raise error(
            "empty-tensor",
            f"tensor '{name}' has shape {list(tensor.shape)}: TMA cannot address an empty tensor",
        )
    if not 1 <= len(field.box) <= tensor.rank <= 5:
        raise error(
            "tensor-map",
            f"tensor '{name}': a box of rank {len(field.box)} needs a tensor of rank {len(field.box)} to 5,"
            f" given {tensor.rank}",
        )
    if tensor.pointer % UNIT:
        raise error(
            "argument-alignment",
            f"tensor '{name}': expected an address that is a multiple of {UNIT}, given 0x{tensor.pointer:x}",
        )
    box = (1,) * (tensor.rank - len(field.box)) + field.box
    check_box(field, box, size)
    return Descriptor(
        DATA_TYPES[tensor.element],
        tensor.pointer,
        tuple(reversed(tensor.shape)),
        tuple(reversed(_byte_strides(name, tensor, size))),
        tuple(reversed(box)),
        SWIZZLES[field.swizzle],
    )


def check_box(field: Field, box: tuple[int, ...], size: int) -> None:
    """Whether TMA can copy a box of elements of ``size`` bytes, an extent for each dimension of the tensor.

    Raises LinkError ``tensor-map``."""
    where = f"tensor map '{field.name}'"
    if field.swizzle not in SWIZZLES:
        raise error("tensor-map", f"{where}: unknown swizzle '{field.swizzle}'")
    if any(not 1 <= extent <= MAX_BOX for extent in box):
        raise error("tensor-map", f"{where}: box {list(box)}, expected extents of 1 to {MAX_BOX}")
    inner = box[-1] * size
    mode = SWIZZLES[field.swizzle]
    limit = UNIT << mode if mode else None
    if inner % UNIT:
        raise error("tensor-map", f"{where}: a box row of {inner} B, expected a multiple of {UNIT}")
    if limit and inner > limit:
        raise error("tensor-map", f"{where}: a box row of {inner} B, expected at most {limit} under {field.swizzle}")


def _byte_strides(name: str, tensor: TensorView, size: int) -> list[int]:
    """Strides of all but the last dimension.  A dimension of extent 1 may have any stride in other libraries: it gets
    the packed one, rounded up."""
    strides: list[int] = []
    below = tensor.shape[-1] * size
    for dimension in range(tensor.rank - 2, -1, -1):
        extent, stride = tensor.shape[dimension], tensor.strides[dimension] * size
        if extent == 1:
            stride = -(-below // UNIT) * UNIT
        if stride % UNIT or not 0 < stride < MAX_STRIDE:
            raise error(
                "argument-stride",
                f"tensor '{name}': expected a stride in dimension {dimension} that is a positive multiple of"
                f" {UNIT} B, given {stride} B",
            )
        strides.append(stride)
        below = stride * extent
    if any(extent > MAX_EXTENT for extent in tensor.shape):
        raise error("tensor-map", f"tensor '{name}': shape {list(tensor.shape)}, expected extents up to 2^32")
    return strides[::-1]
