"""Leases: pages of shared memory that a pool lends at run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pipelink.ir.placement import ConnectionPlacement
from pipelink.ir.views import Connect
from pipelink.model.graph import ConnectionGraph, Edge
from pipelink.support.diagnostics import Diagnostics, Note
from pipelink.transfers.base import Plan, Solved, Transfer, declared


@dataclass(frozen=True)
class LeasePlacement(ConnectionPlacement):
    """The pool's pages: page n begins at ``address + n * stride``, in bytes."""

    address: int
    pages: int
    stride: int


class Lease(Transfer):
    """It can be checked and placed."""

    name: ClassVar[str] = "lease"
    kind: ClassVar[str] = "lease"
    form: ClassVar[type[ConnectionPlacement]] = LeasePlacement

    def agree(self, graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
        pool = edge.source.component.pools[edge.source.port.data["pool"]]
        port, where = edge.target.port, edge.connect.location
        notes = [Note("the pool is declared here", pool.location), *declared(port)]
        wanted = port.data["page_bytes"]
        if wanted > pool.page_bytes:
            message = f"{edge.target} borrows pages of {wanted} bytes, pool '{pool.name}' has {pool.page_bytes}"
            diagnostics.error("lease-mismatch", message, where, notes=notes)
        if port.pages[0] > pool.pages[1]:
            message = (
                f"{edge.target} borrows {port.pages[0]} pages at once, pool '{pool.name}' has at most {pool.pages[1]}"
            )
            diagnostics.error("lease-mismatch", message, where, notes=notes)

    def place(self, plan: Plan, connect: Connect, solved: Solved) -> LeasePlacement:
        pool = solved.pool(f"{connect.source.root}::{plan.site.source.pool}")
        return LeasePlacement(self.name, pool.address, pool.pages, pool.stride)

    def unmodelled(self, connect: Connect, producer: bool) -> str | None:
        return "port '{port}' is a lease port"
