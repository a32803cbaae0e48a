# KIND: CTAs that must all be resident, counted in clusters
# DECIDED: launch
# REPORT: https://github.com/NVIDIA/cuda-python/pull/2578
# WRONG: A cooperative launch compared the grid, which counts clusters there, with the number of blocks that fit at
# once: with clusters of four it let through four times what fits.
"""Grids count CTAs here, with or without a cluster, and so does what fits."""

import pytest

from pipelink.runtime.contract import LaunchContract, Resolved, resolve
from pipelink.support.diagnostics import LinkError

CONTRACT = {
    "kernel": "reduce",
    "arguments": [],
    "dimensions": [],
    "grid": ["4 * sms", "1", "1"],
    "cluster": [4, 1, 1],
    "threads": 128,
    "smem_bytes": 0,
    "cooperative": True,
    "parameters": {"bytes": 0, "align": 64, "fields": []},
}


def launch(clusters: int, **changes: object) -> Resolved:
    """On 132 SMs, with room for so many clusters of four."""
    contract = LaunchContract.from_json({**CONTRACT, **changes})
    return resolve(contract, {}, {}, {}, sms=132, occupancy=lambda: 1, capacity=lambda: 4 * clusters)


def test_fault() -> None:
    """132 clusters are 528 CTAs; 32 clusters fit."""
    with pytest.raises(LinkError, match=r"528 CTAs asked, 128 fit.*\[grid-not-resident\]"):
        launch(32)


def test_fix() -> None:
    assert launch(32, grid=["128", "1", "1"]).grid == (128, 1, 1)


def test_near_miss() -> None:
    """The same clusters in a kernel that does not wait for all of them."""
    assert launch(32, cooperative=False).grid == (528, 1, 1)
