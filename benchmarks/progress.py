"""What ``python -m benchmarks inspect`` and ``run`` share: a bar, and results that a later run goes on with."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_WIDTH = 30  # columns of the bar


@dataclass
class Progress:
    """A bar on stderr; one line of text for each step where stderr is no terminal."""

    total: int
    done: int = 0
    start: float = field(default_factory=time.monotonic)

    def step(self, text: str) -> None:
        self.done += 1
        spent = time.monotonic() - self.start
        line = f"{self.done}/{self.total} {spent:4.0f} s  {text}"
        if not sys.stderr.isatty():
            print(line, file=sys.stderr, flush=True)
            return
        filled = _WIDTH * self.done // max(self.total, 1)
        end = "\n" if self.done == self.total else ""
        print(f"\r\033[K[{'#' * filled}{'.' * (_WIDTH - filled)}] {line}", end=end, file=sys.stderr, flush=True)


@dataclass
class Results:
    """A JSON file with one entry a configuration; ``head`` says what was measured with.

    An entry is kept only while its key (of everything that it follows from) is the same; the file is written after
    each one, so that an interrupted run goes on where it stopped."""

    path: Path
    head: dict[str, Any]
    entries: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    @staticmethod
    def open(path: Path, head: dict[str, Any], *, again: bool = False) -> Results:
        """The results in ``path`` that were measured with the same ``head``; none of them with ``again``."""
        found = Results(path, head)
        if path.exists() and not again:
            known: dict[str, Any] = json.loads(path.read_text())
            found.entries = known.pop("configurations", {})
            if known != head:
                found.entries = {}
        return found

    def key(self, name: str) -> str | None:
        """The key of an entry that is there."""
        return self.entries.get(name, {}).get("key")

    def add(self, name: str, key: str, entry: dict[str, Any]) -> None:
        self.entries[name] = {"key": key, **entry}
        self.write()

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".new")
        temporary.write_text(json.dumps({**self.head, "configurations": self.entries}, indent=1) + "\n")
        temporary.replace(self.path)

    def keep_only(self, names: list[str]) -> None:
        """Drop the entries of configurations that are no more, and put the others into the list's order."""
        self.entries = {name: self.entries[name] for name in names if name in self.entries}
