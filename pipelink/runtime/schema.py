"""The manifest of a package: every key, its kind and range, as one table.

:data:`MANIFEST` and :data:`LAUNCH` are that table, and docs/package-format.md prints it; :func:`read_object` holds a
document to it, once, when a package is loaded.  What comes out has the keys of the table alone, with their defaults, so
whoever reads it needs no check of his own.  What no single value shows (fields that overlap, names that nothing
declares) is checked in :mod:`pipelink.runtime.contract`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from pipelink.support.diagnostics import shown
from pipelink.support.launch import ELEMENT_BYTES, MAX_RANK, SCALARS
from pipelink.support.limits import MANIFEST_ITEMS

MAX_PARAMETERS: Final = 32764  # bytes of a kernel's parameters (CUDA C++ Programming Guide, __global__ functions)
MAX_OPERANDS: Final = 4096  # bytes of an instruction (pl::dispatch)
MAX_CLUSTER: Final = 16  # CTAs (CUDA C++ Programming Guide, thread block clusters: 8, or 16 that are not portable)

SWIZZLES: Final = ("none", "swizzle32", "swizzle64", "swizzle128")


class Malformed(ValueError):
    """A value that is not what the table says."""


@dataclass(frozen=True)
class Number:
    """An integer from ``low`` to ``high``; ``power`` asks for a power of two (0 may be in range)."""

    low: int
    high: int
    power: bool = False

    def __str__(self) -> str:
        return f"{'a power of two, ' if self.power else ''}{self._range}"

    @property
    def _range(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"

    def read(self, value: Any, path: str) -> int:
        if type(value) is not int or not self.low <= value <= self.high or (self.power and value & (value - 1)):
            raise _expected(f"{'' if self.power else 'an integer, '}{self}", value, path)
        return value


@dataclass(frozen=True)
class Text:
    """A string: one of ``choices``, or one that matches ``pattern`` whole."""

    about: str = ""
    pattern: str = ""
    choices: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ", ".join(f"`{choice}`" for choice in self.choices) or self.about

    def read(self, value: Any, path: str) -> str:
        good = isinstance(value, str) and (value in self.choices or re.fullmatch(self.pattern, value, re.ASCII))
        if not good or (self.choices and value not in self.choices):
            raise _expected("one of " + ", ".join(self.choices) if self.choices else self.about, value, path)
        return value


@dataclass(frozen=True)
class Flag:
    """A boolean."""

    def __str__(self) -> str:
        return "true or false"

    def read(self, value: Any, path: str) -> bool:
        if not isinstance(value, bool):
            raise _expected(str(self), value, path)
        return value


@dataclass(frozen=True)
class Anything:
    """What another table, or nobody, looks into."""

    about: str = "anything"

    def __str__(self) -> str:
        return self.about

    def read(self, value: Any, path: str) -> Any:
        return value


@dataclass(frozen=True)
class ListOf:
    """``least`` to ``most`` items of one kind."""

    item: Kind
    least: int = 0
    most: int = MANIFEST_ITEMS

    def __str__(self) -> str:
        return f"list of {self.least} to {self.most}: {self.item}"

    def read(self, value: Any, path: str) -> list[Any]:
        items = cast(list[Any], value)
        if not isinstance(value, list | tuple) or not self.least <= len(items) <= self.most:
            raise _expected(f"a list of {self.least} to {self.most} items", value, path)
        return [self.item.read(item, f"{path}[{number}]") for number, item in enumerate(items)]


@dataclass(frozen=True)
class Row:
    """One key of an object.  A key that is not ``needed`` may be absent, and is then ``default``."""

    key: str
    kind: Kind
    doc: str
    needed: bool = True
    default: Any = None


@dataclass(frozen=True)
class Object:
    """Keys and their kinds; ``name`` is its heading in the documentation.  Of an object with ``variants``, the key
    ``kind`` says which further keys it has."""

    name: str
    rows: tuple[Row, ...]
    variants: Mapping[str, tuple[Row, ...]] | None = None

    def __str__(self) -> str:
        return f"{self.name}, below"

    def read(self, value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _expected("an object", value, path)
        given = cast(Mapping[str, Any], value)
        found = self._rows(self.rows, given, path)
        if self.variants is not None:
            found |= self._rows((Row("kind", Text(choices=tuple(self.variants)), ""),), given, path)
            found |= self._rows(self.variants[found["kind"]], given, path)
        return found

    def _rows(self, rows: tuple[Row, ...], given: Mapping[str, Any], path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for row in rows:
            if row.key in given:
                found[row.key] = row.kind.read(given[row.key], f"{path}.{row.key}" if path else row.key)
            elif row.needed:
                raise Malformed(f"{path or 'the manifest'} has no '{row.key}'")
            else:
                found[row.key] = row.default
        return found


Kind = Number | Text | Flag | Anything | ListOf | Object


def _expected(wanted: str, value: Any, path: str) -> Malformed:
    return Malformed(f"{path}: expected {wanted}, given {shown(value)}")


# ---------------------------------------------------------------- kinds that several keys have
NAME: Final = Text("a name of letters, digits and _", r"[A-Za-z_]\w{0,254}")
INSTANCE: Final = Text("a name of letters, digits and _, or nothing", r"([A-Za-z_]\w{0,254})?")
OPERAND: Final = Text("a name, or two with a dot between", r"[A-Za-z_]\w{0,254}(\.[A-Za-z_]\w{0,254})?")
PLACE: Final = Text("a text of up to 1,024 printable characters", r"[ -~]{1,1024}")
EXPRESSION: Final = Text("an expression, up to 500 characters", r"[\x00-\x7f]{1,500}")
ELEMENT: Final = Text(choices=tuple(ELEMENT_BYTES))
ADDRESS: Final = Number(8, 8)
_SIZE: Final = Number(0, MAX_PARAMETERS)
_OFFSET: Final = Row("offset", _SIZE, "where it begins in the block, in bytes; a multiple of its size, a map's of 64")
_ADDRESS_ALIGN: Final = Row(
    "align",
    Number(1, 1 << 20, power=True),
    "bytes that the address is a multiple of, for what it points to",
    False,
    1,
)

ARGUMENT: Final = Object(
    "an argument",
    (Row("name", NAME, "by which a call passes it; not `stream` or `device`"),),
    {
        "tensor": (
            Row("element", ELEMENT, "element type"),
            Row("shape", ListOf(EXPRESSION, 0, MAX_RANK), "dimensions, expressions over them, or extents; row-major"),
            Row("access", Text(choices=("read", "write", "readwrite")), "how it is used", False, "read"),
            Row(
                "align",
                Number(0, 1 << 20, power=True),
                "bytes that every row starts on and is a multiple of; 0: no demand",
                False,
                0,
            ),
        ),
        "scalar": (Row("type", Text(choices=tuple(SCALARS)), "its type"),),
        "peers": (
            Row("tensor", NAME, "the tensor argument that each of them is like"),
            Row("count", Number(1, MAX_PARAMETERS // 8), "how many GPUs"),
        ),
    },
)

FIELD: Final = Object(
    "a field",
    (Row("name", NAME, "for messages", False, ""), _OFFSET),
    {
        "tensor_map": (
            Row("bytes", Number(128, 128), "its size"),
            Row("tensor", NAME, "the tensor argument"),
            Row("element", ELEMENT, "its element type"),
            Row("box", ListOf(Number(1, 256), 1, 5), "extents of the box, outermost first"),
            Row("swizzle", Text(choices=SWIZZLES), "its swizzle", False, "none"),
        ),
        "peer_maps": (
            Row("bytes", Number(128, MAX_PARAMETERS), "its size, 128 for each map"),
            Row("peers", NAME, "the argument of whose buffers these are maps, by rank"),
            Row("element", ELEMENT, "their element type"),
            Row("box", ListOf(Number(1, 256), 1, 5), "extents of the box, outermost first"),
            Row("swizzle", Text(choices=SWIZZLES), "its swizzle", False, "none"),
        ),
        "value": (
            Row("bytes", Number(1, 8), "its size, which holds the type"),
            Row("type", Text(choices=tuple(SCALARS)), "how it is stored, little-endian"),
            Row("value", EXPRESSION, "a scalar argument, or an expression"),
        ),
        "pointer": (
            Row("bytes", ADDRESS, "its size"),
            Row("tensor", NAME, "the tensor argument whose address it is"),
            _ADDRESS_ALIGN,
        ),
        "workspace": (Row("bytes", ADDRESS, "its size"), Row("workspace", NAME, "the workspace whose address it is")),
        "peers": (
            Row("bytes", Number(8, MAX_PARAMETERS), "its size, 8 for each address"),
            Row("peers", NAME, "the argument whose addresses these are, by rank"),
            _ADDRESS_ALIGN,
        ),
    },
)

PARAMETERS: Final = Object(
    "the parameter block",
    (
        Row("bytes", _SIZE, "its size"),
        Row("align", Number(1, 128, power=True), "alignment in bytes", False, 128),
        Row("fields", ListOf(FIELD), "its fields, which lie inside and apart"),
    ),
)

DEBUG: Final = Object(
    "a debug link",
    (
        Row("offset", Number(0, MAX_PARAMETERS), "where the runtime's 56 bytes begin in the block, a multiple of 8"),
        Row("limit_ms", Number(0, 10**9), "milliseconds that a wait may take; 0: no limit"),
        Row("timeline", Flag(), "whether launches note when roles wait"),
        Row("stays", Flag(), "whether a kernel that hangs must be stopped, to free its tensor memory"),
        Row("lanes", Number(0, MANIFEST_ITEMS), "lanes of a CTA's timeline"),
        Row(
            "roles",
            ListOf(
                Object(
                    "a role",
                    (
                        Row("role", PLACE, "as in the IR: `@instance::@role`"),
                        Row("first", Number(0, 1023), "its first thread"),
                        Row("threads", Number(1, 1024), "how many threads"),
                        Row("lane", Number(0, MANIFEST_ITEMS), "its first lane in the timeline"),
                    ),
                )
            ),
            "its roles",
        ),
        Row(
            "sites",
            ListOf(
                Object(
                    "a site",
                    (
                        Row("port", PLACE, "the port that waits"),
                        Row(
                            "operation",
                            Text("a word", r"[a-z_]{1,32}"),
                            "acquire, end, wait, take, await, sync, mbarrier or pass",
                        ),
                        Row("ring", PLACE, "the port that fills the ring"),
                        Row("stages", Number(0, 1 << 20), "the ring's depth"),
                        Row("users", ListOf(PLACE), "roles that wait here"),
                        Row("arrivers", ListOf(PLACE), "roles whose arrivals end the wait"),
                    ),
                )
            ),
            "its waits",
        ),
    ),
)

DERIVED: Final = Object(
    "a derived value", (Row("name", NAME, "its name in later expressions"), Row("value", EXPRESSION, "its value"))
)

OPERATION: Final = Object(
    "an operation",
    (
        Row("name", NAME, "by which a program names it"),
        Row("opcode", Number(0, 2**32 - 1), "the number by which instructions name it"),
        Row("bytes", Number(0, MAX_OPERANDS), "what its operands take in an instruction"),
        Row(
            "operands",
            ListOf(
                Object(
                    "an operand",
                    (
                        Row("name", OPERAND, "its name; of a passive instance behind the instance's, `instance.name`"),
                        Row("type", Text(choices=tuple(SCALARS)), "how it is stored, little-endian"),
                        Row("offset", Number(0, MAX_OPERANDS), "bytes from the first operand, a multiple of its size"),
                    ),
                )
            ),
            "its operands, which lie inside and apart",
        ),
        Row(
            "signals",
            ListOf(
                Object(
                    "a step",
                    (
                        Row("does", Text(choices=("await", "add")), "whether the instruction awaits, or adds"),
                        Row("counters", NAME, "the workspace with the counters, each on 128 bytes from the second on"),
                        Row("index", EXPRESSION, "which counter, over operands and `given`"),
                        Row("count", EXPRESSION, "how much; 0: the step is none"),
                        Row("instance", INSTANCE, "whose operands, of a passive instance", False, ""),
                        Row("given", ListOf(DERIVED), "what further names stand for, over the launch's", False, ()),
                    ),
                )
            ),
            "what an instruction awaits and adds, in order",
            False,
            (),
        ),
        Row("unstated", ListOf(PLACE), "signal ports at which nobody says what is awaited or added", False, ()),
    ),
)

LAUNCH: Final = Object(
    "a launch contract",
    (
        Row("kernel", NAME, "the kernel's symbol in the cubin"),
        Row("arguments", ListOf(ARGUMENT), "what a call passes"),
        Row("dimensions", ListOf(NAME), "names of extents, in the order in which tensors show them", False, ()),
        Row(
            "derived",
            ListOf(DERIVED),
            "named expressions, in order",
            False,
            (),
        ),
        Row("grid", ListOf(EXPRESSION, 1, 3), "extents in CTAs; those left out are 1"),
        Row(
            "cluster",
            ListOf(Number(1, MAX_CLUSTER), 0, 3),
            "extents in CTAs, at most 16 CTAs; those left out are 1",
            False,
            (),
        ),
        Row("threads", Number(1, 1024), "threads of a CTA"),
        Row("smem_bytes", Number(0, 1 << 20), "dynamic shared memory of a CTA"),
        Row("min_ctas", Number(1, 32), "CTAs that fit on an SM at once", False, 1),
        Row("cooperative", Flag(), "whether the launch is cooperative", False, False),
        Row("resident", Flag(), "whether all CTAs must fit on the device at once", False, False),
        Row(
            "programmatic",
            Flag(),
            "whether it may begin before the kernel in front of it on its stream has ended",
            False,
            False,
        ),
        Row(
            "workspaces",
            ListOf(
                Object(
                    "a workspace",
                    (
                        Row("name", NAME, "its name"),
                        Row("bytes", EXPRESSION, "its size, up to 2^40"),
                        Row(
                            "init",
                            Text(choices=("zero", "once", "none")),
                            "zeros before every launch, before the first, or anything",
                            False,
                            "none",
                        ),
                    ),
                )
            ),
            "device memory of the launch",
            False,
            (),
        ),
        Row("parameters", PARAMETERS, "what the kernel is given"),
        Row("operations", ListOf(OPERATION), "what instructions name, of a kernel that interprets them", False, ()),
        Row("debug", DEBUG, "what a debug link is watched for", False, None),
    ),
)

TARGET: Final = Object(
    "a target",
    (
        Row("arch", Text("an architecture such as sm_90a", r"sm_[1-9]\d{1,2}[af]?"), "what the cubin is for"),
        Row("cubin", Text("a name of up to 255 characters", r"[!-~]{1,255}"), "member of the archive"),
        Row("sha256", Text("64 hexadecimal digits", r"[0-9a-f]{64}"), "hash of the cubin, which a reader checks"),
        Row("registers", Number(0, 256), "registers of a thread at entry", False, 0),
        Row("toolkit", Text("a version such as 13.0", r"[\w.+-]{1,64}"), "the nvJitLink that made it", False, ""),
        Row("launch", Anything(f"{LAUNCH.name}, below"), "how it is launched"),
    ),
)

VERSION: Final = 2

MANIFEST: Final = Object(
    "the manifest",
    (
        Row("pipelink_package", Number(VERSION, VERSION), "version of this format; a reader refuses others"),
        Row(
            "kernels",
            ListOf(
                Object(
                    "a kernel",
                    (
                        Row("name", NAME, "its name, which no other kernel of the package has"),
                        Row("targets", ListOf(TARGET, 1, 64), "its code, for one architecture each"),
                        Row(
                            "audit",
                            Anything("an object"),
                            "the audits, as `pl-link` printed them",
                            False,
                        ),
                    ),
                ),
                1,
                1024,
            ),
            "one kernel or several",
        ),
    ),
)

#: Every object of the format, in the order of the documentation.
OBJECTS: Final = (MANIFEST, LAUNCH, ARGUMENT, PARAMETERS, FIELD, OPERATION, DEBUG)
