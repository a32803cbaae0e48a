"""Tensors and tensor maps for the entries about how memory is described."""

from pipelink.runtime.contract import Field
from pipelink.runtime.tensors import TensorView, packed_strides


def box(*extents: int) -> Field:
    """A tensor map of bf16 with this box, 128-byte swizzle."""
    return Field("map", 0, 128, "tensor_map", tensor="x", element="bf16", box=extents, swizzle="swizzle128")


def view(*shape: int, strides: tuple[int, ...] | None = None, at: int = 4096) -> TensorView:
    """A tensor of bf16; strides in elements."""
    return TensorView(at, shape, strides or packed_strides(shape), "bf16", 0)
