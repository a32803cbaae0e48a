"""Whether two cubins hold the same machine code."""

from __future__ import annotations

import io
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from pipelink.backend import sass

Relocations = list[tuple[int, int, int, str]]


def differences(a: bytes, b: bytes) -> list[str]:
    """The lines in which the code of two cubins differs, as :func:`pipelink.backend.sass.compare` shows them.

    Code of the same bytes is the same, without a look at it through the disassembler, which takes 0.3 s for the
    smallest cubin."""
    return [] if _code(a) == _code(b) else sass.compare(a, b)


def _code(cubin: bytes) -> list[tuple[bytes, Relocations]]:
    """The bytes of each text section and what the driver will change in them, in the file's order."""
    elf: Any = ELFFile(io.BytesIO(cubin))
    sections = list(elf.iter_sections())
    relocations: dict[int, Relocations] = {}
    for section in sections:
        if isinstance(section, RelocationSection):
            symbols: Any = elf.get_section(section["sh_link"])
            relocations.setdefault(section["sh_info"], []).extend(
                (
                    entry["r_offset"],
                    entry["r_info_type"],
                    entry["r_addend"] if entry.is_RELA() else 0,
                    symbols.get_symbol(entry["r_info_sym"]).name,
                )
                for entry in section.iter_relocations()
            )
    return [
        (section.data(), relocations.get(index, []))
        for index, section in enumerate(sections)
        if section.name.startswith(".text")
    ]
