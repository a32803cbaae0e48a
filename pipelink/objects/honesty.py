"""What an audit of an object reports: what its contract declares beside what its code was found to do.

The PTX is that of the object linked by itself: one kernel for each role and answer, in which every accessor is still a
call (``backend.alone`` makes it).  So the code shows which barriers, ports and memory it uses, and whether it got them
from the linker: a barrier id that comes out of ``pl_id`` was placed, one that is a number was not.  What breaks a
composition is an error; what is only suspicious, or cannot be followed, a warning.  The rules about one role or answer
stand in ``honesty_code``, those about a component's ports and resources in ``honesty_use``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pipelink.support.diagnostics import Diagnostic, Diagnostics, Location, Note, Severity

MAX_QUOTED = 3  # instructions that a problem quotes
_WIDEST = 60  # characters of a column
_VERDICTS = {"ok": "", "warning": "WARNING", "error": "FAILED"}


@dataclass(frozen=True)
class Problem:
    """What follows from a row; ``id`` is the diagnostic's, ``quotes`` are instructions."""

    severity: Severity
    id: str
    message: str
    location: Location
    hint: str | None = None
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of the table: ``subject`` is ``role 'run'``, say, or empty for what the component declares."""

    component: str
    subject: str
    name: str
    declared: str
    found: str
    problems: tuple[Problem, ...] = ()

    @property
    def verdict(self) -> str:
        """``ok``, ``warning`` or ``error``."""
        severities = {problem.severity for problem in self.problems}
        return "error" if "error" in severities else "warning" if severities else "ok"


@dataclass(frozen=True)
class HonestyReport:
    """The audit of one object's code for one architecture."""

    object: str
    arch: str
    rows: tuple[Row, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found that breaks a composition."""
        return all(row.verdict != "error" for row in self.rows)

    def diagnose(self, diagnostics: Diagnostics) -> None:
        """One diagnostic for each problem, unless it is there already: other architectures have the same source."""
        said = {(item.id, item.message, item.location) for item in diagnostics.items}
        for problem in (problem for row in self.rows for problem in row.problems):
            if (problem.id, problem.message, problem.location) in said:
                continue
            quotes = [Note(f"the code for {self.arch} has: {text}") for text in problem.quotes[:MAX_QUOTED]]
            notes = (*quotes, Note(f"contract and code are in '{self.object}'"))
            diagnostics.items.append(
                Diagnostic(problem.severity, problem.id, problem.message, problem.location, notes, problem.hint)
            )

    def render(self) -> str:
        """The report as a table for people."""
        rows = [("", "declared", "found"), *((row.name, row.declared, row.found) for row in self.rows)]
        widths = [min(_WIDEST, max(len(row[column]) for row in rows)) for column in range(3)]

        def line(cells: Iterable[str], verdict: str) -> str:
            padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
            return f"    {'  '.join(padded)}  {verdict}".rstrip()

        lines = [f"audit of '{self.object}' for {self.arch}", line(rows[0], "")]
        title = ""
        for row, cells in zip(self.rows, rows[1:], strict=True):
            current = f"{row.subject or 'component'} of '{row.component}'" if row.subject else f"'{row.component}'"
            if current != title:
                lines.append(f"  {current}")
                title = current
            lines.append(line(cells, _VERDICTS[row.verdict]))
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "arch": self.arch,
            "ok": self.ok,
            "checks": [
                {
                    "component": row.component,
                    "subject": row.subject or None,
                    "name": row.name,
                    "declared": row.declared,
                    "found": row.found,
                    "verdict": row.verdict,
                    "ids": list(dict.fromkeys(problem.id for problem in row.problems)),
                }
                for row in self.rows
            ],
        }


def listed(items: Iterable[str], empty: str = "none") -> str:
    """The items once each, in their order, as a cell of the table."""
    return ", ".join(dict.fromkeys(items)) or empty
