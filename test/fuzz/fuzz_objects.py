"""Hostile objects: damaged objects, archives and records in, nothing but LinkError out.

Each input is a mutation of a good object, of an archive, or of one record's JSON; what is read is also turned into IR
and verified.  An exception other than LinkError, or an input that takes longer than a second, is a failure.
Deterministic: the input is a function of (seed, index).
"""

from __future__ import annotations

import json
import random
import time
from functools import cache
from typing import Any

from pipelink import ir
from pipelink.ir import builder
from pipelink.objects import Image, object_bytes, parse_objects, to_ir
from pipelink.support.diagnostics import LinkError, render_json, render_text

SECONDS = 5.0  # that one input may take
CODE = bytes.fromhex("ed434e7f0141026203020700") + bytes(84)  # nvFatbin looks at LTO-IR's header only
COMMON: dict[str, Any] = {"pipelink": 1, "component": "t::x", "file": "x.cu"}
TILE = {"element": "bf16", "shape": [8, 8], "layout": "row_major", "bytes": 128, "align": 128}
RECORDS: list[dict[str, Any]] = [
    {**COMMON, "op": "component", "name": "component", "line": 1, "cxx": 17, "toolkit": "13.0"},
    {**COMMON, "op": "role", "name": "r", "line": 2, "warps": 4, "align": 4, "registers": [24, 40], "threads": "one"},
    {**COMMON, "op": "entry", "name": "r", "line": 3},
    {**COMMON, "op": "port", "name": "a", "line": 4, "direction": "out", "kind": "stream", "tiles": [TILE, TILE]}
    | {"stages": [2, 8], "touch": "tma", "ends": True, "role": "r"},
    {**COMMON, "op": "port", "name": "f", "line": 5, "direction": "calls", "kind": "call", "signature": "void(i32)"},
    {**COMMON, "op": "smem", "name": "s", "line": 6, "bytes": 512, "align": 128, "live": [0, 2]},
    {**COMMON, "op": "param", "name": "m", "line": 7, "type": "tensor_map", "bytes": 128, "align": 64}
    | {"port": "a", "part": 1},
    {**COMMON, "op": "tensor", "name": "a", "line": 8, "element": "bf16", "shape": ["M", "64"], "access": "read"},
    {**COMMON, "op": "bind", "name": "m", "line": 9, "param": "m", "to": "a"},
    {**COMMON, "op": "derive", "name": "k", "line": 10, "value": "ceildiv(K, 64)"},
    {**COMMON, "op": "grid", "name": "grid", "line": 11, "value": ["min(M, sms * occupancy)", "1", "1"]},
    {**COMMON, "op": "promise", "name": "p", "line": 12, "key": "p", "value": 3},
    {**COMMON, "op": "protocol", "name": "r", "line": 13}
    | {"text": "repeat f { repeat a.stages - 1 { a.acquire; } a.copy keep 1; } choose w { f; } or { } a.end;"},
]
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 3, 1 << 40, 1 << 63, -(1 << 70), 1.5, "", "a", "\0", "\ud800", "x" * 5000, "é",
    "a::b", "M +", "((" * 200, "1" * 400, [], {}, [[]], [1], [2, 1], [0, 0], ["M"], {"a": 1},
    [[[[[[[[[1]]]]]]]]], "out", "call",
]  # fmt: skip
NUMBERS = [0, 1, 2, 7, 8, 63, 64, 127, 255, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 64) - 1]


def build(records: list[dict[str, Any]]) -> bytes:
    """A good object of these records."""
    images = [Image(arch, "ltoir", "13.0", CODE) for arch in ("sm_80", "sm_90a")]
    return object_bytes(images, [json.dumps(record).encode() for record in records])


def archive(data: bytes) -> bytes:
    """An archive of one object."""
    return b"!<arch>\n" + f"{'x.o/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n".encode() + data


def damage_bytes(data: bytes, random_: random.Random) -> bytes:
    """A few bytes changed, cut, doubled or replaced by interesting numbers."""
    damaged = bytearray(data)
    for _ in range(random_.randint(1, 4)):
        if not damaged:
            break
        at = random_.randrange(len(damaged))
        match random_.randrange(6):
            case 0:
                damaged[at] ^= 1 << random_.randrange(8)
            case 1:
                damaged[at] = random_.randrange(256)
            case 2:
                del damaged[at:]
            case 3:
                del damaged[at : at + random_.randint(1, 16)]
            case 4:
                damaged[at:at] = damaged[at : at + random_.randint(1, 64)]
            case _:
                size = random_.choice((2, 4, 8))
                number = random_.choice(NUMBERS) & ((1 << 8 * size) - 1)
                damaged[at : at + size] = number.to_bytes(size, "little")
    return bytes(damaged)


def damage_records(random_: random.Random) -> list[dict[str, Any]]:
    """Records with one to three values replaced, removed, added or moved."""
    records: list[dict[str, Any]] = json.loads(json.dumps(RECORDS))
    for _ in range(random_.randint(1, 3)):
        record = random_.choice(records)
        key = random_.choice(list(record) or ["op"])
        match random_.randrange(6):
            case 0:
                record.pop(key, None)
            case 1:
                record[random_.choice(("colour", "required", "role", "live", "direction"))] = random_.choice(VALUES)
            case 2:
                records = [other for other in records if other is not record] or records
            case 3:
                records.append(dict(record))
            case 4:
                record[key] = random_.choice(list(random_.choice(RECORDS).values()))
            case _:
                record[key] = random_.choice(VALUES)
    return records


def make_input(random_: random.Random, good: bytes) -> bytes:
    """One hostile input."""
    match random_.randrange(4):
        case 0:
            return damage_bytes(good, random_)
        case 1:
            return damage_bytes(archive(good), random_)
        case 2:
            return object_bytes(
                [Image("sm_80", "ltoir", "", CODE)],
                [damage_bytes(json.dumps(record).encode(), random_) for record in RECORDS],
            )
        case _:
            return build(damage_records(random_))


def try_input(data: bytes, context: Any) -> bool:
    """Read an input and turn it into IR; whether it was accepted."""
    try:
        items = parse_objects(data, "fuzz.o")
        module = builder.module(context)
        for item in items:
            to_ir.declare(item, module)
        ir.verify(module, references=False)
    except LinkError as problem:
        render_json(problem.diagnostics)
        for diagnostic in problem.diagnostics:
            render_text(diagnostic).encode("utf-8", "replace")
        return False
    return True


@cache
def prepare() -> tuple[bytes, Any]:
    """The undamaged object, and a context for all."""
    good, context = build(RECORDS), ir.new_context()
    assert try_input(good, context), "the undamaged object is refused"
    return good, context


def attempt(seed: int, index: int) -> str | None:
    """Try one object; what went wrong, or None."""
    good, context = prepare()
    data = make_input(random.Random(seed * 1_000_003 + index), good)
    start = time.perf_counter()
    try_input(data, context)
    seconds = time.perf_counter() - start
    return f"took {seconds:.1f} s" if seconds > SECONDS else None
