"""Reads the heads of the corpus: which kind of bug each file shows, who decides it, and the ids that refuse it.

A head is the comment lines ``KEY: text`` at the beginning of a file; ``README.md`` in this folder says which there are.
The ids are those of the diagnostic catalog that the file expects, in square brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pipelink.support.catalog import CATALOG

FOLDER = Path(__file__).resolve().parent
DECIDED = ("check", "place", "prove", "audit", "link", "launch", "debug", "prevented")
_HEAD_LINES = 15
_KEY = re.compile(r"^(?://|#)\s*(KIND|DECIDED|REPORT|WRONG):\s*(\S.*)$")
_ID = re.compile(r"\\?\[([a-z0-9]+(?:-[a-z0-9]+)*)\\?\]")


@dataclass(frozen=True)
class Entry:
    """One file.  ``area`` is its folder; ``report`` an address, empty for what is no report; ``ids`` in the order of
    their first mention."""

    path: Path
    area: str
    kind: str
    decided: tuple[str, ...]
    report: str
    ids: tuple[str, ...]


def kinds() -> dict[str, list[str]]:
    """The kinds of each area, from ``kinds.txt``."""
    found: dict[str, list[str]] = {}
    area = ""
    for line in (FOLDER / "kinds.txt").read_text().splitlines():
        if line.startswith("["):
            area = line.strip("[]")
            found[area] = []
        elif line and not line.startswith("#"):
            found[area].append(line)
    return found


def read(path: Path) -> Entry:
    """The head of one file; what is missing is empty."""
    text = path.read_text()
    head: dict[str, str] = {}
    for line in text.splitlines()[:_HEAD_LINES]:
        if match := _KEY.match(line):
            head.setdefault(match[1], match[2].strip())
    mentioned = dict.fromkeys(id for id in _ID.findall(text) if id in CATALOG)
    decided = tuple(word for word in re.split(r"[,\s]+", head.get("DECIDED", "")) if word)
    return Entry(path, path.parent.name, head.get("KIND", ""), decided, head.get("REPORT", ""), tuple(mentioned))


def entries() -> list[Entry]:
    """Every file of the corpus, by area and name."""
    paths = [p for pattern in ("*.mlir", "*.test", "test_*.py") for p in FOLDER.rglob(pattern)]
    return [read(path) for path in sorted(paths) if "Inputs" not in path.parts]
