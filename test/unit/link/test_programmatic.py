"""Kernels that begin before the one in front has ended: the instructions, the launch contract and the launch."""

from __future__ import annotations

from typing import Any

import pytest

from pipelink import runtime
from pipelink.backend import sass
from pipelink.runtime import driver
from test.compositions import Objects, compose

NEXT, WAIT = "PREEXIT", "ACQBULK"  # griddepcontrol.launch_dependents and .wait


def opcodes(name: str, objects: Objects) -> list[str]:
    return [found.opcode for found in sass.read(compose(name, objects).link().targets[0].cubin).instructions]


def test_a_role_that_waits_itself_reads_before_and_after(objects: Objects) -> None:
    found = opcodes("add_early", objects)
    assert found.index(NEXT) < found.index("LDG.E") < found.index(WAIT)
    assert "LDG.E" in found[found.index(WAIT) :]
    assert (found.count(NEXT), found.count(WAIT)) == (1, 1)


def test_every_other_role_waits_before_it_begins(objects: Objects) -> None:
    """The loader and the mainloop of a GEMM; the copies of its tiles come behind the wait."""
    found = opcodes("gemm_programmatic", objects)
    assert (found.count(NEXT), found.count(WAIT)) == (2, 2)
    assert all("UTMALDG.2D" not in found[at - 40 : at] for at, opcode in enumerate(found) if opcode == WAIT)


def test_a_plain_kernel_has_neither(objects: Objects) -> None:
    assert not {NEXT, WAIT} & {*opcodes("gemm-wgmma_128x256x64-store-grouped_tiles", objects)}


@pytest.mark.parametrize(("name", "expected"), [("gemm_programmatic", True), ("gemm_stamped", False)])
def test_the_launch_says_so_to_the_driver(
    objects: Objects, name: str, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuda.bindings import driver as bindings

    contract = runtime.load(compose(name, objects).link().package()).contract
    assert contract.programmatic is expected
    monkeypatch.setattr(driver, "cuda", lambda: bindings)
    loaded: Any = driver.LoadedKernel.__new__(driver.LoadedKernel)
    loaded.contract = contract
    made = loaded._configuration((132, 1, 1), 0)
    attribute = bindings.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    found = [
        one.value.programmaticStreamSerializationAllowed for one in made.attrs[: made.numAttrs] if one.id == attribute
    ]
    assert found == ([1] if expected else [])
