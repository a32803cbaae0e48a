"""Part of ``check``: what both ends of a connection must agree on besides data.

The transfer between ports of their kind knows what that is: end and emptiness of a stream, credit of a token, scope,
owner, epoch and reset of a signal, what a cluster's CTAs share.
"""

from __future__ import annotations

from pipelink.model.graph import ConnectionGraph
from pipelink.support.diagnostics import Diagnostics
from pipelink.transfers import of_kind
from pipelink.transfers.cluster import check_shared


def check_protocols(graph: ConnectionGraph, diagnostics: Diagnostics) -> None:
    """Check each connection whose ends are of one kind."""
    for edge in graph.edges:
        kind = edge.source.port.kind
        if kind != edge.target.port.kind:
            continue
        if edge.connect.credit is not None and (kind != "token" or edge.connect.credit > 1):
            message = f"the connection of {edge.source} has credit {edge.connect.credit}, tokens alone have it, 0 or 1"
            diagnostics.error("protocol-mismatch", message, edge.connect.location)
        check_shared(graph, edge, diagnostics)
        of_kind(kind).agree(graph, edge, diagnostics)
    for edges in graph.by_source.values():
        of_kind(edges[0].source.port.kind).agree_all(edges, diagnostics)
