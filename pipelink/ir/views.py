"""Typed, read-only views of the dialect's operations.

They go by operation name, so they work in any context, also where ``pipelink`` is not registered.  Attributes are
converted to Python once, when the view is made; properties read that dictionary and give defaults.  A view of an
operation that the structural verifier refuses may raise KeyError: verify first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from pipelink.ir.attributes import SymbolRef, Value, attributes_of, to_attribute
from pipelink.ir.locations import location_of
from pipelink.ir.schema import ELEMENT_BITS
from pipelink.support.diagnostics import Location
from pipelink.support.mlir import ir


def operations(op: ir.Operation) -> Iterator[ir.Operation]:
    """The operations directly inside a module-like operation."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        found.append(inner)
        # a module's own operations have no regions, so skipping them keeps nested modules and functions closed
        return ir.WalkResult.SKIP if len(found) > 1 else ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return iter(found[1:])


class View:
    """An operation and its attributes as Python values."""

    def __init__(self, op: ir.Operation) -> None:
        self.op = op
        self.data: dict[str, Value] = attributes_of(op)

    @property
    def name(self) -> str:
        """The symbol, or the ``name`` where the operation is not a symbol."""
        found = self.data.get("sym_name")
        return found if found is not None else self.data["name"]

    @cached_property
    def location(self) -> Location:
        return location_of(self.op)

    def set(self, key: str, value: Value) -> None:
        """Set an attribute of the operation (for passes) and of this view."""
        self.op.attributes[key] = to_attribute(value, self.op.context)
        self.data[key] = value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.data})"


ViewT = TypeVar("ViewT", bound=View)


@dataclass(frozen=True)
class Tile:
    """One tile of a stream's slot.  ``shape`` is in elements, ``bytes`` and ``align`` in bytes."""

    element: str
    shape: tuple[int, ...]
    layout: str
    space: str
    bytes: int
    align: int
    stride: tuple[int, ...]
    swizzle: tuple[int, ...]
    columns: int

    @staticmethod
    def of(data: dict[str, Value]) -> Tile:
        shape = tuple(data["shape"])
        size = data.get("bytes")
        if size is None:
            size = -(-math.prod(shape) * ELEMENT_BITS.get(data["element"], 8) // 8)
        return Tile(
            data["element"],
            shape,
            data["layout"],
            data.get("space", "smem"),
            size,
            data.get("align", 1),
            tuple(data.get("stride", ())),
            tuple(data.get("swizzle", ())),
            data.get("columns", 0),
        )

    @property
    def layout_key(self) -> tuple[object, ...]:
        """What must be equal for a tile to be read as it was written."""
        return (self.layout, self.stride, self.swizzle) if self.layout == "cute" else (self.layout,)

    def __str__(self) -> str:
        where = "" if self.space == "smem" else f" in {self.space}"
        return f"{self.layout} {self.element}{list(self.shape)}{where}"


class Role(View):
    @property
    def warps(self) -> int:
        return self.data["warps"]

    @property
    def align(self) -> int:
        """The first warp is a multiple of this."""
        return self.data.get("align", 4 if self.warps % 4 == 0 else 1)

    @property
    def registers(self) -> tuple[int, int] | None:
        """Registers per thread, [min, max]."""
        found = self.data.get("registers")
        return (found[0], found[1]) if found else None

    @property
    def one_thread(self) -> bool:
        return self.data.get("threads") == "one"


class Port(View):
    @property
    def direction(self) -> str:
        return self.data["direction"]

    @property
    def kind(self) -> str:
        return self.data["kind"]

    @cached_property
    def tiles(self) -> tuple[Tile, ...]:
        return tuple(Tile.of(tile) for tile in self.data.get("tiles", ()))

    @property
    def stages(self) -> tuple[int, int]:
        """Ring depths that the component accepts; (1, 1) where none are stated."""
        low, high = self.data.get("stages", (1, 1))
        return low, high

    @property
    def touch(self) -> str:
        """What writes (out, local) or reads (in) a slot; threads where not stated."""
        return self.data.get("touch", "threads")

    @property
    def role(self) -> str | None:
        return self.data.get("role")

    @property
    def ends(self) -> bool:
        return self.data.get("ends", False)

    @property
    def may_be_empty(self) -> bool:
        return self.data.get("may_be_empty", False)

    @property
    def multicast(self) -> int:
        return self.data.get("multicast", 1)

    @property
    def signature(self) -> str:
        return self.data.get("signature", "")

    @property
    def credit(self) -> int:
        return self.data.get("credit", 0)

    @property
    def scope(self) -> str | None:
        return self.data.get("scope")

    @property
    def pool(self) -> str | None:
        return self.data.get("pool")

    @property
    def pages(self) -> tuple[int, int]:
        low, high = self.data.get("pages", (1, 1))
        return low, high

    @property
    def bytes(self) -> int:
        """Bytes of one slot."""
        return sum(tile.bytes for tile in self.tiles)


class Smem(View):
    @property
    def bytes(self) -> int:
        return self.data["bytes"]

    @property
    def align(self) -> int:
        return self.data["align"]

    @property
    def live(self) -> tuple[int, int] | None:
        found = self.data.get("live")
        return (found[0], found[1]) if found else None

    @property
    def role(self) -> str | None:
        return self.data.get("role")


class State(View):
    @property
    def bytes(self) -> int:
        return self.data["bytes"]

    @property
    def align(self) -> int:
        return self.data["align"]


class Barrier(View):
    @property
    def threads(self) -> int:
        return self.data["threads"]

    @property
    def role(self) -> str | None:
        return self.data.get("role")


class Mbarrier(View):
    @property
    def arrivals(self) -> int:
        return self.data["arrivals"]

    @property
    def count(self) -> int:
        return self.data["count"]


class Tmem(View):
    @property
    def columns(self) -> int:
        return self.data["columns"]

    @property
    def live(self) -> tuple[int, int] | None:
        found = self.data.get("live")
        return (found[0], found[1]) if found else None

    @property
    def role(self) -> str | None:
        return self.data.get("role")


class Pool(View):
    @property
    def page_bytes(self) -> int:
        return self.data["page_bytes"]

    @property
    def pages(self) -> tuple[int, int]:
        low, high = self.data["pages"]
        return low, high

    @property
    def align(self) -> int:
        return self.data["align"]


class Param(View):
    @property
    def type(self) -> str:
        return self.data["type"]

    @property
    def bytes(self) -> int:
        return self.data["bytes"]

    @property
    def align(self) -> int:
        return self.data["align"]

    @property
    def port(self) -> str | None:
        return self.data.get("port")

    @property
    def part(self) -> int:
        return self.data.get("part", 0)


class Tensor(View):
    @property
    def element(self) -> str:
        return self.data["element"]

    @property
    def shape(self) -> tuple[str, ...]:
        """Dimension names, or extents as text."""
        return tuple(str(extent) for extent in self.data["shape"])

    @property
    def access(self) -> str:
        return self.data["access"]

    @property
    def align(self) -> int:
        """Bytes that every row starts on and is a multiple of; 0: no demand beyond the element's."""
        return self.data.get("align", 0)


class Bind(View):
    @property
    def name(self) -> str:
        """The bound parameter's name."""
        param = self.data["param"]
        return param.leaf if isinstance(param, SymbolRef) else param

    @property
    def instance(self) -> str | None:
        """The instance, in a kernel."""
        param = self.data["param"]
        return param.root if isinstance(param, SymbolRef) and len(param.path) > 1 else None

    @property
    def to(self) -> str | None:
        """The expression, or None where a value is bound at link time."""
        found = self.data.get("to")
        return None if found is None else str(found)

    @property
    def value(self) -> int | str | bool | None:
        return self.data.get("value")


class Derive(View):
    @property
    def value(self) -> str:
        return str(self.data["value"])


class Grid(View):
    @property
    def value(self) -> tuple[str, ...]:
        return tuple(str(extent) for extent in self.data["value"])


class Cluster(View):
    @property
    def value(self) -> tuple[int, ...]:
        return tuple(self.data["value"])


class Resident(View):
    pass


class Workspace(View):
    @property
    def bytes(self) -> str:
        return str(self.data["bytes"])

    @property
    def init(self) -> str:
        return self.data["init"]


class Peer(View):
    @property
    def tensor(self) -> str:
        return self.data["tensor"]

    @property
    def count(self) -> int:
        return self.data["count"]


class Require(View):
    @property
    def value(self) -> int | str | bool:
        return self.data["value"]


class Promise(Require):
    pass


class Instance(View):
    @property
    def component(self) -> str:
        return self.data["component"].root

    @property
    def rename(self) -> dict[str, str]:
        return self.data.get("rename", {})

    @property
    def placement(self) -> dict[str, Any] | None:
        return self.data.get("placement")


class Connect(View):
    @property
    def source(self) -> SymbolRef:
        return self.data["source"]

    @property
    def target(self) -> SymbolRef:
        return self.data["target"]

    @property
    def name(self) -> str:
        return f"{self.source} -> {self.target}"

    @property
    def transfer(self) -> str | None:
        return self.data.get("transfer")

    @property
    def stages(self) -> int | None:
        return self.data.get("stages")

    @property
    def weight(self) -> int:
        return self.data.get("weight", 1)

    @property
    def opcode(self) -> int | None:
        return self.data.get("opcode")

    @property
    def credit(self) -> int | None:
        return self.data.get("credit")

    @property
    def legal(self) -> tuple[str, ...] | None:
        found = self.data.get("legal")
        return None if found is None else tuple(found)

    @property
    def placement(self) -> dict[str, Any] | None:
        return self.data.get("placement")


class Exclusive(View):
    @property
    def roles(self) -> tuple[SymbolRef, ...]:
        return tuple(self.data["roles"])


class Overlay(View):
    @property
    def name(self) -> str:
        return " / ".join(str(b) for b in self.buffers)

    @property
    def buffers(self) -> tuple[SymbolRef, ...]:
        return tuple(self.data["buffers"])

    @property
    def because(self) -> str:
        return self.data["because"]


VIEWS: dict[str, type[View]] = {
    f"pipelink.{cls.__name__.lower()}": cls
    for cls in (
        *(Role, Port, Smem, State, Barrier, Mbarrier, Tmem, Pool, Param, Tensor, Bind, Derive, Grid, Cluster, Resident),
        *(Workspace, Peer, Require, Promise, Instance, Connect, Exclusive, Overlay),
    )
}


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
    def mbarriers(self) -> dict[str, Mbarrier]:
        return _by_name(self.all(Mbarrier))

    @cached_property
    def tmem(self) -> dict[str, Tmem]:
        return _by_name(self.all(Tmem))

    @cached_property
    def pools(self) -> dict[str, Pool]:
        return _by_name(self.all(Pool))

    @cached_property
    def params(self) -> dict[str, Param]:
        return _by_name(self.all(Param))

    def role_of(self, port: Port) -> Role | None:
        """The role that uses a port: the stated one, or the component's only one; None in a passive component."""
        if port.role is not None:
            return self.roles.get(port.role)
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
    def overlays(self) -> tuple[Overlay, ...]:
        return self.all(Overlay)

    @property
    def placement(self) -> dict[str, Any] | None:
        return self.data.get("pipelink.placement")

    @property
    def launch(self) -> dict[str, Any] | None:
        return self.data.get("pipelink.launch")


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
