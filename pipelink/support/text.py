"""Text of strangers, on its way to a terminal, a picture or a file of text."""

from __future__ import annotations


def printable(text: str, keep: str = "\n\t") -> str:
    """``text`` with what does not print written out (``\\x1b``, ``\\u202e``; ``\\xff`` for a byte of a file's name that
    is not UTF-8), but for the characters of ``keep``: nothing that a name holds can move a cursor, hide or forge lines,
    or make a picture that is no XML."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _written_out(ord(c)) for c in text)


def _written_out(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # how Python holds such a byte
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def utf8(text: str) -> str:
    """``text`` as something that every library takes: what is no Unicode, such as the bytes of a file's name that are
    not UTF-8, is written out."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(_written_out(ord(c)) if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)
    return text
