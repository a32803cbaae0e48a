"""Places in files: where a diagnostic, a note or a step of a counterexample belongs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Location:
    """A place in a file.  ``line`` and ``column`` count from 1; 0 means unknown.  ``text`` overrides the file's
    own line (for inputs that are not files, such as a pipeline string)."""

    file: str = ""
    line: int = 0
    column: int = 0
    text: str | None = None

    def __str__(self) -> str:
        parts = [self.file or "<unknown>"]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)

    def to_json(self) -> dict[str, object] | None:
        """The place as plain data; None where neither file nor line is known."""
        if not self.file and not self.line:
            return None
        return {"file": self.file, "line": self.line, "column": self.column}

    @staticmethod
    def from_json(data: Mapping[str, Any] | None) -> Location:
        """The place that :meth:`to_json` made."""
        return Location(data["file"], data["line"], data["column"]) if data else UNKNOWN


UNKNOWN = Location()
