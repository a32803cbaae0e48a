"""Members of an ``ar`` archive: GNU and BSD name tables; thin archives are refused.

Input: the archive's bytes.  Output: (member name, bytes), in order, without symbol and name tables.
"""

from __future__ import annotations

from collections.abc import Iterator

from pipelink.support import limits
from pipelink.support.diagnostics import Location, error

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"
_HEADER = 60  # bytes before each member
_TABLES = ("/", "//", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64")


def members(data: bytes, path: str, where: Location) -> Iterator[tuple[str, memoryview]]:
    """The members of archive ``data``.
    Raises LinkError ``not-an-object``, ``truncated-object``, ``corrupt-object`` or ``oversized-object``."""
    if data.startswith(THIN_MAGIC):
        hint = "make it without ar's option T"
        raise error("not-an-object", f"'{path}' is a thin archive, which holds only names of files", where, hint=hint)
    view, names = memoryview(data), b""
    at, count = len(MAGIC), 0
    while at < len(data):
        if at + _HEADER > len(data):
            raise error("truncated-object", f"'{path}' ends inside a member's header", where)
        header = data[at : at + _HEADER]
        digits = header[48:58].strip()
        if header[58:60] != b"`\n" or not digits.isdigit():
            raise error("corrupt-object", f"'{path}' is corrupt: no member's header at byte {at}", where)
        size = int(digits)
        at += _HEADER
        if at + size > len(data):
            raise error("truncated-object", f"'{path}' ends before its member at byte {at - _HEADER} does", where)
        count += 1
        if count > limits.MEMBERS:
            raise error("oversized-object", f"'{path}' has more than {limits.MEMBERS} members", where)
        content = view[at : at + size]
        at += size + size % 2
        name = header[:16].decode("utf-8", "replace").rstrip()
        if name == "//":
            names = bytes(content)
            continue
        if name.startswith("#1/") and name[3:].isdigit():  # BSD: the name leads the content
            length = int(name[3:])
            name, content = bytes(content[:length]).rstrip(b"\0").decode("utf-8", "replace"), content[length:]
        elif name.startswith("/") and name[1:].isdigit():  # GNU: an offset into the name table
            end = names.find(b"/\n", int(name[1:]), int(name[1:]) + limits.NAME + 2)
            if end < 0:
                raise error("corrupt-object", f"'{path}' is corrupt: a member's name is not in its table", where)
            name = names[int(name[1:]) : end].decode("utf-8", "replace")
        elif name not in _TABLES:
            name = name.removesuffix("/")
        if len(name) > limits.NAME:
            raise error("corrupt-object", f"'{path}' is corrupt: a member's name has {len(name)} bytes", where)
        if name not in _TABLES:
            yield name, content
