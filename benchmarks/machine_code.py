"""Digests of machine code: what results belong to.

A package holds more than code (manifest, launch contract, debug notes), and so does a cubin (symbols, the toolkit's
notes, in a monolith the components' records).  Results of a kernel stay valid while its instructions and the constants
that they read are the same, so a digest is made of the cubin's sections ``.text.*`` and ``.nv.constant2*`` and
``.nv.constant3*`` alone, in the order of their names.  Needs nothing but Python, so that it works where kernels run.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")  # of ELF64; System V ABI, chapter 4
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NOBITS = 8
#: Instructions, the compiler's constants, and ``__constant__`` variables.
_CODE = (".text.", ".nv.constant2", ".nv.constant3")


def _sections(cubin: bytes) -> Iterator[tuple[str, bytes]]:
    if cubin[:4] != b"\x7fELF":
        raise ValueError("not a cubin")
    header = _HEADER.unpack_from(cubin)
    table, count, names = header[6], header[12], header[13]
    sections = [_SECTION.unpack_from(cubin, table + index * _SECTION.size) for index in range(count)]
    strings = cubin[sections[names][4] :]
    for name, kind, _, _, offset, size, *_ in sections:
        text = strings[name : strings.index(b"\0", name)].decode()
        yield text, b"" if kind == _NOBITS else cubin[offset : offset + size]


def digest_of(cubin: bytes) -> str:
    """16 hexadecimal digits.  Raises ValueError for what is no cubin, or holds no code."""
    code = sorted((name, data) for name, data in _sections(cubin) if name.startswith(_CODE))
    if not code:
        raise ValueError("the cubin holds no machine code")
    digest = hashlib.sha256()
    for name, data in code:
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:16]


def manifest(package: Path) -> dict[str, Any]:
    """What the manifest of a .plk says of its only kernel."""
    with zipfile.ZipFile(package) as archive:
        (kernel,) = json.loads(archive.read("manifest.json"))["kernels"]
    return kernel


def digest_of_package(package: Path) -> str:
    """The digest of the only image of a .plk."""
    (image,) = manifest(package)["targets"]
    with zipfile.ZipFile(package) as archive:
        return digest_of(archive.read(image["cubin"]))


def belongs(result: Mapping[str, Any] | None, linked: str | None) -> bool:
    """Whether there is a result, and it is of a link with this digest."""
    return result is not None and result.get("linked") == linked
