# KIND: parameter block above 4 KiB on an old driver
# DECIDED: launch
"""A table of 4,096 bytes beside two pointers: drivers before CUDA 12.1 read 4,096 bytes of parameters in all."""

import pytest

from pipelink.support.diagnostics import LinkError

from . import device

LARGE = {**device.LAUNCH["parameters"], "bytes": 4160}


def test_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = device.Driver(monkeypatch)
    driver.version = 12000
    with pytest.raises(LinkError, match=r"64 over the 4096 of this driver.* CUDA 12.0 \[parameter-overflow\]"):
        device.kernel(parameters=LARGE)(x=device.tensor(), out=device.tensor())
    assert driver.loaded == []


def test_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = device.Driver(monkeypatch)
    driver.version = 12010
    device.kernel(parameters=LARGE)(x=device.tensor(), out=device.tensor())
    assert len(driver.launched) == 1


def test_near_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = device.Driver(monkeypatch)
    driver.version = 12000
    device.kernel(parameters={**LARGE, "bytes": 4096})(x=device.tensor(), out=device.tensor())
    assert len(driver.launched) == 1
