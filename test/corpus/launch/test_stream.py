# KIND: the default stream used instead of the caller's
# DECIDED: prevented
"""A launch goes to the stream that is current where its tensors come from, or to the one that is given; what is no
stream is refused.  test/gpu/test_runtime.py shows the order of two streams on a device."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from pipelink.support.diagnostics import LinkError

from . import device


@dataclass(frozen=True)
class Device:
    type: str
    index: int


@pytest.fixture
def torch_tensor(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A tensor of a torch whose current stream is 0x70."""

    class Tensor:
        device = Device("cuda", 0)
        dtype, shape = "torch.float32", (128,)

        def data_ptr(self) -> int:
            return 4096

        def stride(self) -> tuple[int, ...]:
            return (1,)

    current = SimpleNamespace(current_stream=lambda _device: SimpleNamespace(cuda_stream=0x70))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor, cuda=current))
    return Tensor()


def test_the_callers_stream_is_used(monkeypatch: pytest.MonkeyPatch, torch_tensor: Any) -> None:
    driver = device.Driver(monkeypatch)
    kernel = device.kernel()
    kernel(x=torch_tensor, out=torch_tensor)
    kernel(x=torch_tensor, out=torch_tensor, stream=0x80)
    kernel(x=device.tensor(), out=device.tensor())
    assert driver.launched == [0x70, 0x80, 0]


def test_what_is_no_stream_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    device.Driver(monkeypatch)
    with pytest.raises(LinkError, match=r"stream: expected a CUDA stream, given str \[argument-type\]"):
        device.kernel()(x=device.tensor(), out=device.tensor(), stream="main")
