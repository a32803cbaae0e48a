"""A debug link's printf and assert, where registers are divided among the roles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipelink.support.diagnostics import LinkError
from test.compositions import TEST_COMPONENTS, Objects, compose


def test_roles_of_few_and_many_registers_print(objects: Objects) -> None:
    """Their registers stay as placed, and the stack is what the arguments need."""
    (linked,) = compose("talking", objects).link(debug_print=True, cache=False).targets
    checks = {check.name: check for check in linked.audit.checks}
    assert linked.audit.ok
    assert checks["setmaxnreg"].actual == checks["setmaxnreg"].expected == "40, 232"
    assert set(checks["calls"].actual.replace(",", "").split()) >= {"assert", "printf"}
    assert checks["stack"].actual == "32 B"
    assert checks["stack"].expected == "at most 32 B, 32 of them for printf and assert"


def test_an_ordinary_link_refuses_each_role(objects: Objects) -> None:
    """At the first line of each function that calls one."""
    with pytest.raises(LinkError) as caught:
        compose("talking", objects).link(cache=False)
    found = {(d.id, Path(d.location.file).name, d.location.line) for d in caught.value.diagnostics}
    source = (TEST_COMPONENTS / "talk.cu").read_text().splitlines()
    lines = {number for number, text in enumerate(source, 1) if re.search(r"\b(printf|assert)\(", text)}
    assert found == {("debug-call", "talk.cu", line) for line in lines}
