"""Arrays of a test, as the bytes that a bench moves."""

import numpy as np
import pytest

from pipelink.support.diagnostics import LinkError
from pipelink.testing.arrays import STORAGE, host, pack, padded, positions, unpack
from pipelink.testing.plan import Values


@pytest.mark.parametrize(
    ("layout", "element", "row"),
    [("row_major", "f32", 8), ("swizzle128", "bf16", 64), ("swizzle128", "u8", 128), ("swizzle64", "f32", 16),
     ("swizzle32", "f64", 4), ("item", "i32", 3)],
)  # fmt: skip
def test_tiles_return_as_they_went(layout: str, element: str, row: int) -> None:
    dtype = np.dtype(STORAGE[element])
    values = Values(element, (24, row), 24 * row * dtype.itemsize, layout)
    tiles = np.random.default_rng(1).integers(0, 200, (5, 24, row)).astype(dtype)
    assert (unpack(pack("x", tiles, values), values) == tiles).all()


@pytest.mark.parametrize(("layout", "units"), [("swizzle128", 8), ("swizzle64", 4), ("swizzle32", 2)])
def test_swizzles_exchange_words_as_the_hardware_does(layout: str, units: int) -> None:
    """Of every 128 bytes, a word of 16 goes where its number is exclusive-ored with that of the group of eight."""
    tile = Values("u8", (64, 16 * units), 64 * 16 * units, layout)
    found = positions(tile)
    assert found is not None
    for at in range(0, tile.bytes, 16):
        group, word = at // 128, at // 16 % 8
        assert found[at] == group * 128 + (word ^ group % units) * 16, at


def test_numbers_structs_and_bits() -> None:
    assert host("n", [1, 2], "i32").dtype == np.int32
    assert host("n", np.zeros(3, np.uint16), "bf16").dtype == np.uint16
    pair = np.zeros((2, 3), np.dtype([("value", "i4"), ("weight", "f4")]))
    pair["value"] = 7
    packed = pack("work", pair, Values("u8", (8,), 8))
    assert packed.shape == (2, 3, 8)
    assert packed[0, 0].tolist() == [7, 0, 0, 0, 0, 0, 0, 0]


def test_rows_are_padded_to_whole_words_and_never_none() -> None:
    assert padded(np.ones((2, 12), np.uint8), 16).sum() == 24
    assert padded(np.ones((0, 12), np.uint8), 16, least=1).shape == (1, 16)


@pytest.mark.parametrize(
    ("value", "element", "said"),
    [
        (np.zeros(2), "f32", r"'x': expected f32, given float64 \[argument-dtype\]"),
        (np.zeros(2, np.float32), "bf16", r"'x': expected bf16, or its bits as uint16, given float32"),
        ([0.5], "bf16", r"'x': expected bf16, or its bits as uint16, given list"),
        ([1 << 40], "i32", r"'x': no array of i32"),
    ],
)
def test_other_types_are_refused(value: object, element: str, said: str) -> None:
    with pytest.raises(LinkError, match=said):
        host("x", value, element)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(LinkError, match=r"'x': expected \[…, 4, 8\], given \[3, 8, 4\] \[argument-shape\]"):
        pack("x", np.zeros((3, 8, 4), np.float32), Values("f32", (4, 8), 128))
