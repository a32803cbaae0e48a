"""Writes what a dispatcher's role does at a ``run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelink.analysis.protocol import program as ops
from pipelink.ir.views import Component

if TYPE_CHECKING:
    from pipelink.analysis.protocol.writer import Writer


def write_operation(writer: Writer, instance: str, component: Component, name: str) -> None:
    """One of the operations, the same for all roles of the dispatcher that read the same instructions; then the
    threads meet, where the linker lets them."""
    operations = writer.compiler.operations(instance, name)
    source = writer.compiler.instructions(instance, writer.role.name)
    key = ("operation", instance, source, *writer.compiler.told(writer.agent.cta))
    symbol = writer.compiler.symbol(key, f"operation of {instance}", ways=max(1, len(operations)))
    where = component.dispatches[name].location
    step = writer.emit(ops.Branch(text=f"run {name}", symbol=symbol, location=where))
    targets: list[int] = []
    leaves: list[ops.Jump] = []
    for _, other, role in operations:
        targets.append(writer.here)
        if role is not None:
            protocol = writer.compiler.protocol(other, role)
            untils, writer.untils = writer.untils, []
            writer.block(other, protocol, role, protocol.body)
            writer.untils = untils
            meeting = writer.compiler.meetings_of.get(f"{instance}::{writer.role.name}")
            if meeting is not None:
                writer.meet("sync", meeting, f"@{instance}::@{writer.role.name}", f"the end of {other}", where)
        leaves.append(writer.emit(ops.Jump()))
    step.ways = tuple(targets) or (writer.here,)
    for leave in leaves:
        leave.target = writer.here
