# KIND: a view's offset refused though aligned
# DECIDED: launch
"""A view may begin anywhere that TMA can: at a multiple of 16 bytes, not of what an allocation has."""

import pytest

from pipelink.runtime.tensor_map import describe
from pipelink.support.diagnostics import LinkError

from .maps import box, view


def test_fault() -> None:
    with pytest.raises(LinkError, match=r"a multiple of 16, given 0x1008.*\[argument-alignment\]"):
        describe(box(128, 64), view(128, 64, at=0x1008))


@pytest.mark.parametrize("at", [0x1010, 0x1100, 0x2000])
def test_near_miss(at: int) -> None:
    assert describe(box(128, 64), view(128, 64, strides=(512, 1), at=at)).pointer == at
