"""``--trace``: the counterexamples of a run's errors, drawn into a ``.svg`` or written to a ``.txt`` or ``.json``."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from pipelink.support.diagnostics import Diagnostic, LinkError
from pipelink.support.trace import Trace
from pipelink.tools.common import ToolParser
from pipelink.tools.console import Console

_KINDS = (".svg", ".txt", ".json")


def add_trace_argument(parser: ToolParser) -> None:
    """The option, for tools that prove something."""
    parser.add_argument(
        "--trace",
        type=_trace_file,
        metavar="FILE",
        help="draw the counterexample of a protocol error into a .svg, or write it to a .txt or .json file",
    )


def _trace_file(text: str) -> str:
    if not text.endswith(_KINDS):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a .svg, a .txt nor a .json file")
    return text


@contextmanager
def tracing(arguments: argparse.Namespace, console: Console) -> Generator[list[Diagnostic], None, None]:
    """Write the traces of what the body raises, or adds to the list that it is given, to ``--trace``'s file.

    The first goes into FILE; of pictures, which hold one trace each, the others go into FILE.2.svg and so on.
    """
    reported: list[Diagnostic] = []
    try:
        yield reported
    except LinkError as problem:
        try:
            _write(arguments, console, [*reported, *problem.diagnostics])
        except LinkError as unwritable:
            raise LinkError([*problem.diagnostics, *unwritable.diagnostics]) from problem
        raise
    _write(arguments, console, reported)


def _write(arguments: argparse.Namespace, console: Console, reported: Iterable[Diagnostic]) -> None:
    if not arguments.trace:
        return
    traces = list(dict.fromkeys(item.trace for item in reported if item.trace is not None))
    names = write_traces(console, arguments.trace, traces) if traces else []
    if arguments.diagnostics == "json":
        return
    if not names:
        console.say(f"{console.name}: no error has a counterexample, {arguments.trace} is not written\n")
    else:
        what = "the counterexample is" if len(traces) == 1 else f"{len(traces)} counterexamples are"
        console.say(f"{console.name}: {what} in {', '.join(names)}\n")


def write_traces(console: Console, path: str, traces: list[Trace]) -> list[str]:
    """Write traces by the file's suffix; returns the files.  Raises LinkError ``unwritable-output``."""
    from pipelink.map.trace import render_json, render_svg, render_text

    file = Path(path)
    if file.suffix != ".svg":
        console.write(path, render_json(traces) if file.suffix == ".json" else render_text(traces))
        return [path]
    names = [path, *(str(file.with_name(f"{file.stem}.{n}.svg")) for n in range(2, len(traces) + 1))]
    for name, trace in zip(names, traces, strict=True):
        console.write(name, render_svg(trace))
    return names
