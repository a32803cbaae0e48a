"""A placement as values: what ``place`` decided for a kernel, its instances and its connections.

Each class is one dictionary of the IR.  :func:`read` makes the value of a dictionary and says what is wrong with it,
:func:`write` makes the dictionary of a value; both go by the fields and their types, so a new entry of a placement is
a new field here (or in the file of the transfer that places it) and nothing else.  A value that exists is complete and
of the right types, so nobody who has one looks for keys.

Addresses and sizes in shared memory are bytes, those in tensor memory are columns.
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from typing import Any, Final, Literal, TypeVar, Union, cast

from pipelink.support.diagnostics import nearest
from pipelink.support.protocol import UNIT_THREADS

Fail = Callable[[str], object]
T = TypeVar("T")


def omitted(default: T) -> T:
    """A field that the dictionary leaves out where it has its default."""
    return field(default=default, metadata={"omit": True})


@dataclass(frozen=True)
class SlotArray:
    """One tile of a ring's slots in shared memory: slot n begins at ``address + n * stride`` and has ``bytes``."""

    address: int
    stride: int
    bytes: int


@dataclass(frozen=True)
class ColumnArray:
    """One tile of a ring's slots in tensor memory, in columns."""

    column: int
    stride: int


@dataclass(frozen=True)
class Span:
    """A piece of shared memory."""

    address: int
    bytes: int


@dataclass(frozen=True)
class NamedBarrier:
    """A named barrier's number and its participants."""

    id: int
    threads: int


@dataclass(frozen=True)
class RoleWarps:
    """The warps that a role runs on."""

    first_warp: int
    warps: int

    @property
    def first_thread(self) -> int:
        return UNIT_THREADS["warp"] * self.first_warp

    @property
    def threads(self) -> int:
        return UNIT_THREADS["warp"] * self.warps


@dataclass(frozen=True)
class FrameState:
    """Per-thread state of a passive component."""

    bytes: int
    align: int


@dataclass(frozen=True)
class PageRing:
    """Pages of shared memory that operations share: the first begins at ``address``, the next ``stride`` bytes on."""

    address: int
    pages: int
    stride: int


@dataclass(frozen=True)
class OperationPlacement:
    """An operation: its opcode, and where an instruction holds the operands of its instances, in bytes, by
    ``instance::parameter``.  ``bytes`` is what all of them take."""

    opcode: int
    bytes: int
    operands: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class ParameterSource:
    """Where a parameter's value comes from: the number of a ``field`` of the parameter block, a link-time ``value``, or
    (``operand``) the instruction."""

    field: int | None = omitted(None)
    value: int | float | str | bool | None = omitted(None)
    operand: bool = omitted(False)


@dataclass(frozen=True)
class LocalRing:
    """A ring that one role fills and reads itself."""

    transfer: str
    stages: int
    buffers: tuple[SlotArray, ...]
    producer_cursor: int
    consumer_cursor: int
    barrier: NamedBarrier


@dataclass(frozen=True)
class ClusterMeeting:
    """Where a role meets that of the other CTAs: the address of each CTA's mbarrier, who arrives at it, and where the
    frame has the parity."""

    address: int
    unit: Literal["thread", "warp"]
    cursor: int


@dataclass(frozen=True)
class InstancePlacement:
    """What an instance owns, by the names of its component's declarations.  ``smem`` and ``mbarriers`` are addresses,
    ``tmem`` columns; ``turns`` has a barrier for each warpgroup of the role, at which it waits for its turn."""

    id: int
    roles: dict[str, RoleWarps] = field(default_factory=dict[str, RoleWarps])
    smem: dict[str, int] = field(default_factory=dict[str, int])
    barriers: dict[str, NamedBarrier] = field(default_factory=dict[str, NamedBarrier])
    params: dict[str, ParameterSource] = field(default_factory=dict[str, ParameterSource])
    states: dict[str, FrameState] = field(default_factory=dict[str, FrameState])
    locals: dict[str, LocalRing] = field(default_factory=dict[str, LocalRing])
    tmem: dict[str, int] = field(default_factory=dict[str, int])
    mbarriers: dict[str, int] = field(default_factory=dict[str, int], metadata={"omit": True})
    cluster_barriers: dict[str, ClusterMeeting] = field(
        default_factory=dict[str, ClusterMeeting], metadata={"omit": True}
    )
    turns: dict[str, tuple[NamedBarrier, ...]] = field(
        default_factory=dict[str, tuple[NamedBarrier, ...]], metadata={"omit": True}
    )
    leases: dict[str, PageRing] = field(default_factory=dict[str, PageRing], metadata={"omit": True})


@dataclass(frozen=True)
class MbarrierGroup:
    """Mbarriers that the entry initialises alike, 8 bytes each."""

    address: int
    count: int
    arrivals: int
    name: str = ""


@dataclass(frozen=True)
class WordGroup:
    """32-bit words that the entry sets to ``value``."""

    address: int
    count: int
    value: int
    name: str = ""


@dataclass(frozen=True)
class Warpgroup:
    """Registers a thread of one warpgroup, set by setmaxnreg."""

    registers: int


@dataclass(frozen=True)
class KernelPlacement:
    """What belongs to the kernel as a whole.  ``cursors`` counts the ring positions of the per-thread frame,
    ``warpgroups`` is empty without setmaxnreg, ``cluster`` without a cluster, ``tmem_columns`` None without tensor
    memory.  ``meetings`` has a barrier for each exclusive group of several warps whose roles run one after the other.
    ``objective`` and what follows it say how good the placement is, and why."""

    threads: int
    warps: int
    min_ctas: int
    entry_registers: int
    smem_bytes: int
    cursors: int
    mbarriers: tuple[MbarrierGroup, ...]
    words: tuple[WordGroup, ...]
    warpgroups: tuple[Warpgroup, ...] = omitted(())
    cluster: tuple[int, ...] = omitted(())
    meetings: dict[str, NamedBarrier] = field(default_factory=dict[str, NamedBarrier], metadata={"omit": True})
    tmem_columns: int | None = omitted(None)
    tmem_word: int | None = omitted(None)
    objective: str = "deepest"
    optimal: bool = False
    value: int = 0
    bound: int = 0
    smem_bound: int = 0
    reasons: tuple[str, ...] = ()

    @property
    def ctas(self) -> int:
        """CTAs of a cluster, 1 without one."""
        return math.prod(self.cluster)

    @property
    def registers(self) -> tuple[int, ...]:
        """Registers a thread by warpgroup; empty without setmaxnreg."""
        return tuple(group.registers for group in self.warpgroups)


# ------------------------------------------------------------------------------------------------ connections
@dataclass(frozen=True)
class ConnectionPlacement:
    """What ``place`` decided for a connection; by itself, that of a connection that needs no resource."""

    transfer: str


@dataclass(frozen=True)
class RingPlacement(ConnectionPlacement):
    """A ring: ``full`` and ``empty`` are the first of ``stages`` mbarriers each, ``end`` of as many end marks;
    ``bytes`` is the size of a slot.  ``producer_fence``: tensor cores or TMA read what threads fill, and the transfer
    fences between; ``consumer_fence``: TMA fills again what this connection's threads read.  Tiles lie in ``buffers``
    of shared memory, or in ``columns`` of tensor memory.  Where tiles go through ``staging``, the producer's threads
    meet at ``barrier``.  ``shared``: tiles that both CTAs of a cluster need.  ``cache``: how the L2 cache keeps
    what is copied, by tile.  ``lease``: whose pages the slots are, as ``instance::name``; rings of one lease go
    through them together.  ``in_flight``: slots that are being filled at once, at most.
    ``ring`` numbers the rings of a kernel."""

    stages: int
    full: int
    empty: int
    bytes: int
    producer_arrivals: int
    producer_unit: Literal["tx", "commit", "thread", "warp"]
    producer_fence: bool
    producer_cursor: int
    consumer_arrivals: int
    consumer_unit: Literal["commit", "thread", "warp", "warpgroup"]
    consumer_fence: bool
    consumer_cursor: int
    ring: int = 0
    buffers: tuple[SlotArray, ...] = omitted(())
    columns: tuple[ColumnArray, ...] = omitted(())
    end: int | None = omitted(None)
    staging: tuple[Span, ...] = omitted(())
    barrier: NamedBarrier | None = field(default=None, metadata={"omit": True})
    multicast: int = omitted(1)
    shared: tuple[int, ...] = omitted(())
    cache: tuple[str, ...] = omitted(())
    lease: str | None = omitted(None)
    in_flight: int | None = omitted(None)


@dataclass(frozen=True)
class TokenPlacement(ConnectionPlacement):
    """A token: one mbarrier, and the parity that its taker waits for first."""

    full: int
    producer_arrivals: int
    producer_unit: Literal["tx", "commit", "thread", "warp"]
    consumer_cursor: int
    initial: int


# ---------------------------------------------------------------------------------------------- reading and writing
_WORDS: Final[dict[object, str]] = {
    int: "an integer from 0 up", str: "a string", bool: "a boolean", tuple: "a list", dict: "a dictionary",
}  # fmt: skip


@cache
def _hints(form: type) -> dict[str, tuple[Any, Field[Any]]]:
    hints = typing.get_type_hints(form)
    return {one.name: (hints[one.name], one) for one in fields(form)}


class _Wrong(Exception):
    """What is found is no value of a form; the message says why."""


def read(form: type[T], data: object, what: str, fail: Fail) -> T | None:
    """The value of a dictionary; ``what`` is whose placement it is, for messages.  None where the dictionary lacks an
    entry, has one of another type, or one that the form does not know; then ``fail`` was called with the reason."""
    try:
        return cast("T", _form(form, data, what))
    except _Wrong as wrong:
        fail(str(wrong))
        return None


def _form(form: type, data: object, what: str) -> object:
    if not isinstance(data, Mapping):
        raise _Wrong(f"the placement of {what} is not a dictionary")
    entries = cast("Mapping[str, object]", data)
    known = _hints(form)
    values: dict[str, object] = {}
    for name, (hint, own) in known.items():
        if name in entries:
            values[name] = _value(hint, entries[name], name, what)
        elif own.default is MISSING and own.default_factory is MISSING:
            raise _Wrong(f"the placement of {what} has no '{name}'")
    for name in entries:
        if name not in known:
            like = nearest(name, known)
            raise _Wrong(f"the placement of {what} has an unknown '{name}'" + (f"; {like}" if like else ""))
    return form(**values)


def _value(hint: Any, found: Any, name: str, what: str) -> object:
    origin = typing.get_origin(hint)
    if origin in (Union, types.UnionType):
        choices = [choice for choice in typing.get_args(hint) if choice is not type(None)]
        if len(choices) > 1:
            if type(found) in choices:
                return found
            raise _Wrong(f"'{name}' in the placement of {what} is {found!r}, not a number, a string or a boolean")
        return _value(choices[0], found, name, what)
    if origin is Literal:
        if found not in typing.get_args(hint):
            listed = ", ".join(typing.get_args(hint))
            raise _Wrong(f"'{name}' in the placement of {what} is {_shown(found)}, not one of {listed}")
        return found
    if origin is tuple:
        if not isinstance(found, list):
            raise _Wrong(f"'{name}' in the placement of {what} is {_shown(found)}, not a list")
        item = typing.get_args(hint)[0]
        listed = cast("list[object]", found)
        return tuple(_value(item, one, f"{name}[{i}]", what) for i, one in enumerate(listed))
    if origin is dict:
        if not isinstance(found, dict):
            raise _Wrong(f"'{name}' in the placement of {what} is {_shown(found)}, not a dictionary")
        item = typing.get_args(hint)[1]
        entries = cast("dict[str, object]", found)
        return {key: _value(item, one, f"{name}.{key}", what) for key, one in entries.items()}
    if hint in (int, str, bool):
        if type(found) is not hint or (isinstance(found, int) and found < 0):
            raise _Wrong(f"'{name}' in the placement of {what} is {_shown(found)}, not {_WORDS[hint]}")
        return found
    return _form(hint, found, f"{what}, '{name}'")


def _shown(found: object) -> str:
    text = f"'{found}'" if isinstance(found, str) else repr(found)
    return text if len(text) <= 60 else f"{text[:57]}…"


def write(value: object) -> dict[str, Any]:
    """The dictionary of a placement's value, for an attribute."""
    found: dict[str, Any] = {}
    for name, (_, own) in _hints(type(value)).items():
        entry = getattr(value, name)
        if own.metadata.get("omit"):
            default = own.default_factory() if own.default_factory is not MISSING else own.default
            if entry == default:
                continue
        found[name] = _plain(entry)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in cast("dict[str, object]", value).items()}
    return write(value) if hasattr(value, "__dataclass_fields__") else value
