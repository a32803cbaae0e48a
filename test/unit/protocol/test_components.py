"""What the shipped and the tests' components are said to do: stated, or a default that is known to be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelink import ir
from pipelink.analysis.declarations import add_objects
from pipelink.analysis.protocol.language import actions_of, protocol_of
from pipelink.ir import builder
from pipelink.ir.views import Component, Program
from pipelink.objects import read_objects
from test.compositions import FOLDERS, Objects

#: Roles and answers that use ports and state nothing, because what they do is the default.
BY_DEFAULT = {
    "plc.staged_store": "store",
    "test.placed_tiles": "fill",
    "test.plain_writer": "fill",
    "test.swizzled_writer": "fill",
    "test.plain_reader": "drain",
    "test.swizzled_reader": "drain",
    "test.gathered_blocks": "fill",
    "test.gathered_rows": "fill",
    "test.row_writer": "drain",
    "test.items": "send",
    "test.weigh": "run",
    "test.block_adder": "add",
    "test.block_copier": "copy",
    "test.rope": "turn",
    "broken.split_reader": "sum",  # broken: what its warps do, no protocol says
    "test.fill": "run",  # it calls what uses no port, and that not in every thread
}


@pytest.fixture(scope="module")
def shipped(objects: Objects) -> Program:
    module = builder.module(ir.new_context())
    for source in sorted(path for folder in FOLDERS for path in Path(folder).glob("*.cu")):
        add_objects(module, read_objects(objects[source.stem]))
    return ir.verify(module)


def uses(component: Component, name: str) -> bool:
    return any(action.subject in component.ports for action in actions_of(protocol_of(component, name).body))


def test_every_role_and_answer_with_ports_is_stated_or_known_by_default(shipped: Program) -> None:
    assert any(name.startswith("plc.") for name in shipped.components)
    assert len(shipped.components) > 60
    found: dict[str, str] = {}
    for component in shipped.components.values():
        answers = [port.name for port in component.ports.values() if port.direction == "answers"]
        for name in (*component.roles, *answers):
            if not protocol_of(component, name).stated and uses(component, name):
                found[component.name] = name
    assert found == BY_DEFAULT


def test_every_port_barrier_and_buffer_is_used(shipped: Program) -> None:
    for component in shipped.components.values():
        if component.name == "broken.split_reader":
            continue
        names = [*component.roles, *(p.name for p in component.ports.values() if p.direction == "answers")]
        bodies = [protocol_of(component, name).body for name in names]
        used = {action.subject for body in bodies for action in actions_of(body)}
        counts = " ".join(view.text for view in component.protocols.values())
        declared = [p.name for p in component.ports.values() if p.direction != "answers"]
        for name in (*declared, *component.barriers, *component.smem):
            assert name in used or f"repeat {name} " in counts, (component.name, name)
