"""Fatbins: the images of one translation unit, taken apart without unpacking them.

Input: the bytes at a fatbin's header.  Output: one :class:`Image` per entry.  An entry that the compiler stored plainly
gives its bare data; a compressed one gives a fatbin of its own with that entry alone, which nvJitLink reads.
The layout is the one that ``nvFatbin`` writes (CUDA 12 and 13): a 16-byte header, then entries of header and payload.
"""

from __future__ import annotations

import importlib
import struct
from typing import Any, NoReturn, cast

from pipelink.objects.model import Image, ImageKind
from pipelink.support import limits
from pipelink.support.diagnostics import Location, error
from pipelink.support.inputs import FATBIN_MAGIC

WRAPPER_MAGIC = 0x466243B1  # of an entry of .nvFatBinSegment
WRAPPER_BYTES = 24

HEADER_BYTES = 16
_HEADER = struct.Struct("<IHHQ")  # magic, version, header bytes, payload bytes
_ENTRY = struct.Struct("<HHIQIIHHIIIQ")  # kind, version, header and padded bytes, packed bytes, …, arch, …, flags
_KINDS = {1: "ptx", 2: "cubin", 8: "ltoir"}
_COMPRESSED = 0x8000 | 0x2000  # flags: zstd, lz4
_SUFFIX = ((0x100000, "a"), (0x200000, "f"))  # flags: architecture- and family-specific code


def split(data: bytes | memoryview, toolkit: str, unit: int, name: str, where: Location) -> list[Image]:
    """The images of the fatbin at the start of ``data`` (which may go on behind it).
    Raises LinkError ``truncated-object``, ``corrupt-object`` or ``oversized-object``."""

    def corrupt(what: str) -> NoReturn:
        raise error("corrupt-object", f"the fatbin of '{name}' is corrupt: {what}", where)

    def truncated(what: str) -> NoReturn:
        raise error("truncated-object", f"the fatbin of '{name}' ends before {what} does", where)

    if len(data) < _HEADER.size:
        truncated("its header")
    magic, version, header, size = _HEADER.unpack_from(data)
    if magic.to_bytes(4, "little") != FATBIN_MAGIC:
        corrupt(f"it starts with {magic:#x}")
    if version != 1 or header != _HEADER.size:
        corrupt(f"it has version {version} and a header of {header} bytes")
    end = header + size
    if end > len(data):
        truncated("its last image")
    images: list[Image] = []
    at = header
    while at < end:
        if len(images) == limits.IMAGES:
            raise error("oversized-object", f"the fatbin of '{name}' has more than {limits.IMAGES} images", where)
        if at + _ENTRY.size > end:
            truncated("the header of an image")
        kind, _, length, padded, _, _, _, _, arch, _, _, flags = _ENTRY.unpack_from(data, at)
        stop = at + length + padded
        if length < _ENTRY.size or padded == 0 or stop > end:
            corrupt(f"an image of {length} + {padded} bytes in {end - at}")
        if kind in _KINDS:  # others (relocatable PTX and such) are for other tools
            if flags & _COMPRESSED:
                content = _HEADER.pack(magic, 1, _HEADER.size, stop - at) + bytes(data[at:stop])
            else:
                content = bytes(data[at + length : stop])
            suffix = "".join(letter for bit, letter in _SUFFIX if flags & bit)
            images.append(Image(f"sm_{arch}{suffix}", cast(ImageKind, _KINDS[kind]), toolkit, content, unit))
        at = stop
    return images


def pack(images: list[Image], identifier: str) -> bytes:
    """A fatbin of LTO-IR ``images`` (bare data), stored plainly.  Raises LinkError ``toolchain-missing``."""
    try:
        nvfatbin: Any = importlib.import_module("cuda.bindings.nvfatbin")
        nvfatbin.version()
    except (ImportError, RuntimeError) as problem:
        hint = "pip install cuda-bindings nvidia-nvfatbin"
        raise error("toolchain-missing", f"nvFatbin cannot be loaded: {problem}", hint=hint) from problem
    options = ["-64", "-host=linux", "-compress=false"]
    handle = nvfatbin.create(options, len(options))
    try:
        for image in images:
            arch = image.arch.removeprefix("sm_")
            nvfatbin.add_ltoir(handle, image.data, len(image.data), arch, identifier, "")
        data = bytearray(nvfatbin.size(handle))
        nvfatbin.get(handle, data)
        return bytes(data)
    finally:
        nvfatbin.destroy(handle)
