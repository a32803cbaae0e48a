# KIND: tensors on another device than the current one
# DECIDED: launch
"""The device is the tensors' own, whatever is current; tensors of two devices are refused."""

import pytest

from pipelink.support.diagnostics import LinkError

from . import device


def test_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = device.Driver(monkeypatch)
    with pytest.raises(LinkError, match=r"tensor 'out': expected device 1, given device 0 \[argument-device\]"):
        device.kernel()(x=device.tensor(1), out=device.tensor(0))
    assert driver.loaded == []


def test_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = device.Driver(monkeypatch)
    assert driver.current == 0
    device.kernel()(x=device.tensor(1), out=device.tensor(1))
    assert driver.loaded == [1]
    assert len(driver.launched) == 1
