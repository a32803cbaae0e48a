"""Results that later runs add to: a JSON file of entries, one a line.

``{"benchmark": NAME, "entries": {NAME: ENTRY}}``.  What an entry was measured with (GPU, driver, toolkit, torch, date
and the like) stands in the entry, under ``with``, so that entries of several runs stand beside each other.  Every write
merges into the file: it sets its own entries and leaves all others, whatever they were measured with.  Nothing is ever
taken out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

Entry = dict[str, Any]


def now() -> str:
    """The date of an entry, in UTC: ``2026-11-30T22:53:07Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(path: Path) -> dict[str, Entry]:
    """The entries of a file, in its order; none where there is no file."""
    return json.loads(path.read_text())["entries"] if path.exists() else {}


def add(path: Path, benchmark: str, entries: Mapping[str, Entry]) -> None:
    """Merge entries into a file: they take the place of those of their names, and all others stay.

    Raises ValueError where the file is of another benchmark."""
    if path.exists() and (found := json.loads(path.read_text())["benchmark"]) != benchmark:
        raise ValueError(f"{path} holds results of '{found}', not of '{benchmark}'")
    _write(path, benchmark, read(path) | dict(entries))


def _write(path: Path, benchmark: str, entries: Mapping[str, Entry]) -> None:
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(f'{{"benchmark": {json.dumps(benchmark)}, "entries": {{\n{lines}\n}}}}\n')
    temporary.replace(path)


def merge(source: Path, folder: Path | None = None) -> tuple[Path, int]:
    """Merge a file of results into the committed one of its benchmark, in ``folder`` [benchmarks/results].

    Returns the latter's path, and how many entries were merged."""
    found = json.loads(source.read_text())
    path = (folder or RESULTS) / f"{found['benchmark']}.json"
    add(path, found["benchmark"], found["entries"])
    return path, len(found["entries"])


def facts(entries: Iterable[Entry], name: str) -> str:
    """What entries say of one fact under ``with``, for people: a value; numbers as a range; otherwise a list.

    ``not recorded`` where none of them says it."""
    found = {entry["with"][name] for entry in entries if name in entry.get("with", {})}
    if not found:
        return "not recorded"
    if len(found) > 1 and all(isinstance(value, int) for value in found):
        return f"{min(found)} to {max(found)}"
    return ", ".join(sorted(map(str, found)))
