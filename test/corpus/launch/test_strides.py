# KIND: strides not multiples of 16 B
# DECIDED: launch
"""TMA addresses rows at multiples of 16 bytes."""

import pytest

from pipelink.runtime.tensor_map import describe
from pipelink.support.diagnostics import LinkError

from .maps import box, view


def test_fault() -> None:
    with pytest.raises(LinkError, match=r"positive multiple of 16 B, given 120 B.*\[argument-stride\]"):
        describe(box(128, 64), view(128, 60))


def test_fix() -> None:
    """The same rows in a buffer with padded ones."""
    assert describe(box(128, 64), view(128, 60, strides=(64, 1))).strides == (128,)


def test_near_miss() -> None:
    """One row: nothing is a stride away."""
    assert describe(box(128, 64), view(1, 60, strides=(60, 1))).extents == (60, 1)
