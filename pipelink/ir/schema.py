"""The vocabulary of dialect ``pipelink`` as one literal table: every operation, its attributes, their kinds.

The structural verifier walks this table, ``docs/ir.md`` prints it, and a test compares it with ``dialect.irdl``
(which other MLIR tools load; IRDL cannot express optional attributes, so it constrains the required ones only).

Kinds: ``str``, ``int`` (i64), ``bool``, ``symbol`` (``@a``), ``port`` (``@instance::@name``), ``range`` (``[min, max]``
with 0 <= min <= max), ``list`` and ``dict`` (with their own rule in ``verify.py``), ``expr`` (a launch-contract
expression), ``scalar`` (int, str or bool), ``ref`` (``@a`` or ``"a"``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["str", "int", "bool", "symbol", "port", "range", "list", "dict", "expr", "scalar", "ref"]


@dataclass(frozen=True)
class Field:
    """One attribute: its kind, what it means, and whether it must be there; ``least`` bounds integers."""

    kind: Kind
    doc: str
    required: bool = True
    choices: tuple[str, ...] = ()
    least: int = 1


@dataclass(frozen=True)
class Op:
    """One operation: where it may stand, and its attributes in the order in which the builder prints them."""

    doc: str
    parents: tuple[str, ...]
    fields: dict[str, Field] = field(default_factory=dict[str, Field])


def _optional(kind: Kind, doc: str, *choices: str, least: int = 1) -> Field:
    return Field(kind, doc, False, choices, least)


_SYMBOL = Field("str", "symbol, unique in its module")
_NAME = Field("str", "name, unique among the operations of its kind")
_ALIGN = Field("int", "alignment in bytes, a power of two")
_ROLE = _optional("str", "the component's role that uses it")
_LIVE = _optional("list", "interval of the component's own timeline in which it is used, [begin, end]", least=0)
_BOTH = ("component", "kernel")

#: Attributes of a port besides sym_name, direction, kind and role: (required, optional) by kind and direction.
PORT_FIELDS: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("stream", "out"): (("tiles", "stages", "touch"), ("ends", "may_be_empty", "multicast", "scope", "cta_group")),
    ("stream", "in"): (("tiles", "stages", "touch"), ("ends", "may_be_empty", "multicast", "scope", "cta_group")),
    ("stream", "local"): (("tiles", "stages", "touch"), ()),
    ("call", "calls"): (("signature",), ()),
    ("call", "answers"): (("signature",), ()),
    ("token", "out"): ((), ("credit",)),
    ("token", "in"): ((), ("credit",)),
    ("dispatch", "dispatches"): ((), ("operands",)),
    ("dispatch", "dispatched"): ((), ("operands",)),
    ("signal", "out"): (("scope", "owner"), ("epoch", "reset", "workspace")),
    ("signal", "in"): (("scope", "owner"), ("epoch", "reset", "workspace")),
    ("lease", "lends"): (("pool",), ()),
    ("lease", "borrows"): (("pages", "page_bytes"), ()),
}
KINDS = ("stream", "call", "token", "dispatch", "signal", "lease")
DIRECTIONS: dict[str, tuple[str, ...]] = {
    "stream": ("out", "in", "local"),
    "call": ("calls", "answers"),
    "token": ("out", "in"),
    "dispatch": ("dispatches", "dispatched"),
    "signal": ("out", "in"),
    "lease": ("lends", "borrows"),
}
SOURCES = ("out", "calls", "dispatches", "lends")
TARGETS = ("in", "answers", "dispatched", "borrows")
TOUCHES = ("tma", "tma_multicast", "threads", "wgmma", "tcgen05", "cp_async")
LAYOUTS = ("row_major", "swizzle128", "swizzle64", "swizzle32", "item", "cute", "tmem", "fragment")
SPACES = ("smem", "tmem", "registers", "global")
SCOPES = ("cta", "cluster", "gpu", "system")
OWNERS = ("workspace", "peer", "caller")
ELEMENT_BITS = {
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

TILE: dict[str, Field] = {
    "element": Field("str", "element type, such as bf16, or the name of an item type"),
    "shape": Field("list", "extents, outermost first"),
    "layout": Field("str", "how the elements lie in the space", choices=LAYOUTS),
    "space": _optional("str", "memory space, smem if absent", *SPACES),
    "bytes": _optional("int", "size in bytes; from element and shape if absent"),
    "align": _optional("int", "alignment in bytes, a power of two; stated for every tile in smem"),
    "stride": _optional("list", "strides of a cute layout"),
    "swizzle": _optional("list", "swizzle of a cute layout, [bits, base, shift]", least=0),
    "columns": _optional("int", "tensor-memory columns of a tile in tmem"),
}
IMAGE: dict[str, Field] = {
    "arch": Field("str", "architecture, such as sm_90a"),
    "kind": _optional("str", "ltoir if absent", "ltoir", "cubin", "ptx"),
    "toolkit": _optional("str", "version of the producing toolkit, such as 13.0"),
    "sha256": _optional("str", "content hash of the image"),
    "bytes": _optional("int", "size of the image", least=0),
}
COMPONENT: dict[str, Field] = {
    "abi": Field("int", "version of the component ABI"),
    "images": _optional("list", "code images; absent for a component that is a contract only"),
    "cxx": _optional("str", "qualified C++ name"),
}
KERNEL: dict[str, Field] = {
    "target": Field("str", "architecture to link for, such as sm_90a"),
    "min_ctas": _optional("int", "CTAs that must fit on one SM"),
}
MODULE_ATTRIBUTES = (
    "pipelink.component",
    "pipelink.kernel",
    "pipelink.object",
    "pipelink.placement",
    "pipelink.launch",
)

OPS: dict[str, Op] = {
    "role": Op(
        "warps that run one entry function of the component",
        ("component",),
        {
            "sym_name": _SYMBOL,
            "warps": Field("int", "number of warps"),
            "align": _optional("int", "first warp is a multiple of this; 4 for warpgroups"),
            "registers": _optional("range", "registers per thread, multiples of 8", least=0),
            "threads": _optional("str", "one: a single thread of the warp runs the entry", "one", "all"),
        },
    ),
    "port": Op(
        "an end of a connection",
        ("component",),
        {
            "sym_name": _SYMBOL,
            "direction": Field(
                "str", "which side this is", choices=tuple(dict.fromkeys(d for ds in DIRECTIONS.values() for d in ds))
            ),
            "kind": Field("str", "protocol", choices=KINDS),
            "tiles": _optional("list", "stream: tiles of one slot"),
            "stages": _optional("range", "stream: ring depths that the component accepts"),
            "touch": _optional("str", "stream: what writes or reads a slot", *TOUCHES),
            "ends": _optional("bool", "stream: out says that it ends, in says that it tests for the end"),
            "may_be_empty": _optional("bool", "stream: it may end before its first slot"),
            "multicast": _optional("int", "stream: CTAs of the cluster that receive every slot"),
            "cta_group": _optional("int", "stream: CTAs whose tensor cores multiply together, 1 if absent, or 2"),
            "signature": _optional("str", "call: C++ function type"),
            "credit": _optional("int", "token: passes before the first take", least=0),
            "operands": _optional("str", "dispatch: item type that the dispatched role reads"),
            "scope": _optional("str", "signal or stream: who takes part", *SCOPES),
            "epoch": _optional("str", "signal: launch-contract symbol that counts launches"),
            "reset": _optional("str", "signal: who resets the flag", "producer", "consumer", "launch", "epoch"),
            "owner": _optional("str", "signal: who owns the memory", *OWNERS),
            "workspace": _optional("str", "signal: workspace that holds the flag"),
            "pool": _optional("str", "lease: pool whose pages are lent (lends)"),
            "pages": _optional("range", "lease: pages taken at once (borrows)"),
            "page_bytes": _optional("int", "lease: least size of a page (borrows)"),
            "role": _optional("str", "the component's role that uses it"),
        },
    ),
    "smem": Op(
        "shared memory of the component",
        ("component",),
        {"sym_name": _SYMBOL, "bytes": Field("int", "size"), "align": _ALIGN, "live": _LIVE, "role": _ROLE},
    ),
    "state": Op(
        "per-thread state that survives between calls",
        ("component",),
        {"sym_name": _SYMBOL, "bytes": Field("int", "size"), "align": _ALIGN},
    ),
    "barrier": Op(
        "a named barrier",
        ("component",),
        {"sym_name": _SYMBOL, "threads": Field("int", "participants, a multiple of 32"), "role": _ROLE},
    ),
    "protocol": Op(
        "in what order a role, or the answer to a call, uses its ports, barriers and buffers",
        ("component",),
        {
            "of": Field("str", "the role, or the port that answers a call"),
            "text": Field("str", "the steps, in the language of docs/protocols.md"),
        },
    ),
    "mbarrier": Op(
        "mbarriers in shared memory",
        ("component",),
        {
            "sym_name": _SYMBOL,
            "arrivals": Field("int", "arrivals per phase, at most 2^20 - 1"),
            "count": Field("int", "number of mbarriers"),
        },
    ),
    "tmem": Op(
        "tensor-memory columns",
        ("component",),
        {"sym_name": _SYMBOL, "columns": Field("int", "columns"), "live": _LIVE, "role": _ROLE},
    ),
    "pool": Op(
        "pages of shared memory lent at run time",
        ("component",),
        {
            "sym_name": _SYMBOL,
            "page_bytes": Field("int", "size of a page"),
            "pages": Field("range", "how many"),
            "align": _ALIGN,
        },
    ),
    "param": Op(
        "a value given at link time or at launch",
        ("component",),
        {
            "sym_name": _SYMBOL,
            "type": Field("str", "i32, f32, pointer, tensor_map, …"),
            "bytes": Field("int", "size"),
            "align": _ALIGN,
            "port": _optional("str", "tensor_map: the port whose tile is the box"),
            "part": _optional("int", "tensor_map: which tile of the port", least=0),
            "box": _optional("list", "tensor_map: extents of the box, where it is not the tile"),
            "tile": _optional("dict", "tensor_map: the tile that the component copies itself, of no port"),
        },
    ),
    "tensor": Op(
        "a tensor argument of the launch contract",
        _BOTH,
        {
            "name": _NAME,
            "element": Field("str", "element type"),
            "shape": Field("list", "dimension names, expressions over them, or extents; row-major"),
            "access": Field("str", "how it is used", choices=("read", "write", "readwrite")),
            "align": _optional("int", "bytes that every row starts on and is a multiple of, a power of two"),
        },
    ),
    "bind": Op(
        "binds a parameter to an expression, a tensor, a workspace or a value",
        _BOTH,
        {
            "param": Field("ref", "component: the parameter; kernel: @instance::@parameter"),
            "to": _optional("expr", "expression, tensor or workspace"),
            "value": _optional("scalar", "value known at link time"),
        },
    ),
    "derive": Op(
        "a named expression of the launch contract",
        _BOTH,
        {"name": _NAME, "value": Field("expr", "expression")},
    ),
    "grid": Op("grid of the launch", _BOTH, {"value": Field("list", "three expressions")}),
    "cluster": Op("cluster of the launch", _BOTH, {"value": Field("list", "three extents")}),
    "resident": Op("all CTAs of the grid must be resident at once", _BOTH),
    "workspace": Op(
        "global memory allocated by the runtime",
        _BOTH,
        {
            "name": _NAME,
            "bytes": Field("expr", "size"),
            "init": Field("str", "content before the launch", choices=("zero", "none")),
        },
    ),
    "peer": Op(
        "a tensor's buffers on several GPUs",
        _BOTH,
        {"name": _NAME, "tensor": Field("str", "the local tensor"), "count": Field("int", "number of GPUs")},
    ),
    "require": Op(
        "something that another component or the kernel must promise",
        _BOTH,
        {"name": Field("str", "what"), "value": Field("scalar", "expected value")},
    ),
    "promise": Op(
        "something that holds",
        _BOTH,
        {"name": Field("str", "what"), "value": Field("scalar", "value")},
    ),
    "instance": Op(
        "one use of a component",
        ("kernel",),
        {
            "sym_name": _SYMBOL,
            "component": Field("symbol", "the component"),
            "rename": _optional("dict", "renames tensors, derived names and parameters in the launch contract"),
            "placement": _optional("dict", "set by place"),
        },
    ),
    "connect": Op(
        "connects two ports",
        ("kernel",),
        {
            "source": Field("port", "the out, calls, dispatches or lends side"),
            "target": Field("port", "the in, answers, dispatched or borrows side"),
            "transfer": _optional("str", "insist on this transfer"),
            "stages": _optional("int", "insist on this ring depth"),
            "weight": _optional("int", "how much a deeper ring is worth here", least=0),
            "shared": _optional("list", "transfer cluster: tiles of a slot that both CTAs need", least=0),
            "opcode": _optional("int", "dispatch: run-time index of the target", least=0),
            "credit": _optional("int", "token: passes before the first take, instead of the ports'", least=0),
            "legal": _optional("list", "transfers that apply, preferred first; set by check"),
            "placement": _optional("dict", "set by place"),
        },
    ),
    "exclusive": Op(
        "roles that share warps and never run at once",
        ("kernel",),
        {"name": _NAME, "roles": Field("list", "@instance::@role, two or more")},
    ),
    "overlay": Op(
        "buffers that may lie on each other",
        ("kernel",),
        {
            "buffers": Field("list", "@instance::@smem or @instance::@port, two or more"),
            "because": Field("str", "why their lifetimes are apart"),
        },
    ),
}
