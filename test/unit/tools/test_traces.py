"""``--trace``: what a tool's child process writes of the errors that it reports."""

from __future__ import annotations

import argparse
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pipelink.support.diagnostics import Diagnostic, LinkError, Location
from pipelink.support.trace import Step, Trace
from pipelink.tools.common import ToolParser, run_tool
from pipelink.tools.console import Console, relocate
from pipelink.tools.traces import add_trace_argument, tracing


def trace(title: str) -> Trace:
    step = Step("@a::@run", "wait x[0]", blocked=True, location=Location("-", 2))
    return Trace(title, ("@a::@run",), (step,), cycle=("@a::@run",))


def run(found: list[Trace], *argv: str) -> int:
    """A tool that reports an error for each of the traces, and one without."""
    parser = ToolParser("pl-test", "Reports errors.")
    add_trace_argument(parser)

    def body(arguments: argparse.Namespace, console: Console) -> None:
        with tracing(arguments, console):
            items = [Diagnostic("error", "usage", "no trace")]
            items += [Diagnostic("error", "arrival-count", item.title, trace=item) for item in found]
            if found:
                raise LinkError(relocate(items, "<stdin>"))

    return run_tool(parser, body, lambda arguments: [], argv)


def test_a_picture_each(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.svg"
    assert run([trace("first"), trace("second"), trace("first")], f"--trace={file}") == 1
    titles = [ET.fromstring(name.read_text())[0].text for name in sorted(tmp_path.iterdir(), reverse=True)]
    assert titles == ["Counterexample: first", "Counterexample: second"]
    assert f"pl-test: 2 counterexamples are in {file}, {tmp_path}/x.2.svg\n" in capfd.readouterr().err


def test_text_and_json_hold_all(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([trace("first"), trace("second")], f"--trace={tmp_path / 'x.txt'}") == 1
    assert (tmp_path / "x.txt").read_text().count("counterexample: ") == 2
    assert run([trace("first")], f"--trace={tmp_path / 'x.json'}", "--diagnostics=json") == 1
    (found,) = json.loads((tmp_path / "x.json").read_text())
    assert found["steps"][0]["location"] == {"file": "<stdin>", "line": 2, "column": 0}
    last = capfd.readouterr().err.partition("\n[\n")[2]
    assert json.loads(f"[{last}")[1]["trace"] == found  # and nothing else was said


def test_nothing_is_written_where_nothing_was_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.svg"
    assert run([], f"--trace={file}") == 0
    assert not file.exists()
    assert capfd.readouterr().err == f"pl-test: no error has a counterexample, {file} is not written\n"


def test_other_files_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run([], "--trace=x.png") == 1
    assert "'x.png' is neither a .svg, a .txt nor a .json file [usage]" in capfd.readouterr().err
