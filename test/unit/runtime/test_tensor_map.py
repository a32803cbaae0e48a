"""Tensor-map descriptors from views: order, padding, offsets, small and empty tensors, and what TMA cannot do."""

import pytest

from pipelink.contract import vocabulary
from pipelink.runtime.contract import Field
from pipelink.runtime.tensor_map import DATA_TYPES, SWIZZLES, UNIT, Descriptor, describe
from pipelink.runtime.tensors import TensorView, packed_strides
from pipelink.support.diagnostics import LinkError


def field(*box: int, swizzle: str = "swizzle128") -> Field:
    return Field("map_a", 0, 128, "tensor_map", tensor="a", element="bf16", box=box, swizzle=swizzle)


def view(*shape: int, strides: tuple[int, ...] | None = None, at: int = 4096, element: str = "bf16") -> TensorView:
    return TensorView(at, shape, strides or packed_strides(shape), element, 0)


def test_the_fastest_dimension_comes_first() -> None:
    assert describe(field(128, 64), view(1000, 512)) == Descriptor(9, 4096, (512, 1000), (1024,), (64, 128), 3)


def test_e4m3_and_a_row_of_scales() -> None:
    found = describe(field(128, 128), view(1000, 512, element="e4m3"))
    assert found == Descriptor(0, 4096, (512, 1000), (512,), (128, 128), 3)
    scales = describe(field(128, swizzle="row_major"), view(32, 1000, element="f32"))
    assert scales == Descriptor(7, 4096, (1000, 32), (4000,), (128, 1), 0)
    with pytest.raises(LinkError, match="a box row of 256 B, expected at most 128 under swizzle128"):
        describe(field(64, 256), view(1000, 512, element="e4m3"))


def test_a_padded_view_keeps_its_stride_and_an_offset_view_its_address() -> None:
    found = describe(field(128, 64), view(1000, 512, strides=(640, 1), at=4096 + 64))
    assert found.strides == (1280,)
    assert found.pointer == 4160


def test_a_box_larger_than_the_tensor_is_legal() -> None:
    assert describe(field(128, 64), view(3, 8)).box == (64, 128)


def test_a_single_row_may_have_any_stride() -> None:
    assert describe(field(128, 64), view(1, 20, strides=(7, 1))).strides == (48,)


def test_a_box_of_lower_rank_gets_leading_ones() -> None:
    found = describe(field(128, 64), view(4, 1000, 512))
    assert found.box == (64, 128, 1)
    assert found.strides == (1024, 1024000)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (view(128, 0), r"TMA cannot address an empty tensor.*\[empty-tensor\]"),
        (view(0, 64), "TMA cannot address an empty tensor"),
        (view(128, 60), r"dimension 0 that is a positive multiple of 16 B, given 120 B"),
        (view(128, 64, strides=(0, 1)), "given 0 B"),
        (view(128, 64, strides=(-64, 1)), "given -128 B"),
        (view(128, 64, at=4104), "a multiple of 16, given 0x1008"),
        (view(128), "a box of rank 2 needs a tensor of rank 2 to 5, given 1"),
        (view(2, 2**33, strides=(2**33, 1)), "extents up to 2"),
    ],
)
def test_refused_tensors(tensor: TensorView, message: str) -> None:
    with pytest.raises(LinkError, match=message):
        describe(field(128, 64), tensor)


@pytest.mark.parametrize(
    ("box", "swizzle", "message"),
    [
        ((300, 64), "swizzle128", r"expected extents of 1 to 256.*\[tensor-map\]"),
        ((128, 4), "none", "a box row of 8 B, expected a multiple of 16"),
        ((128, 128), "swizzle128", "a box row of 256 B, expected at most 128 under swizzle128"),
        ((128, 64), "swizzle64", "expected at most 64"),
        ((128, 64), "swizzle7", "unknown swizzle 'swizzle7'"),
    ],
)
def test_refused_boxes(box: tuple[int, ...], swizzle: str, message: str) -> None:
    with pytest.raises(LinkError, match=message):
        describe(field(*box, swizzle=swizzle), view(1000, 512))


def test_the_numbers_are_the_drivers() -> None:
    driver = pytest.importorskip("cuda.bindings.driver")
    names = {
        "bf16": "BFLOAT16", "f16": "FLOAT16", "f32": "FLOAT32", "f64": "FLOAT64", "tf32": "TFLOAT32", "u8": "UINT8",
        "u16": "UINT16", "u32": "UINT32", "i32": "INT32", "u64": "UINT64", "i64": "INT64",
    }  # fmt: skip
    for element, name in names.items():
        value = getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{name}")
        assert DATA_TYPES[element] == int(value)
    for swizzle, name in {"none": "NONE", "swizzle32": "32B", "swizzle64": "64B", "swizzle128": "128B"}.items():
        assert SWIZZLES[swizzle] == int(getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{name}"))


def test_swizzles_are_those_of_contracts() -> None:
    modes = {name: mode for name, mode in SWIZZLES.items() if mode}
    assert {name: UNIT << mode for name, mode in modes.items()} == {
        name: swizzle.row_bytes for name, swizzle in vocabulary.SWIZZLES.items()
    }
