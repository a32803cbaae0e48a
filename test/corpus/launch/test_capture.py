# KIND: first load inside a graph capture
# DECIDED: launch
"""Loading code allocates, which a capture forbids: the first call of a kernel cannot be inside one."""

import pytest

from pipelink.support.diagnostics import LinkError

from . import device


def test_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = device.Driver(monkeypatch)
    driver.capturing = True
    with pytest.raises(LinkError, match=r"first used inside a graph capture.* \[preload-needed\]") as caught:
        device.kernel()(x=device.tensor(), out=device.tensor())
    assert caught.value.diagnostics[0].hint == "call preload() with the same arguments before the capture"
    assert driver.loaded == []


def test_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = device.Driver(monkeypatch)
    kernel = device.kernel()
    kernel.preload(x=device.tensor(), out=device.tensor())
    driver.capturing = True
    kernel(x=device.tensor(), out=device.tensor())
    assert (driver.loaded, len(driver.launched)) == ([0], 1)


def test_near_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded for the device alone: enough where there is no workspace to allocate."""
    driver = device.Driver(monkeypatch)
    kernel = device.kernel()
    kernel.preload(device=0)
    driver.capturing = True
    kernel(x=device.tensor(), out=device.tensor())
    assert len(driver.launched) == 1


def test_a_workspace_is_reserved_ahead_too(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = device.Driver(monkeypatch)
    kernel = device.kernel(workspaces=[{"name": "flags", "bytes": "N", "init": "none"}])
    kernel.preload(device=0)
    driver.capturing = True
    with pytest.raises(LinkError, match=r"\[preload-needed\]"):
        kernel(x=device.tensor(), out=device.tensor())
    driver.capturing = False
    kernel.preload(x=device.tensor(), out=device.tensor())
    driver.capturing = True
    kernel(x=device.tensor(), out=device.tensor())
    assert len(driver.launched) == 1
