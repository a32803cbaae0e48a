"""Sections of an ELF relocatable object, read with every bound checked.

Input: the bytes of a 64-bit little-endian ``ET_REL`` file.  Output: sections by name, and where relocations point.
Only what component objects need; a general ELF library trusts table sizes that hostile input gets to choose.  Sections
are views of the bytes, so that any number of them may lie over one another, and what is looked at is counted.
Source: System V ABI, chapters 4 and 5.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from pipelink.support import limits
from pipelink.support.diagnostics import Location, error

MAGIC = b"\x7fELF"
MACHINES = {"x86_64": (62, 1), "aarch64": (183, 257)}  # e_machine and its 64-bit absolute relocation

_HEADER = struct.Struct("<HHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_NOBITS = 8
_ET_REL = 1
_KINDS = {2: "an executable", 3: "a shared library", 4: "a core dump"}


@dataclass(frozen=True)
class Section:
    """One section; ``data`` is empty for sections that occupy no file space."""

    index: int
    name: str
    type: int
    link: int
    info: int
    data: memoryview


class ElfObject:
    """Sections of the object ``data``, which comes from ``where``.

    Raises LinkError ``not-an-object``, ``truncated-object``, ``corrupt-object`` or ``oversized-object``.
    """

    def __init__(self, data: bytes | memoryview, name: str, where: Location) -> None:
        self._name, self._where = name, where
        if data[:4] != MAGIC:
            raise error("not-an-object", f"'{name}' is not an ELF object", where)
        if len(data) < 64:
            self._truncated("its header")
        if data[4:6] != b"\x02\x01":
            raise error("not-an-object", f"'{name}' is not a 64-bit little-endian ELF object", where)
        header = _HEADER.unpack_from(data, 16)
        kind, self.machine, table, size, count, names = header[0], header[1], header[5], *header[10:13]
        if kind != _ET_REL:
            what = _KINDS.get(kind, f"an ELF file of type {kind}")
            raise error("not-an-object", f"'{name}' is {what}, not a relocatable object", where)
        if count == 0 or size != _SECTION.size or names >= count:
            self._corrupt(f"its section table has {count} entries of {size} bytes, names in entry {names}")
        if table + count * size > len(data):
            self._truncated("its section table")
        view = memoryview(data)
        headers = [_SECTION.unpack_from(data, table + i * size) for i in range(count)]

        def content(index: int) -> memoryview:
            _, type_, _, _, offset, length = headers[index][:6]
            if type_ in (0, _NOBITS):
                return view[:0]
            if offset + length > len(data):
                self._truncated(f"section {index}")
            return view[offset : offset + length]

        strings = bytes(content(names))
        self.sections: tuple[Section, ...] = tuple(
            Section(i, self._string(strings, h[0]), h[1], h[6], h[7], content(i)) for i, h in enumerate(headers)
        )
        self._tables: dict[int, list[Section]] = {}
        for section in self.sections:
            if section.type == 4:  # SHT_RELA
                self._tables.setdefault(section.info, []).append(section)
        self._relocations = 0

    def named(self, name: str) -> Iterator[Section]:
        """Every section of that name (objects may have several)."""
        return (section for section in self.sections if section.name == name)

    def pointers(self, section: Section) -> dict[int, tuple[Section, int]]:
        """Where the 64-bit relocations of ``section`` point: offset in it -> (section, offset in that)."""
        found: dict[int, tuple[Section, int]] = {}
        for table in self._tables.get(section.index, ()):
            self._relocations += len(table.data) // _RELA.size
            if self._relocations > limits.RELOCATIONS:
                message = f"'{self._name}' has more than {limits.RELOCATIONS} relocations of fat binaries"
                raise error("oversized-object", message, self._where)
            symbols = self._at(table.link).data
            for at in range(0, len(table.data) - _RELA.size + 1, _RELA.size):
                offset, info, addend = _RELA.unpack_from(table.data, at)
                start = (info >> 32) * _SYMBOL.size
                if start + _SYMBOL.size > len(symbols):
                    self._corrupt(f"a relocation of section {section.name} names symbol {info >> 32}")
                _, _, _, target, value, _ = _SYMBOL.unpack_from(symbols, start)
                found[offset] = (self._at(target), value + addend)
        return found

    def _at(self, index: int) -> Section:
        if index >= len(self.sections):
            self._corrupt(f"something refers to section {index} of {len(self.sections)}")
        return self.sections[index]

    def _string(self, strings: bytes, offset: int) -> str:
        end = strings.find(b"\0", offset, offset + limits.NAME + 1)
        if end < 0:
            self._corrupt(f"a section's name lies outside the string table, or has more than {limits.NAME} bytes")
        return strings[offset:end].decode("utf-8", "replace")

    def _truncated(self, what: str) -> NoReturn:
        raise error("truncated-object", f"'{self._name}' ends before {what} does", self._where)

    def _corrupt(self, what: str) -> NoReturn:
        raise error("corrupt-object", f"'{self._name}' is corrupt: {what}", self._where)


def write(sections: list[tuple[str, int, int, bytes, int]], relocation: tuple[str, str], machine: str) -> bytes:
    """A relocatable object of ``(name, type, flags, data, align)`` sections, with one pointer: 8 bytes into section
    ``relocation[0]`` stands the address of section ``relocation[1]``."""
    code, kind = MACHINES[machine]
    index = {entry[0]: number for number, entry in enumerate(sections, 1)}
    source, target = relocation
    symbols = bytes(_SYMBOL.size) + _SYMBOL.pack(0, 3, 0, index[target], 0, 0)  # STT_SECTION
    count = len(sections)
    table = [(*entry, 0, 0, 0) for entry in sections]
    table.append((f".rela{source}", 4, 0x40, _RELA.pack(8, 1 << 32 | kind, 0), 8, count + 3, index[source], _RELA.size))
    table.append((".strtab", 3, 0, b"\0", 1, 0, 0, 0))
    table.append((".symtab", 2, 0, symbols, 8, count + 2, 2, _SYMBOL.size))
    names, offsets = b"\0", list[int]()
    for name in (*(entry[0] for entry in table), ".shstrtab"):
        offsets.append(len(names))
        names += name.encode() + b"\0"
    table.append((".shstrtab", 3, 0, names, 1, 0, 0, 0))
    body = bytearray(64)
    headers = [bytes(_SECTION.size)]
    for (_, type_, flags, data, align, link, info, entry), name in zip(table, offsets, strict=True):
        body += bytes(-len(body) % align)
        headers.append(_SECTION.pack(name, type_, flags, 0, len(body), len(data), link, info, align, entry))
        body += data
    body += bytes(-len(body) % 8)
    start = len(body)
    body += b"".join(headers)
    identity = MAGIC + b"\x02\x01\x01" + bytes(9)
    body[:64] = identity + _HEADER.pack(_ET_REL, code, 1, 0, 0, start, 0, 64, 0, 0, 64, len(headers), len(table))
    return bytes(body)
