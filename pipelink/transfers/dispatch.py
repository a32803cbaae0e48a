"""Dispatch: a role runs the operation that an opcode names, on its own warps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipelink.ir.placement import ConnectionPlacement
from pipelink.ir.views import Connect
from pipelink.model.graph import ConnectionGraph, Edge
from pipelink.support.diagnostics import Diagnostics, Note
from pipelink.transfers.base import Plan, Solved, Transfer, report_disagreement


@dataclass(frozen=True)
class DispatchPlacement(ConnectionPlacement):
    """The run-time index of the target."""

    opcode: int


class Dispatch(Transfer):
    """It can be checked and placed."""

    name: ClassVar[str] = "dispatch"
    kind: ClassVar[str] = "dispatch"
    form: ClassVar[type[ConnectionPlacement]] = DispatchPlacement

    def agree(self, graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
        source, target = edge.source.port.data.get("operands"), edge.target.port.data.get("operands")
        if source != target:
            report_disagreement(edge, "the operands", source or "none", target or "none", diagnostics)

    def agree_all(self, edges: Sequence[Edge], diagnostics: Diagnostics) -> None:
        seen: dict[int, Edge] = {}
        for edge in edges:
            opcode, where = edge.connect.opcode, edge.connect.location
            if opcode is None:
                message = f"{edge.source} dispatches to {edge.target} without an opcode"
                diagnostics.error("opcode-conflict", message, where)
            elif opcode in seen:
                message = f"{edge.source} dispatches opcode {opcode} to {seen[opcode].target} and to {edge.target}"
                notes = [Note("first given here", seen[opcode].connect.location)]
                diagnostics.error("opcode-conflict", message, where, notes=notes)
            else:
                seen[opcode] = edge

    def place(self, plan: Plan, connect: Connect, solved: Solved) -> DispatchPlacement:
        """The stated opcode, or the position among the targets of the port."""
        number = next(i for i, other in enumerate(plan.site.connects) if other.target == connect.target)
        return DispatchPlacement(self.name, number if connect.opcode is None else connect.opcode)

    def unmodelled(self, connect: Connect, producer: bool) -> str | None:
        return "port '{port}' is a dispatch port"
