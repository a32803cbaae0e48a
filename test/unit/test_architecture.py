"""docs/architecture.md names every room of the code, the layers that are enforced, and files that exist; and what it
says of transfers holds."""

import ast
import itertools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipelink.transfers import BY_NAME

ROOT = Path(__file__).resolve().parents[2]
#: Folders whose every file has a line.
BY_FILE = ("contract", "link", "model", "transfers")


@dataclass(frozen=True)
class Row:
    """A row of a table: the code spans of each cell."""

    section: str
    cells: tuple[tuple[str, ...], ...]

    @property
    def spans(self) -> list[str]:
        return [span for cell in self.cells for span in cell]

    @property
    def paths(self) -> list[str]:
        """Paths from the repository's root."""
        return [span for span in self.spans if re.match(r"(pipelink|benchmarks|test|docs)/", span)]

    @property
    def files(self) -> list[Path]:
        """What is at the paths; NAME and AREA stand for any name."""
        return [file for path in self.paths for file in ROOT.glob(re.sub(r"\b[A-Z]+\b", "*", path).rstrip("/"))]


def _spans(inline: Token) -> tuple[str, ...]:
    return tuple(token.content for token in inline.children or () if token.type == "code_inline")


def _read() -> tuple[list[Row], str]:
    """The rows of the page's tables, and its fence of layers."""
    rows: list[Row] = []
    cells: list[tuple[str, ...]] = []
    section, layers = "", ""
    tokens = MarkdownIt("commonmark").enable("table").parse((ROOT / "docs" / "architecture.md").read_text())
    for before, token in itertools.pairwise(tokens):
        if before.type == "heading_open" and before.tag == "h2":
            section = token.content
        elif before.type in ("th_open", "td_open"):
            cells.append(_spans(token))
        elif token.type == "tr_close":
            rows.append(Row(section, tuple(cells)))
            cells = []
        elif token.type == "fence" and section == "Layers":
            layers = token.content
    return rows, layers


ROWS, LAYERS = _read()
ROOMS = [row for row in ROWS if row.section == "Rooms"]
ADDED = [row for row in ROWS if row.section == "To add something"]


def test_paths_exist() -> None:
    assert ROOMS
    assert ADDED
    for row in (*ROOMS, *ADDED):
        for path in row.paths:
            assert path.endswith("/") == (ROOT / path).is_dir() or re.search(r"\b[A-Z]+\b", path), path
            assert list(ROOT.glob(re.sub(r"\b[A-Z]+\b", "*", path).rstrip("/"))), path


def test_a_room_has_one_line() -> None:
    named = [path for row in ROOMS if row.cells for path in row.cells[0]]
    assert len(named) == len(set(named))


def test_every_folder_has_a_line() -> None:
    folders = {path.parent.name for path in (ROOT / "pipelink").glob("*/*.py")} | {"include"}
    assert folders <= {path.split("/")[1] for row in ROOMS for path in row.paths}


def test_every_file_of_a_room_that_is_listed_by_file_has_a_line() -> None:
    files = {
        path.relative_to(ROOT).as_posix()
        for folder in BY_FILE
        for path in (ROOT / "pipelink" / folder).iterdir()
        if path.suffix in (".py", ".cu", ".cuh") and path.name != "__init__.py"
    }
    assert files <= {path for row in ROOMS if row.cells for path in row.cells[0]}


def test_layers_are_those_that_are_enforced() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (enforced,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert LAYERS.splitlines() == enforced


def test_what_is_added_to_stands_in_a_file_of_its_row() -> None:
    """Tables and lists are named in capitals."""
    for row in ADDED:
        texts = [file.read_text() for file in row.files if file.is_file()]
        for name in (span for span in row.spans if re.fullmatch(r"[A-Z]{4,}", span)):
            assert any(re.search(rf"^{name}\b", text, re.M) for text in texts), name


def test_no_transfer_is_named_outside_its_room() -> None:
    """Names with a dot, which are no other word."""
    names = {name for name in BY_NAME if "." in name}
    assert names
    named = [
        (path.relative_to(ROOT).as_posix(), node.lineno, node.value)
        for path in (ROOT / "pipelink").rglob("*.py")
        if "transfers" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert not named
