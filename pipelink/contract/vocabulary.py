"""The vocabulary of contracts: every declaration of a component and of the launch contract, a row for each attribute.

What a kernel says (instances, connections) is no part of a contract; its rows stand in ``pipelink.ir.opviews``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal

from pipelink.contract.fields import (
    AS_ARGUMENT,
    Declaration,
    Spelling,
    Variant,
    Written,
    flag,
    listed,
    number,
    optional,
    other,
    span,
    string,
)
from pipelink.contract.launch import (
    Bind,
    Cluster,
    Derive,
    Grid,
    Peer,
    Programmatic,
    Promise,
    Require,
    Resident,
    Tensor,
    Workspace,
)

MAX_ARRIVALS: Final = (1 << 20) - 1  # that an mbarrier counts in a phase (PTX ISA, mbarrier)
MAX_COUNTED: Final = 16  # counters that an instruction awaits, or adds to, at one port
MAX_STACK: Final = 512 << 10  # bytes of local memory that a thread can have (CUDA C++ Programming Guide)
ABI: Final = 1  # the newest version of contracts and of the component ABI that this package reads, and what it writes

# ---------------------------------------------------------------- values
DIRECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "stream": ("out", "in", "local"),
    "call": ("calls", "answers"),
    "token": ("out", "in"),
    "signal": ("out", "in"),
}
KINDS: Final = tuple(DIRECTIONS)
SOURCES: Final = ("out", "calls")
TARGETS: Final = ("in", "answers")


@dataclass(frozen=True)
class Touch:
    """What writes or reads the slots of a stream, and what follows from it.

    ``directions`` are those of the ports that may say it, ``cxx`` how a header does (empty: none does).  ``needs`` is a
    feature of the architecture.  ``arrival`` is the unit in which a slot is known to be filled: tx (bytes that arrive),
    commit (of tensor cores) or threads; None where the component sees to it.  ``copies``: a slot is filled by copies
    that complete on its mbarrier, so there is nothing to commit.  ``asynchronous``: through the async proxy, which
    fences alone order with what threads do (PTX ISA, proxies).  ``align`` is what the address of a tile is a multiple
    of, in bytes; ``boxes``: a tensor map's box brings a tile.  ``instruction`` is the first word of what does it."""

    directions: tuple[str, ...]
    cxx: str = ""
    needs: Literal["", "tma", "clusters", "wgmma", "tensor memory"] = ""
    arrival: Literal["tx", "commit", "threads"] | None = "threads"
    copies: bool = False
    asynchronous: bool = False
    align: int = 1
    boxes: bool = False
    instruction: str = ""


TOUCHES: Final[dict[str, Touch]] = {
    "tma": Touch(("out", "in"), "pl::by_tma", "tma", "tx", copies=True, asynchronous=True, align=128, boxes=True),
    "tma_multicast": Touch(("out",), "", "clusters", None, copies=True, asynchronous=True, align=128, boxes=True),
    "threads": Touch(("out", "in", "local"), "pl::by_threads"),
    "wgmma": Touch(("in",), "pl::by_wgmma", "wgmma", asynchronous=True, instruction="wgmma"),
    "tcgen05": Touch(
        ("out", "in"), "pl::by_tcgen05", "tensor memory", "commit", asynchronous=True, instruction="tcgen05"
    ),
    "cp_async": Touch(("out", "local"), "pl::by_cp_async"),
    "bulk": Touch(("out",), "pl::by_bulk", "tma", "tx", copies=True, asynchronous=True, align=16),
}
#: What headers write at the ends of a ring between roles.
RING_TOUCHES: Final = tuple(name for name, touch in TOUCHES.items() if touch.cxx)


#: How the L2 cache keeps what a copy brings, as hints.cu numbers them.
CACHE_POLICIES: Final = ("normal", "evict_first", "evict_last")
SPACES: Final = ("smem", "tmem", "registers", "global")
SCOPES: Final = ("cta", "cluster", "gpu", "system")
OWNERS: Final = ("workspace", "peer", "caller")
ELEMENT_BITS: Final = {
    "bf16": 16,
    "f16": 16,
    "f32": 32,
    "f64": 64,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "e2m1": 4,
    "i4": 4,
    "i8": 8,
    "u8": 8,
    "i16": 16,
    "u16": 16,
    "i32": 32,
    "u32": 32,
    "i64": 64,
    "u64": 64,
}


@dataclass(frozen=True)
class Swizzle:
    """How a layout exchanges 16-byte units within its rows (PTX ISA, "Shared memory swizzling"; the CUDA driver API,
    cuTensorMapEncodeTiled, limits a box to one row)."""

    row_bytes: int

    @property
    def repeat_bytes(self) -> int:
        """The pattern begins anew after eight rows; a tile is aligned to it."""
        return 8 * self.row_bytes

    @property
    def mask(self) -> int:
        """The bits of an address into which those three places higher, the row's number, are exclusive-ored."""
        return self.row_bytes - 16


SWIZZLES: Final = {"swizzle128": Swizzle(128), "swizzle64": Swizzle(64), "swizzle32": Swizzle(32)}
DENSE: Final = ("row_major", *SWIZZLES)  # layouts without gaps
LAYOUTS: Final = (*DENSE, "item", "cute", "tmem", "fragment")

# ---------------------------------------------------------------- variants
_RING: Final[tuple[Variant, ...]] = (("stream", "out"), ("stream", "in"))
_STREAM: Final[tuple[Variant, ...]] = (*_RING, ("stream", "local"))
_CALL: Final[tuple[Variant, ...]] = (("call", "calls"), ("call", "answers"))
_TOKEN: Final[tuple[Variant, ...]] = (("token", "out"), ("token", "in"))
_SIGNAL: Final[tuple[Variant, ...]] = (("signal", "out"), ("signal", "in"))
_SHARED: Final[tuple[Variant, ...]] = tuple((layout,) for layout in (*DENSE, "item", "cute"))
#: Ports, by kind and direction, and layouts of tiles that headers declare.
WRITTEN_PORTS: Final = (*_STREAM, *_CALL, *_TOKEN, *_SIGNAL)
WRITTEN_TILES: Final[tuple[Variant, ...]] = (*_SHARED, ("tmem",))
PLAIN: Final[Variant] = ()  # of what has no variants

# ---------------------------------------------------------------- rows that several declarations have
_SYMBOL = string("symbol, unique in its module")
_BYTES = number("size").by(AS_ARGUMENT)
_ALIGN = number("alignment in bytes, a power of two").by(Written(form="align"))
_IN_ROLE = Written(("pl::in_role<role>",), "which role uses it, where there are several", form="name")
_ROLE = optional(string("the component's role that uses it")).by(_IN_ROLE)
_LIVE = optional(
    other(
        "list",
        "interval of the component's own timeline in which it is used, [begin, end]",
        lambda value: (int(value[0]), int(value[1])),
        least=0,
    )
).by(Written(("pl::live<begin, end>",), "interval of the component's own time, for overlays", form="interval"))


# ---------------------------------------------------------------- tiles
class TileRows(Declaration):
    """The attributes of a tile; variants are layouts."""

    element = string("element type, such as bf16, or the name of an item type").by(AS_ARGUMENT)
    shape = listed("extents, outermost first", int).by(Written(form="int", length=(1, 8)))
    layout = string("how the elements lie in the space", *LAYOUTS).by(AS_ARGUMENT)
    space = optional(string("memory space, smem if absent", *SPACES), "smem").by(
        Written(choices=("tmem",), needed=True, on=(("tmem",),))
    )
    bytes = optional(number("size in bytes; from element and shape if absent"), lambda tile: _size(tile)).by(
        Written(needed=True)
    )
    align = optional(number("alignment in bytes, a power of two; stated for every tile in smem"), 1).by(
        Written(form="align", needed=True, on=_SHARED)
    )
    stride = optional(listed("strides of a cute layout", int), ()).by(
        Written(form="int", length=(2, 32), on=(("cute",),))  # extent and stride of each mode
    )
    swizzle = optional(listed("swizzle of a cute layout, [bits, base, shift]", int, least=0), ()).by(
        Written(form="int", most=16, length=(3, 3), on=(("cute",),))
    )
    columns = optional(number("tensor-memory columns of a tile in tmem"), 0).by(
        Written(most=512, needed=True, on=(("tmem",),))
    )


def _size(tile: TileRows) -> int:
    return -(-math.prod(tile.shape) * ELEMENT_BITS.get(tile.element, 8) // 8)


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
    def of(data: dict[str, Any]) -> Tile:
        rows = TileRows(data)
        return Tile(
            rows.element,
            rows.shape,
            rows.layout,
            rows.space,
            rows.bytes,
            rows.align,
            rows.stride,
            rows.swizzle,
            rows.columns,
        )

    @property
    def layout_key(self) -> tuple[object, ...]:
        """What must be equal for a tile to be read as it was written."""
        return (self.layout, self.stride, self.swizzle) if self.layout == "cute" else (self.layout,)

    def __str__(self) -> str:
        where = "" if self.space == "smem" else f" in {self.space}"
        return f"{self.layout} {self.element}{list(self.shape)}{where}"


# ---------------------------------------------------------------- what a component declares
class Role(Declaration, op="role", about="warps that run one entry function of the component"):
    sym_name = _SYMBOL
    warps = number("number of warps").by(
        Written(
            ("pl::warps<n>",),
            "needed; whole warpgroups start at a multiple of four warps, `pl::warps<n, align>` says otherwise",
            most=32,
        )
    )
    align = optional(
        number("first warp is a multiple of this; 4 for warpgroups"), lambda role: 4 if role.warps % 4 == 0 else 1
    ).by(Written(form="align", needed=True))
    registers = optional(span("registers per thread, multiples of 8", least=0)).by(
        Written(
            ("pl::registers<min, max>",),
            "registers per thread, multiples of 8 from 24 to 256, for setmaxnreg",
            least=24,
            most=256,
        )
    )
    threads = optional(string("one: a single thread of the warp runs the entry", "one", "all")).by(
        Written(("pl::one_thread",), "one thread runs the entry", choices=("one",))
    )
    early = optional(flag("in a programmatic launch the entry waits for the kernel in front itself"), False).by(
        Written(("pl::early",), "in a programmatic launch it begins at once, and waits for the kernel in front itself")
    )


class Port(Declaration, op="port", about="an end of a connection"):
    """Variants are kinds and directions."""

    sym_name = _SYMBOL
    direction = string("which side this is", *dict.fromkeys(d for ds in DIRECTIONS.values() for d in ds)).by(
        AS_ARGUMENT
    )
    kind = string("protocol", *KINDS).by(AS_ARGUMENT)
    tiles = (
        optional(listed("stream: tiles of one slot", Tile.of), ())
        .once()
        .on(*_STREAM)
        .by(Written(form="tile", length=(1, 64)))
    )
    stages = (
        optional(span("stream: ring depths that the component accepts"), (1, 1))
        .on(*_STREAM)
        .by(Written(("pl::ring<min, max>",), "depths that the component works with", most=64))
    )
    touch = (
        optional(string("stream: what writes or reads a slot", *TOUCHES), "threads")
        .on(*_STREAM)
        .by(
            Written(
                tuple(TOUCHES[name].cxx for name in RING_TOUCHES),
                "how the data are touched",
                choices=RING_TOUCHES,
                only={("stream", "local"): Spelling(("cp_async",), ("pl::by_cp_async",))},
            )
        )
    )
    ends = (
        optional(flag("stream: out says that it ends, in says that it tests for the end"), False)
        .on(takes=_RING)
        .by(Written(("pl::ends",), "the producer may call `end`"))
    )
    may_be_empty = (
        optional(flag("stream: it may end before its first slot"), False)
        .on(takes=_RING)
        .by(Written(("pl::may_be_empty",), "it may end before the first item; needs `pl::ends`"))
    )
    per_warp = (
        optional(flag("stream in, by wgmma: each warp gives slots back, not one thread for its warpgroup"), False)
        .on(takes=_RING)
        .by(Written(("pl::per_warp",), "`by_wgmma`: each warp gives slots back; some may have no product"))
    )
    in_flight = (
        optional(number("stream, by copies: slots that are being filled at once, at most"))
        .on(takes=_RING)
        .by(
            Written(
                ("pl::in_flight<n>",),
                "`by_tma`, `by_bulk`: `acquire` waits until fewer than n slots are being filled, however many are free",
                most=64,
            )
        )
    )
    cache = (
        optional(
            listed("stream: how the L2 cache keeps what the copies of each tile bring (normal, evict_first, …)", str),
            (),
        )
        .on(takes=_RING)
        .by(
            Written(
                ("pl::l2<policies...>",),
                "how the L2 cache keeps what TMA or bulk copies bring, for each tile: `pl::evict_first`, "
                "`pl::evict_last` or `pl::evict_normal`",
                form="name",
            )
        )
    )
    multicast = optional(number("stream: CTAs of the cluster that receive every slot"), 1).on(takes=_RING)
    cta_group = (
        optional(number("stream: CTAs whose tensor cores multiply together, 1 if absent, or 2"), 1)
        .on(takes=_RING)
        .by(
            Written(
                ("pl::cta_pair",),
                "the tensor cores of the two CTAs of a cluster work together on it (tcgen05, cta_group 2)",
                least=2,
                most=2,
            )
        )
    )
    signature = optional(string("call: C++ function type"), "").on(*_CALL).by(AS_ARGUMENT)
    credit = (
        optional(number("token: passes before the first take", least=0), 0)
        .on(takes=_TOKEN)
        .by(Written(("pl::credit<n>",), "`take` goes through n times before the first `pass`; 0 or 1", most=1))
    )
    scope = (
        optional(string("signal or stream: who takes part", *SCOPES))
        .on(*_SIGNAL, takes=_RING)
        .by(Written(choices=("gpu", "system"), needed=True, on=_SIGNAL))
    )
    epoch = optional(string("signal: launch-contract symbol that counts launches, where there is one")).on(
        takes=_SIGNAL
    )
    reset = (
        optional(
            string(
                "signal: who resets the counters; epoch: each launch counts anew, by a number of its own that the "
                "memory keeps",
                "producer", "consumer", "launch", "epoch",
            )
        )
        .on(takes=_SIGNAL)
        .by(Written(choices=("epoch",), needed=True, on=_SIGNAL))
    )  # fmt: skip
    owner = (
        optional(string("signal: who owns the memory", *OWNERS))
        .on(*_SIGNAL)
        .by(Written(choices=("workspace", "peer"), needed=True, on=_SIGNAL))
    )
    workspace = (
        optional(string("signal: workspace, or tensor of each GPU, that holds the counters"))
        .on(takes=_SIGNAL)
        .by(Written(form="name", needed=True, on=_SIGNAL))
    )
    role = optional(string("the component's role that uses it")).by(
        Written(_IN_ROLE.cxx, _IN_ROLE.doc, form="name", on=(*_STREAM, *_TOKEN))
    )


class Sized(Declaration):
    """What has a size and an alignment, in bytes."""

    sym_name = _SYMBOL
    bytes = _BYTES
    align = _ALIGN


class Smem(Sized, op="smem", about="shared memory of the component"):
    align = _ALIGN.by(Written(("pl::align<n>",), "alignment in bytes; the type's, if absent", form="align"))
    live = _LIVE
    role = _ROLE


class State(Sized, op="state", about="per-thread state that survives between calls, zero when the kernel begins"):
    pass


class Barrier(Declaration, op="barrier", about="a named barrier"):
    sym_name = _SYMBOL
    threads = number("participants, a multiple of 32").by(
        Written(("pl::threads<n>",), "participants, a multiple of 32", least=32, most=1024)
    )
    role = _ROLE


class Protocol(
    Declaration,
    op="protocol",
    about="in what order a role, or the answer to a call, uses its ports, barriers and buffers",
):
    of = string("the role, or the port that answers a call")
    text = string("the steps, in the language of docs/protocols.md").by(Written(form="protocol"))


class Counted(Declaration):
    """Counters of a signal port, and how much of each."""

    of = string("the port")
    index = listed("which counters: expressions over the component's integer parameters", str).by(
        Written(form="expression", length=(1, MAX_COUNTED))
    )
    count = listed("how much of each: as many expressions; 0: nothing", str).by(
        Written(form="expression", length=(1, MAX_COUNTED))
    )


class Awaits(Counted, op="awaits", about="what each instruction of an operation awaits"):
    pass


class Adds(Counted, op="adds", about="what each instruction of an operation adds to counters"):
    pass


class Mbarrier(Declaration, op="mbarrier", about="mbarriers in shared memory"):
    sym_name = _SYMBOL
    arrivals = number("arrivals per phase, at most 2^20 - 1").by(
        Written(("pl::arrivals<n>",), "needed; arrivals that complete a phase", most=MAX_ARRIVALS)
    )
    count = optional(number("number of mbarriers, 1 if absent"), 1).by(
        Written(("pl::count<n>",), "how many there are, side by side; 1, if absent", most=64)
    )
    role = _ROLE


class ClusterBarrier(
    Declaration, op="cluster_barrier", about="where the threads of a role meet those of the other CTAs of the cluster"
):
    sym_name = _SYMBOL
    role = _ROLE


class Turns(Declaration, op="turns", about="an order in which the warpgroups of a role take turns"):
    sym_name = _SYMBOL
    role = _ROLE


class Tmem(Declaration, op="tmem", about="tensor-memory columns"):
    sym_name = _SYMBOL
    columns = number("columns").by(Written(most=512))
    live = _LIVE
    role = _ROLE


class Stack(Declaration, op="stack", about="stack (local memory) that a thread needs for the component's code"):
    """Each instance adds its own."""

    bytes = number("bytes a thread").by(Written(most=MAX_STACK))


class Dispatch(Declaration, op="dispatch", about="where a role runs the operation that an opcode names"):
    sym_name = _SYMBOL
    bytes = number("room for an operation's operands in an instruction").by(AS_ARGUMENT)
    role = _ROLE


class Lease(Declaration, op="lease", about="a ring of pages of shared memory that operations share"):
    sym_name = _SYMBOL
    page_bytes = number("size of a page").by(AS_ARGUMENT)
    pages = span("how many").by(Written(("pl::pages<min, max>",), "needed; how many there are", most=64))
    align = _ALIGN.by(Written(("pl::align<n>",), "alignment of a page in bytes; 128, if absent", form="align"))


class Param(Declaration, op="param", about="a value given at link time or at launch"):
    sym_name = _SYMBOL
    type = string("i32, f32, pointer, tensor_map, …").by(AS_ARGUMENT)
    bytes = _BYTES
    align = _ALIGN
    port = optional(string("tensor_map: the port whose tile is the box")).by(Written(form="name"))
    part = optional(number("tensor_map: which tile of the port", least=0), 0).by(Written(most=63))
    box = optional(listed("tensor_map: extents of the box, where it is not the tile", int)).by(
        Written(form="int", most=256, length=(1, 5))
    )
    tile = optional(other("dict", "tensor_map: the tile that the component copies itself, of no port", Tile.of)).by(
        Written(form="tile")
    )
    operand = optional(flag("it comes with each instruction that names the operation"), False).by(AS_ARGUMENT)


#: Declarations of components, by the operation of the record and of the IR.
DECLARATIONS: Final[dict[str, type[Declaration]]] = {
    cls.operation: cls
    for cls in (
        *(Role, Port, Smem, State, Barrier, Protocol, Awaits, Adds, Mbarrier, ClusterBarrier, Turns, Tmem, Stack),
        *(Dispatch, Lease),
        *(Param, Tensor, Bind, Derive, Grid, Cluster, Resident, Programmatic, Workspace, Peer, Require, Promise),
    )
}
#: The operations that headers declare.
WRITTEN: Final = (
    *("role", "port", "smem", "state", "barrier", "mbarrier", "cluster_barrier", "turns", "tmem", "stack", "protocol"),
    *("awaits", "adds", "dispatch", "lease", "param", "tensor", "bind"),
    *("derive", "grid", "cluster", "resident", "programmatic", "workspace", "peer", "require", "promise"),
)


def port_fields() -> dict[Variant, tuple[tuple[str, ...], tuple[str, ...]]]:
    """By kind and direction of a port: the attributes that it must have and may have, besides those of every port."""
    own = {key: row for key, row in Port.fields.items() if row.takes is not None}
    return {
        variant: (
            tuple(key for key, row in own.items() if variant in row.needs),
            tuple(key for key, row in own.items() if row.allowed_on(variant) and variant not in row.needs),
        )
        for variant in ((kind, direction) for kind, directions in DIRECTIONS.items() for direction in directions)
    }


PORT_FIELDS: Final = port_fields()
