"""Typed, read-only views of the operations inside component and kernel modules.

They go by operation name, so they work in any context, also where ``pipelink`` is not registered.  Attributes are
converted to Python once, when the view is made; properties read that dictionary and give defaults: those of a contract
are the rows of :mod:`pipelink.contract.vocabulary`, those of a kernel's operations stand here.  A view of an operation
that the structural verifier refuses may raise KeyError: verify first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeVar, cast

from pipelink.contract import vocabulary
from pipelink.contract.fields import Declaration, Field, listed, number, optional, other, string
from pipelink.ir.attributes import SymbolRef, Value, attributes_of, to_attribute
from pipelink.ir.locations import location_of
from pipelink.ir.placement import InstancePlacement, OperationPlacement, read, write
from pipelink.support import limits
from pipelink.support.diagnostics import Location, error
from pipelink.support.mlir import ir
from pipelink.support.protocol import UNIT_THREADS

_KERNEL = ("kernel",)


def _same(value: Any) -> Any:
    return value


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


class View(Declaration):
    """An operation and its attributes as Python values."""

    def __init__(self, op: ir.Operation) -> None:
        super().__init__(attributes_of(op))
        self.op = op
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
        self.__dict__.pop(key, None)  # what was converted before

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


class Role(vocabulary.Role, View):
    @property
    def one_thread(self) -> bool:
        return self.threads == "one"

    @property
    def thread_count(self) -> int:
        """Threads that run its entry."""
        return 1 if self.one_thread else self.warps * UNIT_THREADS["warp"]


class Port(vocabulary.Port, View):
    @property
    def bytes(self) -> int:
        """Bytes of one slot."""
        return sum(tile.bytes for tile in self.tiles)


class Smem(vocabulary.Smem, View):
    pass


class State(vocabulary.State, View):
    pass


class Barrier(vocabulary.Barrier, View):
    pass


class ProtocolDecl(vocabulary.Protocol, View):
    """The text of a role's or an answer's protocol; :mod:`pipelink.support.protocol_text` parses it."""

    @property
    def name(self) -> str:
        return self.of


class Awaits(vocabulary.Awaits, View):
    @property
    def name(self) -> str:
        """The port's."""
        return self.of


class Adds(vocabulary.Adds, View):
    @property
    def name(self) -> str:
        """The port's."""
        return self.of


class Mbarrier(vocabulary.Mbarrier, View):
    pass


class ClusterBarrier(vocabulary.ClusterBarrier, View):
    pass


class Turns(vocabulary.Turns, View):
    pass


class Tmem(vocabulary.Tmem, View):
    pass


class Stack(vocabulary.Stack, View):
    pass


class Dispatch(vocabulary.Dispatch, View):
    pass


class Lease(vocabulary.Lease, View):
    pass


class Param(vocabulary.Param, View):
    pass


class Tensor(vocabulary.Tensor, View):
    pass


class Bind(vocabulary.Bind, View):
    @property
    def name(self) -> str:
        """The bound parameter's name."""
        return self.param.leaf if isinstance(self.param, SymbolRef) else self.param

    @property
    def instance(self) -> str | None:
        """The instance, in a kernel."""
        return self.param.root if isinstance(self.param, SymbolRef) and len(self.param.path) > 1 else None


class Derive(vocabulary.Derive, View):
    pass


class Grid(vocabulary.Grid, View):
    pass


class Cluster(vocabulary.Cluster, View):
    pass


class Resident(vocabulary.Resident, View):
    pass


class Programmatic(vocabulary.Programmatic, View):
    pass


class Workspace(vocabulary.Workspace, View):
    pass


class Peer(vocabulary.Peer, View):
    pass


class Require(vocabulary.Require, View):
    pass


class Promise(vocabulary.Promise, View):
    pass


def _placement() -> Field[dict[str, Any] | None]:
    """The attribute; :meth:`View.read_placement` makes a value of it."""
    return optional(other("dict", "set by place", _same)).named("placement")


class Instance(View, op="instance", about="one use of a component", parents=_KERNEL):
    sym_name = string("symbol, unique in its module")
    component = other("symbol", "the component", lambda ref: str(ref.root))
    rename: Field[dict[str, str]] = optional(
        other("dict", "renames tensors, derived names and parameters in the launch contract", _same),
        lambda _: {},
    )
    placement_attribute = _placement()

    @property
    def placement(self) -> InstancePlacement | None:
        """None before ``place``.  Raises LinkError ``bad-placement``."""
        return self.read_placement(InstancePlacement, f"instance '@{self.name}'")


class Connect(View, op="connect", about="connects two ports", parents=_KERNEL):
    """``shared`` is empty unless the connection asks for ``cluster``."""

    source: Field[SymbolRef] = other("port", "the out or calls side", _same)
    target: Field[SymbolRef] = other("port", "the in or answers side", _same)
    transfer = optional(string("insist on this transfer"))
    stages = optional(number("insist on this ring depth"))
    weight = optional(number("how much a deeper ring is worth here", least=0, most=limits.WEIGHT), 1)
    shared = optional(listed("transfer cluster: tiles of a slot that both CTAs need", int, least=0), ())
    lease: Field[SymbolRef | None] = optional(other("port", "the pages that its slots are taken from", _same))
    credit = optional(number("token: passes before the first take, instead of the ports'", least=0))
    legal = optional(listed("transfers that apply, preferred first; set by check", str))
    placement_attribute = _placement()

    @property
    def name(self) -> str:
        return f"{self.source} -> {self.target}"

    @property
    def carrier(self) -> str | None:
        """The name of the transfer that was placed; None where none was, or it has no name."""
        name = (self.placement_attribute or {}).get("transfer")
        return name if isinstance(name, str) else None

    def placed(self, form: type[FormT]) -> FormT | None:
        """The placement, in the form of the transfer that was placed.  Raises LinkError ``bad-placement``."""
        return self.read_placement(form, f"'{self.source}' to '{self.target}'")


class Exclusive(
    View,
    op="exclusive",
    about="roles that share warps and never run at once: in this order",
    parents=_KERNEL,
):
    label = string("name, unique among the operations of its kind").named("name")
    roles: Field[tuple[SymbolRef, ...]] = listed("@instance::@role, two or more", _same)


class Operation(View, op="operation", about="an instance whose roles a dispatcher's roles run", parents=_KERNEL):
    """``roles`` maps roles of the instance to those of the dispatcher; the others have equal names."""

    sym_name = string("symbol, unique in its module; what instructions and timelines call it")
    dispatcher: Field[SymbolRef] = other("symbol", "the instance that dispatches", _same)
    instance: Field[SymbolRef] = other("symbol", "the instance that is run", _same)
    opcode = optional(
        number("the number that instructions name it by; if absent, the first that is free", least=0, most=2**32 - 1)
    )
    roles: Field[dict[str, str]] = optional(other("dict", "roles of other names, by role", _same), lambda _: {})
    placement_attribute = _placement()

    @property
    def placement(self) -> OperationPlacement | None:
        """None before ``place``.  Raises LinkError ``bad-placement``."""
        return self.read_placement(OperationPlacement, f"operation '@{self.name}'")


class Overlay(View, op="overlay", about="buffers that may lie on each other", parents=_KERNEL):
    buffers: Field[tuple[SymbolRef, ...]] = listed("@instance::@smem or @instance::@port, two or more", _same)
    because = string("why their lifetimes are apart")

    @property
    def name(self) -> str:
        return " / ".join(str(buffer) for buffer in self.buffers)


VIEWS: dict[str, type[View]] = {
    f"pipelink.{cls.operation}": cls
    for cls in (
        *(Role, Port, Smem, State, Barrier, ProtocolDecl, Awaits, Adds, Mbarrier, ClusterBarrier, Turns, Tmem, Stack),
        *(
            Dispatch,
            Lease,
            Param,
            Tensor,
            Bind,
            Derive,
            Grid,
            Cluster,
            Resident,
            Programmatic,
            Workspace,
            Peer,
            Require,
            Promise,
        ),
        *(Instance, Connect, Exclusive, Operation, Overlay),
    )
}
