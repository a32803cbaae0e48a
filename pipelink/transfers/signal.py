"""Signals between CTAs of the grid, or GPUs: counters or flags in memory whose owner is stated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pipelink.ir.placement import ConnectionPlacement, omitted
from pipelink.ir.views import Connect
from pipelink.model.graph import ConnectionGraph, Edge
from pipelink.support.diagnostics import Diagnostics
from pipelink.transfers.base import (
    Plan,
    Solved,
    Transfer,
    declared,
    report_disagreement,
)

_STATED = ("scope", "epoch", "reset", "owner", "workspace")


@dataclass(frozen=True)
class SignalPlacement(ConnectionPlacement):
    """What both ports state."""

    scope: str
    owner: str
    epoch: str | None = omitted(None)
    reset: str | None = omitted(None)
    workspace: str | None = omitted(None)


class Signal(Transfer):
    """It can be checked and placed."""

    name: ClassVar[str] = "signal"
    kind: ClassVar[str] = "signal"
    form: ClassVar[type[ConnectionPlacement]] = SignalPlacement

    def agree(self, graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
        source, target = edge.source, edge.target
        for key in ("scope", "owner", "epoch", "reset", "workspace"):
            given = (source.port.data.get(key), target.port.data.get(key))
            if given[0] != given[1]:
                report_disagreement(edge, f"the signal's {key}", given[0] or "none", given[1] or "none", diagnostics)
        data, where = source.port.data, edge.connect.location
        notes = declared(source.port)
        if "epoch" not in data and "reset" not in data:
            message = f"signal {source} says neither its epoch nor who resets it, so a second launch would find it set"
            diagnostics.error("protocol-mismatch", message, where, notes=notes)
        elif data.get("reset") == "epoch" and "epoch" not in data:
            diagnostics.error("protocol-mismatch", f"signal {source} is reset by an epoch that it does not name", where)
        views = (graph.kernel, *graph.components.values())
        if data["owner"] == "workspace":
            known = {w.name for view in views for w in view.workspaces}
            name = data.get("workspace")
            if name is None or name not in known:
                what = f"workspace '{name}', which nothing declares" if name else "a workspace that it does not name"
                diagnostics.error("protocol-mismatch", f"signal {source} lives in {what}", where, notes=notes)
        if data["owner"] == "peer" and not any(view.peers for view in views):
            message = f"signal {source} lives in a peer buffer, none is declared"
            diagnostics.error("protocol-mismatch", message, where)
        if data["scope"] == "gpu" and not any(view.resident for view in views):
            message = f"{target} waits for other CTAs of the grid, but nothing keeps them resident"
            hint = "declare pipelink.resident in the kernel or the component"
            diagnostics.error("not-resident", message, where, notes=declared(target.port), hint=hint)
        if data["scope"] == "cluster" and graph.cluster_size < 2:
            message = f"signal {source} is between the CTAs of a cluster, which has one"
            diagnostics.error("protocol-mismatch", message, where, notes=notes)

    def place(self, plan: Plan, connect: Connect, solved: Solved) -> SignalPlacement:
        stated: dict[str, Any] = {name: plan.site.source.data.get(name) for name in _STATED}
        return SignalPlacement(transfer=self.name, **stated)
