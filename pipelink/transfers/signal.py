"""Signals between CTAs of the grid, or GPUs: counters in memory whose owner is stated (``signal.cu``).

Those that live in a workspace, or in a tensor of each GPU, and count anew in each launch have device code; others can
be checked and placed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pipelink.contract.vocabulary import TOUCHES
from pipelink.ir.attributes import SymbolRef
from pipelink.ir.placement import ConnectionPlacement, omitted
from pipelink.ir.views import Component, Connect, Kernel, Port
from pipelink.model.binding import Arg, Const, CursorPointer, Invoke, Return
from pipelink.model.graph import ConnectionGraph, Edge
from pipelink.support.diagnostics import Diagnostics
from pipelink.target import ADDRESS_BYTES
from pipelink.transfers.base import Entrance, Plan, Solved, Transfer, declared, report_disagreement
from pipelink.transfers.binder import Binder

_STATED = ("scope", "epoch", "reset", "owner", "workspace")


@dataclass(frozen=True)
class SignalPlacement(ConnectionPlacement):
    """What both ports state.  ``cursor`` is the place of the frame that says where the counters are."""

    scope: str
    owner: str
    cursor: int | None = omitted(None)
    epoch: str | None = omitted(None)
    reset: str | None = omitted(None)
    workspace: str | None = omitted(None)


class Signal(Transfer):
    """A frame holds where the launch's counters of a memory begin; all of its ends in one thread share that."""

    name: ClassVar[str] = "signal"
    kind: ClassVar[str] = "signal"
    sources: ClassVar[tuple[str, ...] | None] = ("signal.cu",)
    form: ClassVar[type[ConnectionPlacement]] = SignalPlacement
    consumer_waits: ClassVar[tuple[str, ...]] = ("await",)

    def agree(self, graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
        source, target = edge.source, edge.target
        ends = (edge.connect.source, edge.connect.target)
        for key in ("scope", "owner", "epoch", "reset", "workspace"):
            given = (source.port.data.get(key), target.port.data.get(key))
            if key == "workspace":
                given = (memory_of(graph.kernel, ends[0], given[0]), memory_of(graph.kernel, ends[1], given[1]))
            if given[0] != given[1]:
                report_disagreement(edge, f"the signal's {key}", given[0] or "none", given[1] or "none", diagnostics)
        data, where = source.port.data, edge.connect.location
        notes = declared(source.port)
        if "epoch" not in data and "reset" not in data:
            message = f"signal {source} says neither its epoch nor who resets it, so a second launch would find it set"
            diagnostics.error("protocol-mismatch", message, where, notes=notes)
        elif data.get("reset") == "epoch" and "epoch" not in data and not _by_epochs(source.port):
            diagnostics.error("protocol-mismatch", f"signal {source} is reset by an epoch that it does not name", where)
        views = (graph.kernel, *graph.components.values())
        if data["owner"] == "workspace":
            known = {w.name for view in views for w in view.workspaces}
            name = data.get("workspace")
            if name is None or name not in known:
                what = f"workspace '{name}', which nothing declares" if name else "a workspace that it does not name"
                diagnostics.error("protocol-mismatch", f"signal {source} lives in {what}", where, notes=notes)
            elif "epoch" not in data and _by_epochs(source.port):
                held = {w.init for view in views for w in view.workspaces if w.name == name}
                if held != {"once"}:
                    message = f"signal {source} counts by epochs in workspace '{name}', which is not cleared once"
                    diagnostics.error("protocol-mismatch", message, where, notes=notes, hint='init = "once"')
        if data["owner"] == "peer":
            like, held = {peer.tensor for view in views for peer in view.peers}, data.get("workspace")
            if not like:
                message = f"signal {source} lives in a peer buffer, none is declared"
                diagnostics.error("protocol-mismatch", message, where)
            elif held is not None and held not in like:
                message = f"signal {source} lives in tensor '{held}', which no peers have"
                diagnostics.error("protocol-mismatch", message, where)
        if (data["scope"] == "gpu" or _by_epochs(source.port)) and not any(view.resident for view in views):
            others = "CTAs of other GPUs" if data["owner"] == "peer" else "other CTAs of the grid"
            message = f"{target} waits for {others}, but nothing keeps them resident"
            hint = "declare pipelink.resident in the kernel or the component"
            diagnostics.error("not-resident", message, where, notes=declared(target.port), hint=hint)
        if data["scope"] == "cluster" and graph.cluster_size < 2:
            message = f"signal {source} is between the CTAs of a cluster, which has one"
            diagnostics.error("protocol-mismatch", message, where, notes=notes)

    def place(self, plan: Plan, connect: Connect, solved: Solved) -> SignalPlacement:
        source = plan.site.source
        stated: dict[str, Any] = {name: source.data.get(name) for name in _STATED}
        ends = [plan.site.lifetimes.components[ref.root] for ref in (connect.source, connect.target)]
        known = all(name in component.params for component in ends for name in _parameters(source))
        memory = memory_of(plan.site.lifetimes.kernel, connect.source, source.workspace)
        cursor = solved.cursor(f"signals in {memory}", "") if known and _by_epochs(source) else None
        return SignalPlacement(transfer=self.name, cursor=cursor, **stated)

    def contradiction(self, placed: ConnectionPlacement, connects: Sequence[Connect], ports: Sequence[Port]) -> str:
        assert isinstance(placed, SignalPlacement)
        for name in _STATED:
            stated, found = ports[0].data.get(name), getattr(placed, name)
            if stated != found:
                return f"has {name} {stated or 'none'}, and is placed with {found or 'none'}"
        return ""

    def has_code(self, connect: Connect) -> bool:
        placed = connect.placed(SignalPlacement)
        return placed is not None and placed.cursor is not None

    def bind(self, binder: Binder, connect: Connect) -> None:
        placed = connect.placed(SignalPlacement)
        assert placed is not None, connect.name
        assert placed.cursor is not None, connect.name
        where, index = CursorPointer(placed.cursor), Arg("index")
        for ref in (connect.source, connect.target):
            if not binder.first_of(ref):
                continue
            instance, port = binder.instance(ref), binder.port(ref)
            if port.direction == "out" and placed.owner == "peer":
                own, table = (binder.parameter(instance, f"{port.workspace}_{name}") for name in ("memory", "table"))
                gpus = Const(binder.component(instance).params[f"{port.workspace}_table"].bytes // ADDRESS_BYTES)
                values = (where, own, table, gpus, Arg("rank"), index, Arg("count"))
                binder.function(instance, port, "pl_signal", Invoke("pl_signal_add_peer", values), Return())
            elif port.direction == "out":
                add = Invoke(f"pl_signal_add_{placed.scope}", (where, index, Arg("count")))
                binder.function(instance, port, "pl_signal", add, Return())
            else:
                fence = Const(int(fetches(binder.component(other) for other in binder.instances.values())))
                wait = Invoke(f"pl_signal_await_{placed.scope}", (where, index, Arg("least"), fence), waits=True)
                binder.waiting(instance, port, "pl_await", wait, then=(Return(),), stage=index)

    def entrance(self, connect: Connect, port: Port) -> Entrance | None:
        placed = connect.placed(SignalPlacement)
        if placed is None or placed.cursor is None:
            return None
        return Entrance("pl_signal_enter", placed.cursor, _parameters(port)[:2])

    def parameters(self, connect: Connect, port: Port) -> tuple[str, ...]:
        return _parameters(port) if self.has_code(connect) else ()


def _by_epochs(port: Port) -> bool:
    """Whether the counters have a word for each of the last launches: in a workspace, or a tensor of each GPU."""
    return port.owner in ("workspace", "peer") and port.reset == "epoch" and port.scope in ("gpu", "system")


def _parameters(port: Port) -> tuple[str, ...]:
    """The component's parameters that PL_COUNTERS declares: the memory, how many counters it has, and that of peers."""
    found = (f"{port.workspace}_memory", f"{port.workspace}_count")
    return (*found, f"{port.workspace}_table") if port.owner == "peer" else found


def memory_of(kernel: Kernel, ref: SymbolRef, name: str | None) -> str | None:
    """What the kernel calls the memory that a port's component calls ``name``."""
    return kernel.instances[ref.root].rename.get(name, name) if name is not None else None


def fetches(components: Iterable[Component]) -> bool:
    """Whether what is announced may then be fetched by TMA, by whoever learns of it from the thread that waited."""
    ports = (port for component in components for port in component.ports.values())
    return any(port.kind == "stream" and TOUCHES[port.touch].copies for port in ports)
