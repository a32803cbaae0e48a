# KIND: cluster above 8 without opt-in
# DECIDED: check, launch
"""More than 8 CTAs in a cluster need an attribute of the function, which the runtime sets; 16 are the most there are,
and ``check`` refuses more with ``[cluster-too-large]`` (clusters.mlir)."""

import pytest

from . import device

OPT_IN = "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED"


@pytest.mark.parametrize(("ctas", "opted_in"), [(16, True), (9, True), (8, False), (1, False)])
def test_the_runtime_opts_in(monkeypatch: pytest.MonkeyPatch, ctas: int, opted_in: bool) -> None:
    driver = device.Driver(monkeypatch)
    device.kernel(cluster=[ctas, 1, 1], grid=[str(ctas)])(x=device.tensor(), out=device.tensor())
    assert (OPT_IN in driver.attributes) == opted_in
    assert len(driver.launched) == 1
