"""Typed, read-only views of component and kernel modules; those of single operations come along.

They go by operation name, so they work in any context, also where ``pipelink`` is not registered.  Views are made once
for a module and convert attributes once; :func:`program` makes them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipelink.contract.vocabulary import Tile
from pipelink.ir.attributes import Value
from pipelink.ir.opviews import (
    VIEWS,
    Adds,
    Awaits,
    Barrier,
    Bind,
    Cluster,
    ClusterBarrier,
    Connect,
    Derive,
    Dispatch,
    Exclusive,
    Grid,
    Instance,
    Lease,
    Mbarrier,
    Operation,
    Overlay,
    Param,
    Peer,
    Port,
    Programmatic,
    Promise,
    ProtocolDecl,
    Require,
    Resident,
    Role,
    Smem,
    Stack,
    State,
    Tensor,
    Tmem,
    Turns,
    View,
    ViewT,
    Workspace,
    operations,
)
from pipelink.ir.placement import KernelPlacement
from pipelink.support.mlir import ir

__all__ = [
    "VIEWS",
    "Adds",
    "Awaits",
    "Barrier",
    "Bind",
    "Cluster",
    "ClusterBarrier",
    "Component",
    "Connect",
    "Derive",
    "Dispatch",
    "Exclusive",
    "Grid",
    "ImageView",
    "Instance",
    "Kernel",
    "Lease",
    "Mbarrier",
    "ModuleView",
    "Operation",
    "Overlay",
    "Param",
    "Peer",
    "Port",
    "Program",
    "Programmatic",
    "Promise",
    "ProtocolDecl",
    "Require",
    "Resident",
    "Role",
    "Smem",
    "Stack",
    "State",
    "Tensor",
    "Tile",
    "Tmem",
    "Turns",
    "View",
    "ViewT",
    "Workspace",
    "operations",
    "program",
]


def _by_name(views: Iterable[ViewT]) -> dict[str, ViewT]:
    return {view.name: view for view in views}


class ModuleView(View):
    """A component's or kernel's module: its operations as views, by kind and in order."""

    def __init__(self, op: ir.Operation) -> None:
        super().__init__(op)
        self._views: dict[type[View], list[Any]] = {}
        self.children: list[View] = []  # the dialect's known operations, in order
        self.others: list[ir.Operation] = []  # operations of other dialects, and unknown ones of this
        for inner in operations(op):
            cls = VIEWS.get(inner.name)
            if cls is None:
                self.others.append(inner)
                continue
            view = cls(inner)
            self.children.append(view)
            self._views.setdefault(cls, []).append(view)

    def all(self, cls: type[ViewT]) -> tuple[ViewT, ...]:
        """The views of one kind, in order."""
        return tuple(self._views.get(cls, ()))

    def first(self, cls: type[ViewT]) -> ViewT | None:
        found = self._views.get(cls)
        return found[0] if found else None

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.all(Tensor)

    @cached_property
    def binds(self) -> tuple[Bind, ...]:
        return self.all(Bind)

    @cached_property
    def derives(self) -> tuple[Derive, ...]:
        return self.all(Derive)

    @property
    def grid(self) -> Grid | None:
        return self.first(Grid)

    @property
    def cluster(self) -> Cluster | None:
        return self.first(Cluster)

    @property
    def resident(self) -> bool:
        return self.first(Resident) is not None

    @property
    def programmatic(self) -> Programmatic | None:
        return self.first(Programmatic)

    @cached_property
    def workspaces(self) -> tuple[Workspace, ...]:
        return self.all(Workspace)

    @cached_property
    def peers(self) -> tuple[Peer, ...]:
        return self.all(Peer)

    @cached_property
    def requires(self) -> tuple[Require, ...]:
        return self.all(Require)

    @cached_property
    def promises(self) -> tuple[Promise, ...]:
        return self.all(Promise)


@dataclass(frozen=True)
class ImageView:
    """A code image that a component's module lists."""

    arch: str
    kind: str
    toolkit: str | None
    sha256: str | None


class Component(ModuleView):
    """A component's module."""

    @property
    def _contract(self) -> dict[str, Value]:
        return self.data["pipelink.component"]

    @property
    def abi(self) -> int:
        return self._contract["abi"]

    @property
    def object(self) -> str | None:
        """Path of the object that it was read from."""
        return self.data.get("pipelink.object")

    @cached_property
    def images(self) -> tuple[ImageView, ...] | None:
        """Code images; None for a component that is a contract only."""
        found = self._contract.get("images")
        if found is None:
            return None
        return tuple(
            ImageView(image["arch"], image.get("kind", "ltoir"), image.get("toolkit"), image.get("sha256"))
            for image in found
        )

    @cached_property
    def roles(self) -> dict[str, Role]:
        return _by_name(self.all(Role))

    @cached_property
    def ports(self) -> dict[str, Port]:
        return _by_name(self.all(Port))

    @cached_property
    def smem(self) -> dict[str, Smem]:
        return _by_name(self.all(Smem))

    @cached_property
    def states(self) -> dict[str, State]:
        return _by_name(self.all(State))

    @cached_property
    def barriers(self) -> dict[str, Barrier]:
        return _by_name(self.all(Barrier))

    @cached_property
    def protocols(self) -> dict[str, ProtocolDecl]:
        """The stated protocols, by role or answering port."""
        return _by_name(self.all(ProtocolDecl))

    @cached_property
    def counted(self) -> tuple[Awaits | Adds, ...]:
        """What an instruction awaits and adds, in order."""
        return tuple(child for child in self.children if isinstance(child, Awaits | Adds))

    @cached_property
    def mbarriers(self) -> dict[str, Mbarrier]:
        return _by_name(self.all(Mbarrier))

    @cached_property
    def cluster_barriers(self) -> dict[str, ClusterBarrier]:
        return _by_name(self.all(ClusterBarrier))

    @cached_property
    def turns(self) -> dict[str, Turns]:
        return _by_name(self.all(Turns))

    @cached_property
    def tmem(self) -> dict[str, Tmem]:
        return _by_name(self.all(Tmem))

    @property
    def stack_bytes(self) -> int:
        """Bytes of stack a thread that an instance may need."""
        found = self.first(Stack)
        return found.bytes if found is not None else 0

    @cached_property
    def dispatches(self) -> dict[str, Dispatch]:
        return _by_name(self.all(Dispatch))

    @cached_property
    def leases(self) -> dict[str, Lease]:
        return _by_name(self.all(Lease))

    @cached_property
    def params(self) -> dict[str, Param]:
        return _by_name(self.all(Param))

    def role_of(self, used: Port | Dispatch) -> Role | None:
        """The role that uses a port or dispatches: the stated one, or the component's only one; None in a passive
        component."""
        if used.role is not None:
            return self.roles.get(used.role)
        roles = list(self.roles.values())
        return roles[0] if len(roles) == 1 else None


class Kernel(ModuleView):
    """A kernel's module."""

    @property
    def target(self) -> str:
        return self.data["pipelink.kernel"]["target"]

    @property
    def min_ctas(self) -> int | None:
        return self.data["pipelink.kernel"].get("min_ctas")

    @cached_property
    def instances(self) -> dict[str, Instance]:
        return _by_name(self.all(Instance))

    @cached_property
    def connects(self) -> tuple[Connect, ...]:
        return self.all(Connect)

    @cached_property
    def exclusives(self) -> tuple[Exclusive, ...]:
        return self.all(Exclusive)

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        return self.all(Operation)

    @cached_property
    def overlays(self) -> tuple[Overlay, ...]:
        return self.all(Overlay)

    @property
    def placement(self) -> KernelPlacement | None:
        """None before ``place``.  Raises LinkError ``bad-placement``."""
        return self.read_placement(KernelPlacement, f"kernel '{self.name}'", "pipelink.placement")

    @property
    def launch(self) -> dict[str, Any] | None:
        return self.data.get("pipelink.launch")

    @property
    def fused(self) -> bool:
        """Whether the kernel is code already: passes leave it alone."""
        return bool(self.others) and not self.instances


@dataclass(frozen=True)
class Program:
    """Everything in a module: components by name, kernels in order."""

    op: ir.Operation
    components: dict[str, Component]
    kernels: tuple[Kernel, ...]

    def component_of(self, kernel: Kernel, instance: str) -> Component:
        """The component of an instance.  Raises KeyError."""
        return self.components[kernel.instances[instance].component]


def program(op: ir.Operation | ir.Module) -> Program:
    """Views of every component and kernel module directly inside ``op``."""
    outer = op.operation
    components: dict[str, Component] = {}
    kernels: list[Kernel] = []
    for inner in operations(outer):
        attributes = inner.attributes
        if "pipelink.component" in attributes:
            component = Component(inner)
            components[component.name] = component
        elif "pipelink.kernel" in attributes:
            kernels.append(Kernel(inner))
    return Program(outer, components, tuple(kernels))
