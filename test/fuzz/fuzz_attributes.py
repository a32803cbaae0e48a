"""Hostile values of the IR's attributes: every row of every operation, in modules that are otherwise in order.

Structure-aware where fuzz_ir.py changes text: operations come from the schema, each attribute gets a value of its kind,
one of its choices, one of another kind or one at the edge of a range.
"""

from __future__ import annotations

import random
from typing import Any

from fuzz_ir import prepare, try_text, try_tool

from pipelink.contract import vocabulary
from pipelink.ir import schema

_NUMBERS = (0, 1, 2, 7, 8, 32, 33, 128, 255, 256, 1 << 20, 1 << 31, 1 << 40, (1 << 63) - 1, -1, -(1 << 63))
_NAMES = ("a", "b", "r", "p", "x", "M", "N", "", "1", "a.b", "a b", "\\22", "\\1B[31m", "é", "n" * 300)
_TEXTS = (
    "M * N",
    "ceildiv(M, 64)",
    "min(M",
    "1 // 0",
    "stride(a, 0)",
    "void(i32)",
    "f32*",
    "p.wait;",
    "repeat 3 { p.wait; }",
)


def _tile(rng: random.Random) -> str:
    layout = rng.choice(("row_major", "swizzle128", "tmem", "x"))
    shape = [rng.choice((1, 8, 64, 128, rng.choice(_NUMBERS))) for _ in range(rng.choice((0, 1, 2, 2, 5)))]
    return f'{{element = "{rng.choice(("bf16", "f32", "x"))}", shape = {shape}, layout = "{layout}", align = 128}}'


def _value(kind: str, choices: Any, rng: random.Random, depth: int = 0) -> str:
    if rng.random() < 0.03:
        kind = rng.choice(("int", "str", "bool", "symbol", "port", "range", "list", "dict", "float"))
    if choices and rng.random() < 0.8:
        return f'"{rng.choice(list(choices))}"'
    match kind:
        case "int":
            return str(rng.choice(_NUMBERS))
        case "bool":
            return rng.choice(("true", "false", "unit"))
        case "symbol":
            return f"@{rng.choice(('c', 'k', 'i', 'j', 'r'))}"
        case "port":
            return f"@{rng.choice(('i', 'j', 'k'))}::@{rng.choice(('p', 'r', 'x'))}"
        case "range":
            return f"[{rng.choice(_NUMBERS)}, {rng.choice(_NUMBERS)}]"
        case "list" if depth < 4:
            inner = rng.choice(("int", "str", "symbol", "port", "tile", "list", "dict"))
            return f"[{', '.join(_value(inner, (), rng, depth + 1) for _ in range(rng.choice((0, 1, 2, 3, 40))))}]"
        case "dict" if depth < 4:
            return f"{{x = {_value('int', (), rng, depth + 1)}, y = {_value('list', (), rng, depth + 1)}}}"
        case "tile":
            return _tile(rng)
        case "float":
            return rng.choice(("1.0", "1.0e400", "0x7FC00000 : f32"))
    return f'"{rng.choice((*_NAMES, *_TEXTS))}"'


def _operation(parent: str, rng: random.Random) -> str:
    name, op = rng.choice([(name, op) for name, op in schema.OPS.items() if parent in op.parents])
    written: list[str] = []
    for key, row in op.fields.items():
        if rng.random() < (0.95 if row.required else 0.5):
            written.append(f"{key} = {_value(row.kind, row.choices, rng)}")
    if name == "port" and rng.random() < 0.7:
        kind, direction = rng.choice(list(vocabulary.PORT_FIELDS))
        written = [item for item in written if not item.startswith(("kind ", "direction "))]
        written += [f'kind = "{kind}"', f'direction = "{direction}"']
    return f'  "pipelink.{name}"() {{{", ".join(written)}}} : () -> ()\n'


def make(seed: int, index: int) -> str:
    """The text of an index."""
    rng = random.Random(f"{seed}/{index}")
    component = "".join(_operation("component", rng) for _ in range(rng.randrange(6)))
    kernel = "".join(_operation("kernel", rng) for _ in range(rng.randrange(6)))
    target = rng.choice(("sm_90a", "sm_80", "sm_100a", "sm_", "x" * 500))
    return (
        f"module @c attributes {{pipelink.component = {{abi = {rng.choice((1, 1, 1, 2, -1))}}}}} {{\n"
        '  "pipelink.role"() {sym_name = "r", warps = 4, align = 4} : () -> ()\n' + component + "}\n"
        f'module @k attributes {{pipelink.kernel = {{target = "{target}"}}}} {{\n'
        '  "pipelink.instance"() {sym_name = "i", component = @c} : () -> ()\n' + kernel + "}\n"
    )


__all__ = ["attempt", "confirm", "prepare"]


def attempt(seed: int, index: int) -> str | None:
    """Try one text; what went wrong, or None."""
    return try_text("place" if index % 16 == 0 else "ir", make(seed, index))


def confirm(seed: int, index: int) -> str | None:
    """A worker died: what the tool says of the text."""
    return try_tool("place" if index % 16 == 0 else "ir", make(seed, index))
