"""What a cubin's ELF structure says about a kernel: registers, stack, static shared memory, launch bounds, and the
symbols it leaves undefined.  Input: the cubin.  Read from the section ``.nv.info`` (attributes of symbols), the
kernel's own ``.nv.info.NAME`` and the symbol table; the attribute numbers are those that ``cuobjdump -elf`` names.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from pipelink.support.diagnostics import error

# EIATTR numbers (cuobjdump -elf prints their names)
_MAX_THREADS = 0x05
_FRAME_SIZE = 0x11
_REGCOUNT = 0x2F
_PARAM_CBANK = 0x0A
_SIZED_VALUE = 4  # EIFMT_SVAL: a 16-bit size and a payload follow; every other format has a 16-bit value
# undefined on purpose: the driver supplies them
_DRIVER_SYMBOLS = (".nv.", "__nv_", "__UFT", "__UDT", ".text", "$")


@dataclass(frozen=True)
class CubinFacts:
    """One kernel of a cubin.  Sizes in bytes; ``max_threads`` is 0 if the kernel has no launch bounds;
    ``parameter_bytes`` is the size of its parameter block; ``undefined`` are symbols that no input defined."""

    kernel: str
    registers: int
    stack_bytes: int
    static_smem_bytes: int
    max_threads: int
    parameter_bytes: int
    undefined: tuple[str, ...]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    while position + 4 <= len(data):
        form, attribute, value = struct.unpack_from("<BBH", data, position)
        position += 4
        if form == _SIZED_VALUE:
            yield attribute, data[position : position + value]
            position += value
        else:
            yield attribute, struct.pack("<H", value)


def kernels(cubin: bytes) -> list[str]:
    """The names of the kernels in a cubin.  Raises LinkError ``bad-cubin``."""
    return [name.removeprefix(".nv.info.") for name in _sections(cubin) if name.startswith(".nv.info.")]


def variables(cubin: bytes) -> frozenset[str]:
    """The variables that a cubin holds.  Raises LinkError ``bad-cubin``."""
    table = _sections(cubin).get(".symtab")
    found = table.iter_symbols() if table is not None else ()
    return frozenset(str(symbol.name) for symbol in found if symbol.entry.st_info.type == "STT_OBJECT")


def _elf(cubin: bytes) -> Any:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        return ELFFile(io.BytesIO(cubin))
    except (ELFError, struct.error, ValueError) as problem:
        raise error("bad-cubin", f"the linked image is not a cubin: {problem}") from problem


def _sections(cubin: bytes) -> dict[str, Any]:
    return {str(section.name): section for section in _elf(cubin).iter_sections()}


def facts(cubin: bytes, kernel: str) -> CubinFacts:
    """The facts of ``kernel``.  Raises LinkError ``bad-cubin``."""
    sections = _sections(cubin)
    if f".text.{kernel}" not in sections:
        raise error("bad-cubin", f"the cubin holds no kernel '{kernel}'")
    symbols = [(str(s.name), s.entry) for s in sections[".symtab"].iter_symbols()]
    index = next(i for i, (name, entry) in enumerate(symbols) if name == kernel and entry.st_shndx != "SHN_UNDEF")
    registers = stack = 0
    for attribute, payload in _attributes(cast(bytes, sections[".nv.info"].data())):
        if attribute not in (_FRAME_SIZE, _REGCOUNT) or len(payload) < 8:
            continue
        symbol, value = struct.unpack_from("<II", payload)
        if attribute == _REGCOUNT and symbol == index:
            registers = value
        if attribute == _FRAME_SIZE:
            stack = max(stack, value)
    max_threads = parameter_bytes = 0
    own = sections.get(f".nv.info.{kernel}")
    for attribute, payload in _attributes(cast(bytes, own.data()) if own else b""):
        if attribute == _MAX_THREADS and len(payload) >= 12:
            x, y, z = struct.unpack_from("<III", payload)
            max_threads = x * y * z
        if attribute == _PARAM_CBANK and len(payload) >= 8:
            parameter_bytes = struct.unpack_from("<IHH", payload)[2]
    shared = sections.get(f".nv.shared.{kernel}")
    undefined = tuple(
        name
        for name, entry in symbols
        if name and entry.st_shndx == "SHN_UNDEF" and not name.startswith(_DRIVER_SYMBOLS)
    )
    return CubinFacts(
        kernel, registers, stack, int(shared["sh_size"]) if shared else 0, max_threads, parameter_bytes, undefined
    )
