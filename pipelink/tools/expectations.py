"""``-verify-diagnostics``: expected diagnostics written as comments beside what causes them.

``// expected-error @+1 {{text}}`` expects an error whose message or id contains the text on the next line; ``error``
may be ``warning``, ``remark`` or ``note``; the place is ``@+N``, ``@-N``, ``@below``, ``@above``, ``@unknown`` (no
place in the file) or, left out, the comment's own line.  Every error, warning and remark must be expected; a note
may be, and one without a place of its own counts as on its diagnostic's line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pipelink.support.diagnostics import Diagnostic, Diagnostics, Location

_EXPECTED = re.compile(
    r"//\s*expected-(error|warning|remark|note)\s*(@[+-]\d+|@below|@above|@unknown)?\s*\{\{(.*?)\}\}"
)


@dataclass
class _Expectation:
    severity: str
    line: int  # 0 for no place in the file
    text: str
    written: int  # line of the comment
    met: bool = False


def _read(text: str) -> list[_Expectation]:
    found: list[_Expectation] = []
    for number, line in enumerate(text.split("\n"), 1):
        for match in _EXPECTED.finditer(line):
            place = match[2] or "@+0"
            offset = {"@below": 1, "@above": -1}.get(place)
            if place == "@unknown":
                target = 0
            else:
                target = number + (int(place[1:]) if offset is None else offset)
            found.append(_Expectation(match[1], target, match[3], number))
    return found


def compare(text: str, name: str, diagnostics: Iterable[Diagnostic]) -> Diagnostics:
    """What differs between the comments of ``text`` and the diagnostics of the file ``name``; empty if nothing."""
    expected = _read(text)
    result = Diagnostics()

    def meet(severity: str, line: int, message: str) -> bool:
        for item in expected:
            if not item.met and item.severity == severity and item.line == line and item.text in message:
                item.met = True
                return True
        return False

    for diagnostic in diagnostics:
        where = diagnostic.location
        line = where.line if where.file in (name, "-") else 0
        shown = f"{diagnostic.message} [{diagnostic.id}]"
        if not meet(diagnostic.severity, line, shown):
            result.error("unmet-expectation", f"unexpected {diagnostic.severity}: {shown}", where)
        for note in diagnostic.notes:
            meet("note", note.location.line if note.location.file in (name, "-") else line, note.message)
    for item in expected:
        if not item.met:
            message = f"expected {item.severity} did not appear: {item.text}"
            result.error("unmet-expectation", message, Location(name, item.written))
    return result
