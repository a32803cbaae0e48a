"""What audits report: of a linked kernel, checks with what was expected and what was found; of an object, what its
contract declares beside what its code was found to do.

Whatever fails in a kernel is an error of the link.  In an object, what breaks a composition is an error; what is only
suspicious, or cannot be followed, a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pipelink.support.diagnostics import Diagnostic, Diagnostics, LinkError, Location, Note, Severity

MAX_QUOTED = 3  # instructions that a problem quotes
_WIDEST = 60  # characters of a column
_VERDICTS = {"ok": "", "warning": "WARNING", "error": "FAILED"}


@dataclass(frozen=True)
class Check:
    """One line of the report; ``id`` is the diagnostic it becomes when it fails, with ``hint``."""

    name: str
    id: str
    expected: str
    actual: str
    ok: bool
    notes: tuple[str, ...] = ()
    hint: str | None = None


@dataclass(frozen=True)
class KernelReport:
    """The checks of one cubin."""

    kernel: str
    arch: str
    checks: tuple[Check, ...]
    instructions: int
    registers: int

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    def diagnostics(self) -> list[Diagnostic]:
        """One error per failed check."""
        return [
            Diagnostic(
                "error",
                check.id,
                f"kernel '{self.kernel}' ({self.arch}): {check.name}: expected {check.expected}, found {check.actual}",
                notes=tuple(Note(text) for text in check.notes),
                hint=check.hint,
            )
            for check in self.checks
            if not check.ok
        ]

    def raise_if_failed(self) -> None:
        """Raise one LinkError with every failed check."""
        if not self.ok:
            raise LinkError(self.diagnostics())

    def render(self) -> str:
        """The report as a table for people."""
        rows = [("check", "expected", "found", "")]
        rows += [(c.name, c.expected, c.actual, "ok" if c.ok else "FAILED") for c in self.checks]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        head = f"audit of '{self.kernel}' for {self.arch}: {self.instructions} instructions,"
        head += f" {self.registers} registers at entry"
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)) for row in rows]
        return "\n".join([head, *(f"  {line.rstrip()}" for line in lines)])

    def to_json(self) -> dict[str, object]:
        """The report as plain data; :meth:`from_json` reads it back."""
        return {
            "kernel": self.kernel,
            "arch": self.arch,
            "instructions": self.instructions,
            "registers": self.registers,
            "checks": [
                {
                    "name": c.name,
                    "id": c.id,
                    "expected": c.expected,
                    "actual": c.actual,
                    "ok": c.ok,
                    "notes": list(c.notes),
                }
                for c in self.checks
            ],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> KernelReport:
        checks = tuple(
            Check(c["name"], c["id"], c["expected"], c["actual"], c["ok"], tuple(c["notes"])) for c in data["checks"]
        )
        return KernelReport(data["kernel"], data["arch"], checks, data["instructions"], data["registers"])


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


@dataclass(frozen=True, order=True)
class Copy:
    """A copy by tensor map: through parameter ``param`` of ``component`` (``acme.loader``), of ``rank`` coordinates."""

    component: str
    param: str
    rank: int


@dataclass(frozen=True, order=True)
class Rounds:
    """Role ``role`` of ``component`` (``acme.loader``) states no protocol, and its code makes as many rounds of the
    default as parameter ``param`` says."""

    component: str
    role: str
    param: str


@dataclass(frozen=True)
class ObjectReport:
    """The audit of one object's code for one architecture."""

    object: str
    arch: str
    rows: tuple[Row, ...]
    copies: tuple[Copy, ...] = ()
    rounds: tuple[Rounds, ...] = ()

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
