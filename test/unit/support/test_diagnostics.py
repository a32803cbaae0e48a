"""Diagnostics: collecting, rendering as text and JSON, nearest matches."""

import json
from pathlib import Path

import pytest

from pipelink.support.diagnostics import (
    UNKNOWN,
    Diagnostic,
    Diagnostics,
    LinkError,
    Location,
    Note,
    error,
    nearest,
    render_json,
    render_text,
    suggest,
)
from pipelink.support.inputs import Sources


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.mlir"
    path.write_text('first\n\t"pipelink.connect"() {}\nlast \x1b[31m\n')
    return path


def test_location_prints_what_is_known() -> None:
    assert str(Location("a.mlir", 3, 7)) == "a.mlir:3:7"
    assert str(Location("a.mlir", 3)) == "a.mlir:3"
    assert str(Location("a.mlir")) == "a.mlir"
    assert str(UNKNOWN) == "<unknown>"


def test_text_shows_the_line_and_a_caret_under_the_column(source: Path) -> None:
    text = render_text(
        Diagnostic("error", "usage", "no such port", Location(str(source), 2, 2)), Sources([str(source)])
    )
    assert text.splitlines() == [
        f"{source}:2:2: error: no such port [usage]",
        '  \t"pipelink.connect"() {}',
        "  \t^",
    ]


@pytest.mark.parametrize("line", [3, 99])
def test_text_leaves_out_lines_that_are_missing_or_not_printable(source: Path, line: int) -> None:
    found = Diagnostic("error", "usage", "m", Location(str(source), line, 1))
    assert len(render_text(found, Sources([str(source)])).splitlines()) == 1


def test_text_shows_three_notes_and_counts_the_rest(source: Path) -> None:
    notes = tuple(Note(f"n{i}", Location(str(source), 1) if i == 0 else UNKNOWN) for i in range(5))
    lines = render_text(Diagnostic("warning", "usage", "m", notes=notes, hint="h")).splitlines()
    assert lines == ["warning: m [usage]", f"{source}:1: note: n0", "note: n1", "note: n2", "note: 2 more", "hint: h"]


def test_text_takes_the_line_of_an_input_that_is_no_file() -> None:
    lines = render_text(Diagnostic("error", "bad-expression", "m", Location("", 0, 3, text="a + b"))).splitlines()
    assert lines == ["error: m [bad-expression]", "  a + b", "    ^"]


def test_json_keeps_everything() -> None:
    item = Diagnostic("error", "usage", "m", Location("f", 1, 2), (Note("n"),), "h")
    assert json.loads(render_json([item])) == [
        {
            "severity": "error",
            "id": "usage",
            "message": "m",
            "location": {"file": "f", "line": 1, "column": 2},
            "notes": [{"message": "n", "location": None}],
            "hint": "h",
        }
    ]


def test_errors_are_raised_together_with_warnings_and_remarks() -> None:
    collected = Diagnostics()
    collected.warning("usage", "w")
    collected.raise_if_errors()
    collected.error("usage", "e1")
    collected.remark("usage", "r")
    collected.error("empty-input", "e2")
    with pytest.raises(LinkError) as caught:
        collected.raise_if_errors()
    assert [d.message for d in caught.value.diagnostics] == ["w", "e1", "r", "e2"]
    assert "error: e2 [empty-input]" in str(caught.value)


def test_an_id_must_be_in_the_catalog() -> None:
    with pytest.raises(ValueError, match="not in the catalog"):
        error("no-such-id", "m")


def test_nearest() -> None:
    assert nearest("tma_loadr", ["tma_loader", "store"]) == "did you mean 'tma_loader'?"
    assert nearest("zzz", ["tma_loader"]) is None


def test_a_hint_lists_a_few_names_where_none_is_near() -> None:
    assert suggest("loda", ["load", "mma"]) == "did you mean 'load'?"
    assert suggest("x", ["load", "mma"]) == "known: 'load', 'mma'"
    assert suggest("x", []) is None
    assert suggest("x", [f"name{i}" for i in range(20)]) is None


def test_a_long_line_is_cut_around_its_caret() -> None:
    line = "a" * 5000 + "HERE" + "b" * 5000
    shown = render_text(Diagnostic("error", "usage", "m", Location("-", 1, 5001, line))).splitlines()
    assert len(shown[1]) < 200
    assert shown[1][shown[2].index("^") :].startswith("HERE")
    start = render_text(Diagnostic("error", "usage", "m", Location("-", 1, 3, line))).splitlines()
    assert start[2] == "    ^"
    assert start[1].endswith("…")


def test_diagnostics_are_read_back() -> None:
    notes = (Note("declared here", Location("b.cu", 3)), Note("the log"))
    item = Diagnostic("warning", "unused-resource", "buffer 'x'", Location("a.mlir", 1, 2), notes, "leave it out")
    assert Diagnostic.from_json(item.to_json()) == item
