"""Writes what a dispatcher's role does at a ``run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelink.ir.views import Component
from pipelink.support.protocol import Action

if TYPE_CHECKING:
    from pipelink.analysis.protocol.writer import Writer


def write_operation(writer: Writer, instance: str, component: Component, action: Action) -> None:
    """The operation that is followed, which every instruction names; then the threads meet, where the linker lets
    them."""
    where = component.dispatches[action.subject].location
    for other, role in writer.compiler.run_by(instance, action):
        protocol = writer.compiler.protocol(other, role)
        untils, writer.untils = writer.untils, []
        writer.block(other, protocol, role, protocol.body)
        writer.untils = untils
        meeting = writer.compiler.meetings_of.get(f"{instance}::{writer.role.name}")
        if meeting is not None:
            writer.meet("sync", meeting, f"@{instance}::@{writer.role.name}", f"the end of {other}", where)
