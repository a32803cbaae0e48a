# KIND: tensor-map box larger than the tensor
# DECIDED: launch
"""A box that reaches beyond the tensor is legal, TMA fills the rest with zeros; what TMA cannot address is refused."""

import pytest

from pipelink.runtime.tensor_map import describe
from pipelink.support.diagnostics import LinkError

from .maps import box, view


def test_fault() -> None:
    with pytest.raises(LinkError, match=r"TMA cannot address an empty tensor.*\[empty-tensor\]"):
        describe(box(128, 64), view(0, 64))
    with pytest.raises(LinkError, match=r"expected extents of 1 to 256.*\[tensor-map\]"):
        describe(box(300, 64), view(1000, 512))


def test_fix() -> None:
    found = describe(box(128, 64), view(1000, 512))
    assert (found.box, found.extents) == ((64, 128), (512, 1000))


def test_near_miss() -> None:
    """The box keeps its size, so the bytes that arrive are the ones that the ring expects."""
    found = describe(box(128, 64), view(3, 8))
    assert (found.box, found.extents) == ((64, 128), (8, 3))
