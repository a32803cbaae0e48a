"""What MLIR's parser cannot survive, found in the text before it sees it.

Huge, binary and deeply nested texts, operation names that are empty or without a dialect, strings that are not UTF-8
(the bindings abort or raise where one becomes a Python string), and aliases that stand for more text than anybody
writes: ``#b = [#a, #a]``, thirty times over.  Everything here is linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter

from pipelink.support import limits
from pipelink.support.diagnostics import Location, error

_EMPTY_NAME = re.compile(rb'"[^"\n]*\."\s*\(')  # an empty operation name aborts MLIR's parser
# The string takes all of its line where it does not end, so that no part of the line is looked at again.
_STRING = rb'"(?:[^"\\\n]++|\\.)*+"?'
_BRACKETS = re.compile(_STRING + rb"|//[^\n]*|[\[({<]|(?<!-)[\])}>]")
_COMMENT = re.compile(rb"//[^\n]*")
_CALLED = re.compile(rb"(?:\s|//[^\n]*\n)*\(")  # what follows the name of an operation, or of a location
_ESCAPE = re.compile(rb"\\(?:([0-9A-Fa-f]{2})|.)", re.S)
_ALIAS = re.compile(rb"^[ \t]*[#!][A-Za-z_][\w$.-]*[ \t]*=", re.M)
_ALIAS_TOKEN = re.compile(
    rb"(" + _STRING + rb"|//[^\n]*)|([#!][A-Za-z_][\w$.-]*+)([ \t]*=)?|([\[({<])|((?<!-)[\])}>])|(\n)"
)


def prescan(data: bytes, name: str) -> None:
    """Refuse such a text.  Raises LinkError ``empty-input`` or ``invalid-ir``, in ``name``."""
    where = Location(name)
    if len(data) > limits.TEXT_BYTES:
        raise error("invalid-ir", f"input is larger than {limits.TEXT_BYTES >> 20} MiB", where)
    if not data.strip():
        raise error("empty-input", "the input is empty", where)
    if b"\0" in data:
        raise error("invalid-ir", "the input is binary, not IR text", where)
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        raise error("invalid-ir", f"the input is not UTF-8 text (byte {problem.start})", where) from problem
    empty = _EMPTY_NAME.search(data)
    if empty:
        raise error("invalid-ir", "an operation has an empty name", place(data, empty.start(), name))
    depth = 0
    last = b""  # the token before, but for comments
    end = 0  # where it ends
    for match in _BRACKETS.finditer(data):
        token = match.group()
        if token[:2] == b"//":
            continue
        if token[:1] == b'"' and b"." not in token and _CALLED.match(data, match.end()):
            between = _COMMENT.sub(b"", data[end : match.start()]).strip()
            if (between or last)[-1:] not in (b"(", b",", b"["):  # where a location's name stands
                message = "the name of an operation has no dialect"
                raise error("invalid-ir", message, place(data, match.start(), name))
        last, end = token, match.end()
        if token in b"[({<":
            depth += 1
            if depth > limits.IR_NESTING:
                message = f"brackets are nested deeper than {limits.IR_NESTING}"
                raise error("invalid-ir", message, place(data, match.start(), name))
        elif token in b"])}>":
            depth = max(0, depth - 1)
        elif token[:1] == b'"' and b"\\" in token and not _is_utf8(token):
            raise error("invalid-ir", "a string is not UTF-8 text", place(data, match.start(), name))
    if _ALIAS.search(data):
        _bound_aliases(data, name)


def place(data: bytes, offset: int, name: str) -> Location:
    """The line and column of a byte offset."""
    line = data.count(b"\n", 0, offset) + 1
    return Location(name, line, offset - (data.rfind(b"\n", 0, offset) + 1) + 1)


def _is_utf8(token: bytes) -> bool:
    written = _ESCAPE.sub(lambda m: bytes.fromhex(m[1].decode()) if m[1] else b"?", token)
    try:
        written.decode()
    except UnicodeDecodeError:
        return False
    return True


def _bound_aliases(data: bytes, name: str) -> None:
    """Refuse a text that is too large once every alias is written out."""
    uses: dict[bytes, Counter[bytes]] = {}  # what stands in an alias, and in b"" the rest
    lengths: Counter[bytes] = Counter()
    starts: dict[bytes, int] = {b"": 0}
    current, begun, depth = b"", 0, 0
    for match in _ALIAS_TOKEN.finditer(data):
        if match[2]:
            if match[3] and depth == 0 and not current:
                current, begun = match[2], match.start()
                starts.setdefault(current, begun)
            else:
                uses.setdefault(current, Counter())[match[2]] += 1
        elif match[4]:
            depth += 1
        elif match[5]:
            depth = max(0, depth - 1)
        elif match[6] and depth == 0 and current:
            lengths[current] += match.start() - begun
            current = b""
    sizes: dict[bytes, int] = {}
    for start in [*starts]:
        waiting = [start]
        while waiting:
            alias = waiting[-1]
            inner = uses.get(alias, Counter[bytes]())
            missing = [used for used in inner if used in starts and used not in sizes and used not in waiting[-64:]]
            if missing and len(waiting) <= len(starts):
                waiting.append(missing[0])
                continue
            waiting.pop()
            sizes[alias] = lengths[alias] + sum(count * sizes.get(used, 0) for used, count in inner.items())
            if sizes[alias] > limits.ALIASES:
                message = f"aliases stand for more than {limits.ALIASES >> 20} MiB of text"
                raise error("invalid-ir", message, place(data, starts[alias], name))
