"""Hostile cache entries with a good checksum: read as what they should be, or a miss; never anything else.

Mutants of a linked kernel's entry: parts left out, exchanged or damaged, values of its description replaced, and the
index of the parts too.
"""

from __future__ import annotations

import hashlib
import json
import random
from functools import cache
from typing import Any

from pipelink.audit.report import Check, KernelReport
from pipelink.backend import cache as entries
from pipelink.link.result import LinkedTarget, decode, encode
from pipelink.support.diagnostics import Diagnostic, Location, Note, render_text

_VALUES: list[Any] = [
    None, True, 0, -1, 1 << 70, 1.5, float("inf"), "", "x", "\0", "\ud800", "x" * 5000, [], {}, [[]], {"a": {}},
    "error", "usage", [1, 2, 3], [["a", "b", "c"]],
]  # fmt: skip


@cache
def good() -> dict[str, bytes]:
    """The entry that mutants come from."""
    checks = (Check("stack", "audit-stack", "none", "none", True, ("a note",)),)
    warning = Diagnostic("warning", "usage", "m", Location("k.mlir", 2, 3), (Note("n", Location("x.cu", 1)),), "hint")
    audit = KernelReport("k", "sm_90a", checks, 10, 32)
    return encode(
        LinkedTarget("k", "sm_90a", b"\x7fELF" + bytes(60), {"grid": []}, {"kernel": {}}, audit, "log", "13.0",
                     (warning,), "<svg/>", "map")
    )  # fmt: skip


def _damage(value: Any, rng: random.Random) -> Any:
    """The value with one of its parts replaced, left out or doubled."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        if rng.random() < 0.2:
            return {name: part for name, part in value.items() if name != key}
        return {**value, key: _damage(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], _damage(value[at], rng), *value[at + rng.choice((0, 1, 1)) :]]
    return rng.choice(_VALUES)


def make(rng: random.Random) -> bytes:
    """The file of an entry."""
    parts = dict(good())
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice(list(parts) or ["x"])
        match rng.randrange(4):
            case 0:
                parts.pop(name, None)
            case 1:
                parts[name] = bytes(rng.randrange(256) for _ in range(rng.randrange(64)))
            case 2:
                parts[name] = parts.get(rng.choice(list(parts) or ["x"]), b"")
            case _:
                meta = json.loads(good()["meta.json"])
                for _ in range(rng.choice((1, 1, 3))):
                    meta = _damage(meta, rng)
                parts["meta.json"] = json.dumps(meta).encode()
    whole = entries.encode(parts)
    if rng.random() < 0.7:
        return whole
    index: Any = {name: len(data) for name, data in parts.items()}
    for _ in range(rng.choice((1, 2))):
        index = _damage(index, rng)
    text = json.dumps(index).encode()
    body = len(text).to_bytes(8, "little") + text + b"".join(parts.values())
    return whole[:8] + hashlib.sha256(body).digest() + body


def attempt(seed: int, index: int) -> str | None:
    """Try one entry; what went wrong, or None."""
    parts = entries.decode(make(random.Random(f"{seed}/{index}")))
    if parts is None:
        return None
    try:
        linked = decode(parts)
    except ValueError:
        return None
    linked.audit.render()
    for warning in linked.warnings:
        render_text(warning)
    return None if encode(linked).keys() == good().keys() else "an entry of other parts is read"
