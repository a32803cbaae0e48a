"""Hostile packages: whatever a manifest says, loading it raises LinkError ``bad-package``, or gives kernels whose
parameter block holds its fields, and whose launches raise LinkError or start.

Mutants know the structure: values, keys and items of a good manifest are replaced, moved, doubled and taken out, so
most get past the JSON reader.  Driver and torch are stand-ins.  Deterministic: the input is a function of (seed,
index).
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import random
import sys
import time
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.launch import Tensor, stand_ins  # noqa: E402
from pipelink import runtime  # noqa: E402
from pipelink.runtime import driver  # noqa: E402
from pipelink.runtime.manifest import LaunchContract  # noqa: E402
from pipelink.runtime.tensors import packed_strides  # noqa: E402
from pipelink.support.diagnostics import LinkError  # noqa: E402

SECONDS = 5.0  # that one package may take
WORDS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 7, 8, 16, 64, 127, 128, 255, 256, 257, 272, 4095, 4096, -4096, 32764, 32765),
    *(2**31, 2**32, 4_000_000_000, 2**40, 2**63, 2**64, 10**300, 0.5, -0.0, 1e300, float("inf"), float("nan")),
    *("", "0", "a", "M", "out", "alpha", "stream", "device", "self", "sms", "min", "\ud800", "\0", "\x1b[31m", "é"),
    "x" * 300,
    *("M * M", "M / 0", "0 - M", "stride(a, 0)", "stride(a, 9)", "ceildiv(M, 0)", "occupancy", "9" * 30, "1e9"),
    "(" * 90,
    *("d0 * d0 * d0", "f32", "bf16", "i64", "u8", "struct<8,8>", "e2m1", "tensor", "scalar", "peers", "tensor_map"),
    *("value", "pointer", "workspace", "swizzle128", "zero", "once", "write", "sm_90a", "sm_99999", "sm_90a.cubin"),
    *([], [0], ["M"], [[]], {}, {"name": "a"}, {"kind": "tensor"}, ["M"] * 9, [1] * 5000),
)  # fmt: skip


class Packed(Tensor):
    """A tensor of any rank."""

    def stride(self) -> tuple[int, ...]:
        return packed_strides(self.shape)


def _field(name: str, offset: int, size: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "offset": offset, "bytes": size, "kind": kind, **more}


LAUNCH: dict[str, Any] = {
    "kernel": "gemm",
    "arguments": [
        {"name": "a", "kind": "tensor", "element": "bf16", "shape": ["M", "K"], "access": "read"},
        {"name": "out", "kind": "tensor", "element": "bf16", "shape": ["M", "d1"], "access": "write", "align": 16},
        {"name": "alpha", "kind": "scalar", "type": "f32"},
        {"name": "group", "kind": "scalar", "type": "i32"},
        {"name": "all_a", "kind": "peers", "tensor": "a", "count": 2},
    ],
    "dimensions": ["M", "K", "steps"],
    "derived": [{"name": "d0", "value": "ceildiv(M, 128) * steps"}, {"name": "d1", "value": "2 * K"}],
    "grid": ["min(d0, sms * occupancy)", "steps", "1"],
    "cluster": [1, 1, 1],
    "threads": 384,
    "smem_bytes": 197632,
    "resident": True,
    "workspaces": [{"name": "flags", "bytes": "4 * d0", "init": "zero"}],
    "parameters": {
        "bytes": 384,
        "align": 128,
        "fields": [
            _field("map_a", 0, 128, "tensor_map", tensor="a", element="bf16", box=[128, 64], swizzle="swizzle128"),
            _field("out", 128, 8, "pointer", tensor="out", align=16),
            _field("flags", 136, 8, "workspace", workspace="flags"),
            _field("all_a", 144, 16, "peers", peers="all_a"),
            _field("ldc", 160, 4, "value", type="i32", value="stride(out, 0)"),
            _field("alpha", 164, 4, "value", type="f32", value="alpha"),
            _field("steps", 168, 8, "value", type="i64", value="steps + group"),
        ],
    },
    "debug": {
        "offset": 320, "limit_ms": 0, "timeline": False, "stays": False, "lanes": 1,
        "roles": [{"role": "@a::@run", "first": 0, "threads": 32, "lane": 0}],
        "sites": [{"port": "@a::@x", "operation": "wait", "ring": "@b::@x", "stages": 2, "users": [], "arrivers": []}],
    },
}  # fmt: skip


def document(debug: bool) -> dict[str, Any]:
    launch = copy.deepcopy(LAUNCH)
    if not debug:
        del launch["debug"]
    target = {
        "arch": "sm_90a", "cubin": "sm_90a.cubin", "sha256": hashlib.sha256(b"cubin").hexdigest(), "registers": 168,
        "toolkit": "13.0", "launch": launch,
    }  # fmt: skip
    return {"pipelink_package": 2, "kernels": [{"name": "gemm", "targets": [target], "audit": {}}]}


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document."""
    keys = list(data) if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    return [path, *(place for key in keys for place in places(data[key], (*path, key)))]


def at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def mutate(data: dict[str, Any], rng: random.Random) -> None:
    path = rng.choice(places(data)[1:])
    parent, key = at(data, path[:-1]), path[-1]
    match rng.randrange(7):
        case 0 | 1 | 2:
            parent[key] = copy.deepcopy(rng.choice(WORDS))
        case 3:
            parent[key] = copy.deepcopy(at(data, rng.choice(places(data)[1:])))
        case 4:
            del parent[key]
        case 5 if isinstance(parent, list):
            parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(parent[key]))
        case _ if type(parent[key]) is int:
            parent[key] += rng.choice((-128, -8, -4, -1, 1, 4, 8, 64, 128, 2**32))
        case _:
            parent[str(rng.choice(WORDS))] = copy.deepcopy(rng.choice(WORDS)) if isinstance(parent, dict) else None


def make(seed: int, index: int) -> bytes:
    """The package of an index."""
    rng = random.Random(f"{seed}/{index}")
    data = document(rng.random() < 0.3)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        try:
            mutate(data, rng)
        except (KeyError, IndexError, TypeError):  # the place is gone, or is in a text
            continue
    text = json.dumps(data).encode(errors="surrogatepass")
    if rng.random() < 0.05:
        text = text.replace(b'"name"', b'"name": "twice", "name"', 1)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if rng.random() < 0.5 else zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.json", text)
        archive.writestr("sm_90a.cubin", b"cubin")
    packed = bytearray(buffer.getvalue())
    if rng.random() < 0.05:
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
    return bytes(packed)


def check_block(contract: LaunchContract) -> str | None:
    """Fields that leave the block or lie on each other."""
    end = 0
    for field in sorted(contract.fields, key=lambda field: field.offset):
        if field.offset < end or field.bytes < 1:
            return f"field {field.name} at {field.offset} lies on another"
        end = field.offset + field.bytes
    if contract.debug is not None and contract.debug.offset < end:
        return "the debug block lies on a field"
    end = max(end, contract.debug.offset + 56 if contract.debug is not None else 0)
    return None if end <= contract.parameter_bytes <= 32764 else f"fields end at {end} of {contract.parameter_bytes}"


def launch(data: bytes) -> str | None:
    """Load a package and launch its kernels; what went wrong, or None."""
    try:
        kernels = runtime.load_all(data)
    except LinkError as problem:
        found = {item.id for item in problem.diagnostics}
        return None if found == {"bad-package"} else f"{found}"
    for kernel in kernels.values():
        for target in kernel.package.targets:
            if (wrong := check_block(target.contract)) is not None:
                return wrong
        if kernel.contract.debug is not None:
            continue  # a launch would wait for a device
        given: dict[str, Any] = dict.fromkeys((*kernel.contract.scalars, *kernel.contract.free_dimensions), 3)
        given |= {
            name: Packed(4096, *(256,) * len(a.shape)) for name, a in kernel.contract.tensors.items() if not a.peers
        }
        given |= {name: [Packed(4096, 256, 256)] * len(members) for name, members in kernel.contract.peers.items()}
        try:
            kernel(**given)
        except LinkError:
            continue
    return None


@cache
def devices() -> tuple[Any, Any]:
    """What stands in for the driver and for torch."""
    cuda, torch = stand_ins()
    cuda.cuMemAlloc = lambda _size: (0, 0x7000)
    cuda.cuMemsetD8Async = lambda *_arguments: (0,)
    return cuda, torch


@contextmanager
def standing_in(devices: tuple[Any, Any]) -> Generator[None]:
    """Let launches see these instead of the driver and torch."""
    cuda, torch = devices
    kept = driver.cuda, sys.modules.get("torch")
    driver.cuda = lambda: cuda  # type: ignore[assignment]
    sys.modules["torch"] = torch
    try:
        yield
    finally:
        driver.cuda = kept[0]
        sys.modules.pop("torch")
        if kept[1] is not None:
            sys.modules["torch"] = kept[1]


def attempt(seed: int, index: int) -> str | None:
    """Try one package; what went wrong, or None."""
    start = time.monotonic()
    with standing_in(devices()):
        wrong = launch(make(seed, index))
    taken = time.monotonic() - start
    return wrong if wrong is not None or taken < SECONDS else f"took {taken:.1f} s"
