"""Diagnostics: what the library says when an input is wrong.

A pass or a reader collects :class:`Diagnostic` values in a :class:`Diagnostics` collector and calls
:meth:`Diagnostics.raise_if_errors` once, at its end; the library raises one :class:`LinkError` that carries all of
them, never prints and never exits.  The tools render them as text (source line and caret) or as JSON.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pipelink.support.catalog import CATALOG
from pipelink.support.location import UNKNOWN, Location
from pipelink.support.text import printable

if TYPE_CHECKING:
    from pipelink.support.inputs import Sources
    from pipelink.support.trace import Trace

Severity = Literal["error", "warning", "remark"]
MAX_LISTED = 8  # names that a hint lists where none is near
MAX_SHOWN = 160  # characters of a source line
MAX_GIVEN = 60  # characters of a value in a message
MAX_NOTES = 3  # notes shown per diagnostic in text; the rest are counted
MAX_STEPS = 24  # steps of a counterexample shown in text; gaps are counted


@dataclass(frozen=True)
class Note:
    """A further place or fact that belongs to a diagnostic."""

    message: str
    location: Location = UNKNOWN


@dataclass(frozen=True)
class Diagnostic:
    """One message: ``id`` is a key of :data:`pipelink.support.catalog.CATALOG`; ``message`` is lower case, without
    a full stop, and names component, resource, expected and actual.  ``trace`` is the counterexample of a protocol
    error."""

    severity: Severity
    id: str
    message: str
    location: Location = UNKNOWN
    notes: tuple[Note, ...] = ()
    hint: str | None = None
    trace: Trace | None = None

    def __post_init__(self) -> None:
        if self.id not in CATALOG:
            raise ValueError(f"diagnostic id {self.id!r} is not in the catalog")

    def to_json(self) -> dict[str, object]:
        """The diagnostic as plain data, the element of ``--diagnostics=json``."""

        found: dict[str, object] = {
            "severity": self.severity,
            "id": self.id,
            "message": self.message,
            "location": self.location.to_json(),
            "notes": [{"message": n.message, "location": n.location.to_json()} for n in self.notes],
            "hint": self.hint,
        }
        return found if self.trace is None else {**found, "trace": self.trace.to_json()}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Diagnostic:
        """The diagnostic that :meth:`to_json` made, without its trace."""
        notes = tuple(Note(note["message"], Location.from_json(note["location"])) for note in data["notes"])
        where = Location.from_json(data["location"])
        return Diagnostic(data["severity"], data["id"], data["message"], where, notes, data["hint"])


class LinkError(Exception):
    """Raised by the library with every diagnostic of the failing step."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        """What the tools would say, without lines of sources."""
        return "\n".join(render_text(diagnostic) for diagnostic in self.diagnostics)


def error(
    id: str,
    message: str,
    location: Location = UNKNOWN,
    *,
    notes: Sequence[Note] = (),
    hint: str | None = None,
) -> LinkError:
    """A :class:`LinkError` of one error, to ``raise`` where nothing more can be collected."""
    return LinkError([Diagnostic("error", id, message, location, tuple(notes), hint)])


@dataclass
class Diagnostics:
    """Collects diagnostics of one step."""

    items: list[Diagnostic] = field(default_factory=list)

    def error(
        self,
        id: str,
        message: str,
        location: Location = UNKNOWN,
        *,
        notes: Sequence[Note] = (),
        hint: str | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.items.append(Diagnostic("error", id, message, location, tuple(notes), hint, trace))

    def warning(
        self,
        id: str,
        message: str,
        location: Location = UNKNOWN,
        *,
        notes: Sequence[Note] = (),
        hint: str | None = None,
    ) -> None:
        self.items.append(Diagnostic("warning", id, message, location, tuple(notes), hint))

    def remark(self, id: str, message: str, location: Location = UNKNOWN, *, notes: Sequence[Note] = ()) -> None:
        self.items.append(Diagnostic("remark", id, message, location, tuple(notes)))

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.items if d.severity == "error"]

    def raise_if_errors(self) -> None:
        """Raise one :class:`LinkError` with everything collected if any of it is an error."""
        if self.errors:
            raise LinkError(self.items)


def shown(value: object, most: int = MAX_GIVEN) -> str:
    """What somebody gave, for a message: its ``repr``, cut, on one line and printable."""
    if isinstance(value, int) and abs(value) >= 1 << 128:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value)
    except Exception:  # of a stranger's class
        text = f"<{type(value).__name__}>"
    text = "".join(letter if letter.isprintable() else "?" for letter in text[: most + 1])
    return text if len(text) <= most else f"{text[:most]}…"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """A hint such as ``did you mean 'tma_loader'?``, or None."""
    match = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean '{match[0]}'?" if match else None


def suggest(name: str, known: Iterable[str]) -> str | None:
    """As :func:`nearest`; where nothing is near, a hint that lists a few known names: ``known: 'a', 'b'``."""
    names = list(known)
    if (hint := nearest(name, names)) or not 0 < len(names) <= MAX_LISTED:
        return hint
    return f"known: {', '.join(repr(item) for item in names)}"


def _excerpt(line: str, column: int) -> tuple[str, int]:
    """A long line's part around ``column``, with ``…`` where it was cut, and the column there."""
    if len(line) <= MAX_SHOWN:
        return line, column
    start = min(max(0, column - MAX_SHOWN // 2), len(line) - MAX_SHOWN)
    end = start + MAX_SHOWN
    shown = ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
    return shown, max(0, column - start + (1 if start else 0)) if column else 0


def render_text(diagnostic: Diagnostic, sources: Sources | None = None) -> str:
    """The diagnostic as people read it: ``file:line:col: error: message [id]``, source line, caret, counterexample,
    notes, hint.  ``sources`` gives the lines of files; nothing is read without it."""
    lines = [f"{diagnostic.location}: {diagnostic.severity}: {diagnostic.message} [{diagnostic.id}]"]
    if not diagnostic.location.file and not diagnostic.location.line:
        lines = [f"{diagnostic.severity}: {diagnostic.message} [{diagnostic.id}]"]
    where = diagnostic.location
    source = where.text if sources is None else sources.line(where)
    if source is not None and source.replace("\t", "").isprintable():
        source, column = _excerpt(source, where.column)
        lines.append(f"  {source}")
        if column:
            before = source[: column - 1].ljust(column - 1)
            lines.append("  " + "".join("\t" if c == "\t" else " " for c in before) + "^")
    if diagnostic.trace is not None:
        lines += diagnostic.trace.lines(MAX_STEPS, said=diagnostic.message)
    for note in diagnostic.notes[:MAX_NOTES]:
        prefix = f"{note.location}: " if note.location.file or note.location.line else ""
        lines.append(f"{prefix}note: {note.message}")
    if len(diagnostic.notes) > MAX_NOTES:
        lines.append(f"note: {len(diagnostic.notes) - MAX_NOTES} more")
    if diagnostic.hint:
        lines.append(f"hint: {diagnostic.hint}")
    return "\n".join(printable(line) for line in lines)


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """All diagnostics as one JSON array, for ``--diagnostics=json``."""
    return json.dumps([d.to_json() for d in diagnostics], indent=1)
