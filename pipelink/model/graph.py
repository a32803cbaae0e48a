"""The connection graph of a kernel: which port of which instance meets which, with the views at hand.

Built once from verified IR; several passes ask it.  The dictionaries keep the order of the ``connect`` operations.
``networkx`` answers the question about the whole graph, and is imported where it is asked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipelink.ir.views import Component, Connect, Instance, Kernel, Port, Program, Role

Key = tuple[str, str]  # (instance, port)


def first_credit(connects: Iterable[Connect], ports: Iterable[Port]) -> int:
    """The first credit of a token: what its connections state, or else what the ports of its ends do."""
    stated = [connect.credit for connect in connects if connect.credit is not None]
    return max(stated or [port.credit for port in ports])


@dataclass(frozen=True)
class End:
    """One end of a connection."""

    instance: Instance
    component: Component
    port: Port

    @property
    def key(self) -> Key:
        return (self.instance.name, self.port.name)

    @property
    def role(self) -> Role | None:
        """The role that uses the port; None in a passive component, whose port runs in its callers' roles."""
        return self.component.role_of(self.port)

    @property
    def reference(self) -> str:
        """As the IR writes it: ``@load::@ab``."""
        return f"@{self.instance.name}::@{self.port.name}"

    def __str__(self) -> str:
        return f"'{self.reference}'"


@dataclass(frozen=True)
class Edge:
    """One ``connect`` with both ends resolved."""

    connect: Connect
    source: End
    target: End


class ConnectionGraph:
    """All connections of one kernel."""

    def __init__(self, program: Program, kernel: Kernel) -> None:
        self.program = program
        self.kernel = kernel
        self.edges: tuple[Edge, ...] = tuple(
            Edge(connect, self._end(connect.source.root, connect.source.leaf), self._end(*connect.target.path))
            for connect in kernel.connects
        )
        self.by_source: dict[Key, list[Edge]] = {}
        self.by_target: dict[Key, list[Edge]] = {}
        for edge in self.edges:
            self.by_source.setdefault(edge.source.key, []).append(edge)
            self.by_target.setdefault(edge.target.key, []).append(edge)

    def _end(self, instance: str, port: str) -> End:
        found = self.kernel.instances[instance]
        component = self.program.components[found.component]
        return End(found, component, component.ports[port])

    @cached_property
    def components(self) -> dict[str, Component]:
        """The component of each instance, by the instance's name."""
        return {name: self.program.components[i.component] for name, i in self.kernel.instances.items()}

    @cached_property
    def cluster_size(self) -> int:
        """CTAs of the kernel's cluster, the kernel's own declaration before its components'."""
        declared = [self.kernel.cluster, *(component.cluster for component in self.components.values())]
        found = next((cluster for cluster in declared if cluster is not None), None)
        return math.prod(found.value) if found is not None else 1

    def promises(self, name: str, value: object, instance: str) -> bool:
        """Whether the kernel, ``instance`` or one that it is connected to promises ``name`` with this value."""
        around = {instance, *self.connected(instance)}
        views = (self.kernel, *(view for other, view in self.components.items() if other in around))
        return any((promise.name, promise.value) == (name, value) for view in views for promise in view.promises)

    def connected(self, instance: str, port: str | None = None) -> set[str]:
        """The instances that are connected to one, directly or through others; only beyond ``port`` if it is given."""
        ends = [(edge.source, edge.target) for edge in self.edges]
        ends += [(target, source) for source, target in ends]
        found: set[str] = set()
        open_ = [far.instance.name for near, far in ends if near.key == (instance, port)] if port else [instance]
        while open_:
            current = open_.pop()
            if current in found:
                continue
            found.add(current)
            if current != instance or port is None:
                open_ += [far.instance.name for near, far in ends if near.instance.name == current]
        return found - {instance}

    def ends(self) -> Iterator[End]:
        """Every port of every instance, connected or not."""
        for name, component in self.components.items():
            for port in component.ports.values():
                yield End(self.kernel.instances[name], component, port)

    def self_callers(self) -> list[list[str]]:
        """Passive instances whose components' answers can reach themselves, together: what a compiler sees of a chain,
        since all instances of a component have one function."""
        passive = {name for name, component in self.components.items() if not component.roles}
        calls = [e for e in self.edges if e.source.port.kind == "call" and e.source.instance.name in passive]
        if not calls:
            return []
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_edges_from((e.source.component.name, e.target.component.name) for e in calls)
        found: list[list[str]] = []
        for names in nx.strongly_connected_components(graph):
            if len(names) > 1 or any(graph.has_edge(name, name) for name in names):
                found.append([i for i in self.components if i in passive and self.components[i].name in names])
        return found

    def call_cycle(self) -> list[str]:
        """Passive instances that call each other in a circle; empty if none do."""
        passive = {name for name, component in self.components.items() if not component.roles}
        calls = [e for e in self.edges if e.source.port.kind == "call" and e.source.instance.name in passive]
        if not calls:
            return []
        import networkx as nx

        graph: Any = nx.DiGraph()
        graph.add_edges_from((e.source.instance.name, e.target.instance.name) for e in calls)
        try:
            return [edge[0] for edge in nx.find_cycle(graph.subgraph(passive))]
        except nx.NetworkXNoCycle:
            return []
