"""Part of ``check``: what both ends of a connection must agree on besides data.

Streams: end and emptiness.  Tokens: credit.  Dispatch: opcodes and operands.  Signals: scope, owner, epoch and reset,
and that waiting for other CTAs needs them resident.  Leases: pages.  Multicast: the cluster, and what its CTAs share.
"""

from __future__ import annotations

import math

from pipelink.analysis.graph import ConnectionGraph, Edge
from pipelink.analysis.multicast import CLUSTER_CTAS, division
from pipelink.ir.views import Cluster, Port
from pipelink.support.diagnostics import Diagnostics, Note

LOCKSTEP = "cluster_lockstep"  # promise of a scheduler


def check_protocols(graph: ConnectionGraph, diagnostics: Diagnostics) -> None:
    """Check each connection whose ends are of one kind."""
    for edge in graph.edges:
        kind = edge.source.port.kind
        if kind != edge.target.port.kind:
            continue
        if edge.connect.opcode is not None and kind != "dispatch":
            message = f"the connection of {edge.source} has an opcode, which dispatch ports alone have"
            diagnostics.error("opcode-conflict", message, edge.connect.location)
        if edge.connect.credit is not None and (kind != "token" or edge.connect.credit > 1):
            message = f"the connection of {edge.source} has credit {edge.connect.credit}, tokens alone have it, 0 or 1"
            diagnostics.error("protocol-mismatch", message, edge.connect.location)
        if edge.connect.shared or (edge.connect.transfer == "cluster" and edge.source.port.touch == "tma"):
            _check_cluster(graph, edge, diagnostics)
        rule = _RULES.get(kind)
        if rule is not None:
            rule(graph, edge, diagnostics)
    for edges in graph.by_source.values():
        if edges[0].source.port.kind == "dispatch":
            _check_opcodes(edges, diagnostics)


def _notes(*ports: Port) -> list[Note]:
    return [Note(f"port '{port.name}' is declared here", port.location) for port in ports]


def _disagree(edge: Edge, what: str, source: object, target: object, diagnostics: Diagnostics) -> None:
    message = f"{edge.source} and {edge.target} disagree on {what}: {source} and {target}"
    notes = _notes(edge.source.port, edge.target.port)
    diagnostics.error("protocol-mismatch", message, edge.connect.location, notes=notes)


def _check_stream(graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
    source, target = edge.source.port, edge.target.port
    where, notes = edge.connect.location, _notes(source, target)
    if source.ends and not target.ends:
        message = f"{edge.source} ends, but {edge.target} never tests for the end"
        hint = "declare pl::ends on the consumer's port and test ended() after wait()"
        diagnostics.error("ends-mismatch", message, where, notes=notes, hint=hint)
    elif target.ends and not source.ends:
        message = f"{edge.target} tests for an end, but {edge.source} never ends"
        diagnostics.warning("ends-mismatch", message, where, notes=notes)
    if source.may_be_empty and target.ends and not target.may_be_empty:
        message = f"{edge.source} may end before its first item, but {edge.target} expects at least one"
        diagnostics.error("empty-mismatch", message, where, notes=notes)
    if source.multicast != target.multicast:
        _disagree(edge, "multicast", source.multicast, target.multicast, diagnostics)
    if source.data.get("scope", "cta") != target.data.get("scope", "cta"):
        _disagree(edge, "scope", source.scope or "cta", target.scope or "cta", diagnostics)
    if source.cta_group != target.cta_group:
        _disagree(edge, "cta_group", source.cta_group, target.cta_group, diagnostics)
    elif source.cta_group > 1:
        _check_pair(graph, edge, diagnostics)
    ctas = cluster_size(graph)
    if source.multicast > ctas:
        message = f"{edge.source} goes to {source.multicast} CTAs of the cluster, which has {ctas}"
        diagnostics.error("protocol-mismatch", message, where, notes=_notes(source))


def _check_pair(graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
    """Whether there is a pair of CTAs, which work in step, and no tensor-core work of one CTA beside it."""
    where, notes, name = edge.connect.location, _notes(edge.source.port), graph.kernel.name
    ctas = cluster_size(graph)
    if ctas != CLUSTER_CTAS:
        has = f"clusters of {ctas} CTAs" if ctas > 1 else "no cluster"
        message = f"{edge.source} to {edge.target} is for a pair of CTAs, kernel '{name}' has {has}"
        diagnostics.error("cluster-mismatch", message, where, notes=notes)
        return
    if not _in_lockstep(graph):
        message = (
            f"{edge.source} to {edge.target} is for a pair of CTAs, but nothing promises {LOCKSTEP} = {CLUSTER_CTAS}"
        )
        hint = "let a scheduler for clusters deal out the work, such as plc::paired_tiles"
        diagnostics.error("cluster-mismatch", message, where, notes=notes, hint=hint)
    alone = [e for e in graph.edges if "tcgen05" in (e.source.port.touch, e.target.port.touch)]
    for other in (e for e in alone if e.source.port.cta_group == e.target.port.cta_group == 1):
        message = f"{edge.source} is of cta_group 2 and {other.source} of cta_group 1, a kernel has one"
        diagnostics.error("cluster-mismatch", message, where, notes=[*notes, *_notes(other.source.port)])


def _in_lockstep(graph: ConnectionGraph) -> bool:
    views = (graph.kernel, *graph.components.values())
    return any(p.name == LOCKSTEP and p.value == CLUSTER_CTAS for view in views for p in view.promises)


def _check_cluster(graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
    """Whether the kernel has the cluster that the transfer is for, and both CTAs can share what they shall."""
    connect, port, where = edge.connect, edge.source.port, edge.connect.location

    def refuse(message: str, hint: str | None = None) -> None:
        diagnostics.error("cluster-mismatch", message, where, notes=_notes(port), hint=hint)

    if connect.transfer != "cluster":
        refuse(f"{edge.source} to {edge.target} shares tiles, which transfer 'cluster' alone does", "ask for it")
        return
    ctas = cluster_size(graph)
    if ctas != CLUSTER_CTAS:
        what = f"clusters of {ctas} CTAs" if ctas > 1 else "no cluster"
        message = f"transfer 'cluster' of {edge.source} to {edge.target} is for clusters of {CLUSTER_CTAS} CTAs, "
        refuse(f"{message}kernel '{graph.kernel.name}' has {what}")
        return
    if not connect.shared:
        refuse(f"{edge.source} to {edge.target} does not say which tiles both CTAs share", "shared = [1]")
    for part in dict.fromkeys(connect.shared):
        if part >= len(port.tiles) or connect.shared.count(part) > 1:
            why = f"it has {len(port.tiles)} tiles" if part >= len(port.tiles) else "it is listed twice"
        else:
            divided = division(edge.source.component, port, part)
            why = divided if isinstance(divided, str) else None
        if why:
            refuse(f"tile {part} of {edge.source} cannot be shared: {why}")
    other = next((c for c in graph.by_source[edge.source.key] if c.connect.shared != connect.shared), None)
    if other is not None:
        refuse(f"the connections of {edge.source} share different tiles")
    if not _in_lockstep(graph):
        message = f"{edge.source} to {edge.target} shares tiles between the CTAs of a cluster, but nothing promises "
        refuse(
            f"{message}{LOCKSTEP} = {CLUSTER_CTAS}: that both take equally many slots, with the same shared tiles",
            "let a scheduler for clusters deal out the work, such as plc::paired_tiles",
        )


def cluster_size(graph: ConnectionGraph) -> int:
    """CTAs of the kernel's cluster, the kernel's own declaration before its components'."""
    declared: list[Cluster | None] = [graph.kernel.cluster, *(c.cluster for c in graph.components.values())]
    found = next((cluster for cluster in declared if cluster is not None), None)
    return math.prod(found.value) if found is not None else 1


def _check_token(graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
    source, target = edge.source.port, edge.target.port
    stated = edge.connect.credit is None and "credit" in source.data and "credit" in target.data
    if stated and source.credit != target.credit:
        _disagree(edge, "the token's credit", source.credit, target.credit, diagnostics)
    for port in (source, target):
        if port.credit > 1:
            message = f"token port '{port.name}' starts with credit {port.credit}, a token carries 0 or 1"
            diagnostics.error("protocol-mismatch", message, edge.connect.location, notes=_notes(port))


def _check_dispatch(graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
    source, target = edge.source.port.data.get("operands"), edge.target.port.data.get("operands")
    if source != target:
        _disagree(edge, "the operands", source or "none", target or "none", diagnostics)


def _check_opcodes(edges: list[Edge], diagnostics: Diagnostics) -> None:
    seen: dict[int, Edge] = {}
    for edge in edges:
        opcode, where = edge.connect.opcode, edge.connect.location
        if opcode is None:
            diagnostics.error("opcode-conflict", f"{edge.source} dispatches to {edge.target} without an opcode", where)
        elif opcode in seen:
            message = f"{edge.source} dispatches opcode {opcode} to {seen[opcode].target} and to {edge.target}"
            notes = [Note("first given here", seen[opcode].connect.location)]
            diagnostics.error("opcode-conflict", message, where, notes=notes)
        else:
            seen[opcode] = edge


def _check_signal(graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
    source, target = edge.source, edge.target
    for key in ("scope", "owner", "epoch", "reset", "workspace"):
        given = (source.port.data.get(key), target.port.data.get(key))
        if given[0] != given[1]:
            _disagree(edge, f"the signal's {key}", given[0] or "none", given[1] or "none", diagnostics)
    data, where = source.port.data, edge.connect.location
    notes = _notes(source.port)
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
        diagnostics.error("protocol-mismatch", f"signal {source} lives in a peer buffer, none is declared", where)
    if data["scope"] == "gpu" and not any(view.resident for view in views):
        message = f"{target} waits for other CTAs of the grid, but nothing keeps them resident"
        hint = "declare pipelink.resident in the kernel or the component"
        diagnostics.error("not-resident", message, where, notes=_notes(target.port), hint=hint)
    if data["scope"] == "cluster" and cluster_size(graph) < 2:
        message = f"signal {source} is between the CTAs of a cluster, which has one"
        diagnostics.error("protocol-mismatch", message, where, notes=notes)


def _check_lease(graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
    pool = edge.source.component.pools[edge.source.port.data["pool"]]
    port, where = edge.target.port, edge.connect.location
    notes = [Note("the pool is declared here", pool.location), *_notes(port)]
    if port.data["page_bytes"] > pool.page_bytes:
        message = (
            f"{edge.target} borrows pages of {port.data['page_bytes']} bytes, pool '{pool.name}' has {pool.page_bytes}"
        )
        diagnostics.error("lease-mismatch", message, where, notes=notes)
    if port.pages[0] > pool.pages[1]:
        message = f"{edge.target} borrows {port.pages[0]} pages at once, pool '{pool.name}' has at most {pool.pages[1]}"
        diagnostics.error("lease-mismatch", message, where, notes=notes)


_RULES = {
    "stream": _check_stream,
    "token": _check_token,
    "dispatch": _check_dispatch,
    "signal": _check_signal,
    "lease": _check_lease,
}
