"""Writes component objects: the same ELF object that nvcc makes, from LTO-IR and records.

Images and records in, a relocatable object out, which host linkers, ``ar``, nvJitLink and PipeLink take.  It needs
neither nvcc nor a host compiler; fatbins are made by NVIDIA's nvFatbin.  nvJitLink finds them through sections
``__nv_relfatbin`` and ``.nvFatBinSegment``.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Iterable
from pathlib import Path

from pipelink.objects import elf, fatbin
from pipelink.objects.model import Image
from pipelink.objects.reader import SECTION
from pipelink.support.outputs import write_file

_PROGBITS = 1
_ALLOC = 2
_WRITE = 1


def object_bytes(images: Iterable[Image], records: Iterable[bytes], name: str = "component") -> bytes:
    """An object of bare LTO-IR ``images`` and contract ``records`` (JSON texts without NUL; none of a helper) as bytes;
    ``name`` is the identifier that the fatbin carries.  Raises LinkError ``toolchain-missing``."""
    packed = fatbin.pack(list(images), name)
    contract = b"".join(record + b"\0" for record in records)
    sections = [
        ("__nv_relfatbin", _PROGBITS, _ALLOC, packed, 8),
        (".nvFatBinSegment", _PROGBITS, _ALLOC | _WRITE, struct.pack("<IIQQ", fatbin.WRAPPER_MAGIC, 1, 0, 0), 8),
        *([(SECTION, _PROGBITS, _ALLOC, contract, 1)] if contract else []),
        (".note.GNU-stack", _PROGBITS, 0, b"", 1),
    ]
    machine = platform.machine()
    return elf.write(sections, (".nvFatBinSegment", "__nv_relfatbin"), machine if machine in elf.MACHINES else "x86_64")


def write_object(path: str | Path, images: Iterable[Image], records: Iterable[bytes]) -> None:
    """Write an object file, whole or not at all.  Raises LinkError ``unwritable-output`` or ``toolchain-missing``."""
    write_file(path, object_bytes(images, records, Path(path).name))
