"""Small objects that ask for much: everything that an object's tables may name many times is counted or not copied."""

import resource
import struct
import time
from collections.abc import Iterable

import pytest

from pipelink.objects import parse_objects
from pipelink.support import limits
from pipelink.support.diagnostics import LinkError

SECTION = struct.Struct("<IIQQQQIIQQ")
HEADER = struct.Struct("<HHIQQQIHHHHHH")
RELOCATION = struct.Struct("<QQq")
SYMBOL = struct.Struct("<IBBHQQ")
NAMES = b"\0.nvFatBinSegment\0.pipelink.contract\0"
SEGMENT, CONTRACT = NAMES.index(b".nvFatBinSegment"), NAMES.index(b".pipelink.contract")
RECORD = b'{"pipelink":1,"op":"component","component":"t::x","name":"component","file":"x.cu","line":1,"cxx":17}\0'
Rows = Iterable[tuple[int, int, bytes | tuple[int, int], int, int]]  # name, type, content or (offset, size), link, info


def build(rows: Rows, names: bytes = NAMES) -> bytes:
    """An object of these sections, after one of names."""
    body, headers = bytearray(64), [bytes(SECTION.size)]
    for name, kind, content, link, info in [(0, 3, names, 0, 0), *rows]:
        offset, size = content if isinstance(content, tuple) else (len(body), len(content))
        body += b"" if isinstance(content, tuple) else content
        headers.append(SECTION.pack(name, kind, 0, 0, offset, size, link, info, 1, 0))
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    start = len(body)
    body[:64] = identity + HEADER.pack(1, 62, 1, 0, 0, start, 0, 64, 0, 0, 64, len(headers), 1)
    return bytes(body) + b"".join(headers)


def empty_segments() -> bytes:
    return build([(CONTRACT, 1, RECORD, 0, 0), *[(SEGMENT, 1, (64, 0), 0, 0)] * 60_000])


def tables() -> bytes:
    """3,000 relocation tables of 43,690 entries, which are the same bytes, over one section."""
    entry = struct.pack("<IIQQ", 0x466243B1, 1, 0, 0)
    symbols = bytes(SYMBOL.size) + SYMBOL.pack(0, 3, 0, 2, 0, 0)
    relocations = RELOCATION.pack(8, 1 << 32 | 1, 0) * 43_690
    start = 64 + len(NAMES) + len(RECORD) + len(entry) + len(symbols)
    rows = [(CONTRACT, 1, RECORD, 0, 0), (SEGMENT, 1, entry, 0, 0), (0, 2, symbols, 0, 0), (0, 1, relocations, 0, 0)]
    return build([*rows, *[(0, 4, (start, len(relocations)), 4, 3)] * 3000])


def contracts() -> bytes:
    return build([(0, 1, bytes(1 << 20), 0, 0), *[(CONTRACT, 1, (64 + len(NAMES), 1 << 20), 0, 0)] * 20_000])


def long_names() -> bytes:
    return build([(1, 1, (64, 1), 0, 0)] * 5000, b"\0" + b"n" * (1 << 20) + b"\0")


def fatbins() -> bytes:
    """2,000 entries of a segment that point at one fatbin of a megabyte."""
    count = 2000
    entry = struct.pack("<IIQQ", 0x466243B1, 1, 0, 0)
    code = bytes(1 << 20)
    image = struct.pack("<HHIQIIHHIIIQ", 8, 1, 48, len(code), 0, 0, 0, 0, 90, 0, 0, 0) + code
    packed = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(image)) + image
    symbols = bytes(SYMBOL.size) + SYMBOL.pack(0, 3, 0, 4, 0, 0)
    relocations = b"".join(RELOCATION.pack(24 * n + 8, 1 << 32 | 1, 0) for n in range(count))
    rows = [(CONTRACT, 1, RECORD, 0, 0), (SEGMENT, 1, entry * count, 0, 0), (0, 1, packed, 0, 0), (0, 2, symbols, 0, 0)]
    return build([*rows, (0, 4, relocations, 5, 3)])


@pytest.mark.parametrize(
    ("data", "id"),
    [
        (empty_segments(), "no-ltoir"),
        (tables(), "oversized-object"),
        (contracts(), "oversized-object"),
        (long_names(), "corrupt-object"),
        (fatbins(), "oversized-object"),
    ],
    ids=["empty segments", "tables", "contracts", "names", "fatbins"],
)
def test_it_is_refused_at_once(data: bytes, id: str) -> None:
    assert len(data) < 10 << 20
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(LinkError) as caught:
        parse_objects(data, "x.o")
    assert caught.value.diagnostics[0].id == id
    assert time.monotonic() - start < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 << 10  # KiB
    assert limits.NAME < 1 << 20
