"""Typed, read-only views of the operations inside component and kernel modules.

They go by operation name, so they work in any context, also where ``pipelink`` is not registered.  Attributes are
converted to Python once, when the view is made; properties read that dictionary and give defaults.  A view of an
operation that the structural verifier refuses may raise KeyError: verify first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

from pipelink.ir.attributes import SymbolRef, Value, attributes_of, to_attribute
from pipelink.ir.locations import location_of
from pipelink.ir.placement import InstancePlacement, read, write
from pipelink.ir.schema import ELEMENT_BITS
from pipelink.support.diagnostics import Location, error
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


FormT = TypeVar("FormT")


class View:
    """An operation and its attributes as Python values."""

    def __init__(self, op: ir.Operation) -> None:
        self.op = op
        self.data: dict[str, Value] = attributes_of(op)
        self._placed: tuple[object, object] = (None, None)  # the attribute that was read, and its value

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

    def read_placement(self, form: type[FormT], what: str, key: str = "placement") -> FormT | None:
        """The placement of ``what``, which the operation holds as attribute ``key``; None where it holds none.  Raises
        LinkError ``bad-placement`` where it is no ``form``."""
        data = self.data.get(key)
        if not data:
            return None
        known, value = self._placed
        if known is not data or type(value) is not form:
            problems: list[str] = []
            value = read(form, data, what, problems.append)
            if value is None:
                raise error("bad-placement", problems[0], self.location)
            self._placed = (data, value)
        return cast("FormT", value)

    def set_placement(self, value: object, key: str = "placement") -> None:
        """Place what the operation stands for."""
        self.set(key, write(value))
        self._placed = (self.data[key], value)

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
    def cta_group(self) -> int:
        return self.data.get("cta_group", 1)

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


class Sized(View):
    """What has a size and an alignment, in bytes."""

    @property
    def bytes(self) -> int:
        return self.data["bytes"]

    @property
    def align(self) -> int:
        return self.data["align"]


class Lived(View):
    """What a role uses during an interval of its component's own timeline."""

    @property
    def live(self) -> tuple[int, int] | None:
        found = self.data.get("live")
        return (found[0], found[1]) if found else None

    @property
    def role(self) -> str | None:
        return self.data.get("role")


class Smem(Sized, Lived):
    pass


class State(Sized):
    pass


class Barrier(View):
    @property
    def threads(self) -> int:
        return self.data["threads"]

    @property
    def role(self) -> str | None:
        return self.data.get("role")


class ProtocolDecl(View):
    """The text of a role's or an answer's protocol; :mod:`pipelink.support.protocol_text` parses it."""

    @property
    def name(self) -> str:
        return self.data["of"]

    @property
    def of(self) -> str:
        """The role, or the port that answers a call."""
        return self.data["of"]

    @property
    def text(self) -> str:
        return self.data["text"]


class Mbarrier(View):
    @property
    def arrivals(self) -> int:
        return self.data["arrivals"]

    @property
    def count(self) -> int:
        return self.data["count"]


class Tmem(Lived):
    @property
    def columns(self) -> int:
        return self.data["columns"]


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


class Param(Sized):
    @property
    def type(self) -> str:
        return self.data["type"]

    @property
    def port(self) -> str | None:
        return self.data.get("port")

    @property
    def part(self) -> int:
        return self.data.get("part", 0)

    @property
    def box(self) -> tuple[int, ...] | None:
        """Extents of a tensor map's box; None: the tile of the port."""
        box = self.data.get("box")
        return None if box is None else tuple(box)

    @property
    def tile(self) -> Tile | None:
        """The tile of a tensor map that belongs to no port."""
        tile = self.data.get("tile")
        return None if tile is None else Tile.of(tile)


class Tensor(View):
    @property
    def element(self) -> str:
        return self.data["element"]

    @property
    def shape(self) -> tuple[str, ...]:
        """Dimension names, expressions over them, or extents as text."""
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
    def placement(self) -> InstancePlacement | None:
        """None before ``place``.  Raises LinkError ``bad-placement``."""
        return self.read_placement(InstancePlacement, f"instance '@{self.name}'")


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
    def shared(self) -> tuple[int, ...]:
        """Tiles of a slot that both CTAs of the cluster need; empty unless the connection asks for ``cluster``."""
        return tuple(self.data.get("shared", ()))

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
    def carrier(self) -> str | None:
        """The name of the transfer that was placed; None where none was, or it has no name."""
        found = self.data.get("placement")
        name = found.get("transfer") if isinstance(found, dict) else None
        return name if isinstance(name, str) else None

    def placed(self, form: type[FormT]) -> FormT | None:
        """The placement, in the form of the transfer that was placed.  Raises LinkError ``bad-placement``."""
        return self.read_placement(form, f"'{self.source}' to '{self.target}'")


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
    f"pipelink.{cls.__name__.removesuffix('Decl').lower()}": cls
    for cls in (
        *(Role, Port, Smem, State, Barrier, Mbarrier, Tmem, Pool, Param, Tensor, Bind, Derive, Grid, Cluster, Resident),
        *(Workspace, Peer, Require, Promise, Instance, Connect, Exclusive, Overlay, ProtocolDecl),
    )
}
