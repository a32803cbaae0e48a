# KIND: a grid-synchronising component whose CTAs no longer all fit after a swap (shared memory, barriers, registers)
# DECIDED: launch
"""How many CTAs fit is the driver's answer for the code at hand: a swapped component that takes more shared memory or
registers changes it, and the grid is compared with it at every launch."""

import pytest

from pipelink.runtime.contract import LaunchContract, Resolved, resolve
from pipelink.support.diagnostics import LinkError

CONTRACT = {
    "kernel": "reduce",
    "arguments": [],
    "dimensions": [],
    "grid": ["264"],
    "threads": 128,
    "smem_bytes": 0,
    "resident": True,
    "parameters": {"bytes": 0, "align": 64, "fields": []},
}


def launch(ctas_per_sm: int, **changes: object) -> Resolved:
    """On a device with 132 SMs."""
    contract = LaunchContract.from_json({**CONTRACT, **changes})
    return resolve(contract, {}, {}, {}, sms=132, occupancy=lambda: ctas_per_sm, capacity=lambda: 132 * ctas_per_sm)


def test_fault() -> None:
    """Two CTAs fitted on an SM; with the larger component one does."""
    with pytest.raises(LinkError, match=r"264 CTAs asked, 132 fit.*\[grid-not-resident\]"):
        launch(1)


def test_fix() -> None:
    """A grid that asks how many fit."""
    assert launch(1, grid=["sms * occupancy"]).grid == (132, 1, 1)


def test_near_miss() -> None:
    assert launch(2).grid == (264, 1, 1)
    assert launch(1, resident=False).grid == (264, 1, 1)
