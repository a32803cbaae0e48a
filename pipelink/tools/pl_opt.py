"""``pl-opt``: runs passes over IR and prints the result.

Reads IR (a file or ``-``) and component objects or archives, runs ``--pipeline``, verifies after each pass, prints.
Without a pipeline it parses, verifies and prints.  All logic is in the passes; see :mod:`pipelink.passes.pipeline`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelink.support import limits
from pipelink.support.diagnostics import Diagnostic, Diagnostics, LinkError, Location, error, suggest
from pipelink.tools.common import ToolParser, run_tool
from pipelink.tools.console import Console, label, relocate, write_stdout
from pipelink.tools.traces import add_trace_argument, tracing

if TYPE_CHECKING:
    from pipelink.objects import Object
    from pipelink.support.mlir import ir

_SPLIT = re.compile(r"^// -----.*$", re.M)


class _Parser(ToolParser):
    """Adds the passes, from their table, to ``--help``."""

    def format_help(self) -> str:
        self.epilog = "passes:\n" + list_passes()
        return super().format_help()


def list_passes() -> str:
    """The table of passes and pipelines as text, with the options of each pass."""
    from pipelink.passes import PASSES, PIPELINES
    from pipelink.passes.pipeline import options

    lines: list[str] = []
    for info in PASSES:
        lines.append(f"  {info.name:<12}{info.summary}")
        for name, option in options(info.load()).items():
            choices = f" ({'|'.join(option.choices)})" if option.choices else ""
            default = "" if option.default in (None, (), "") else f" [{option.default}]"
            lines.append(f"    {name:<20}{option.help}{choices}{default}")
    lines.extend(f"  {name:<12}{', '.join(parts)}" for name, parts in PIPELINES.items())
    return "\n".join(lines) + "\n"


def parser() -> _Parser:
    """The command line."""
    made = _Parser("pl-opt", "Run PipeLink's passes over IR and print the result.")
    made.add_argument("inputs", nargs="*", metavar="INPUT", help="IR, component objects or archives; - is stdin")
    made.add_argument("--pipeline", default="", metavar="PASSES", help="such as check,place{objective=min-smem},fuse")
    made.add_argument("-o", "--output", default="-", metavar="FILE", help="where the IR goes; stdout if left out")
    made.add_argument(
        "-split-input-file",
        "--split-input-file",
        action="store_true",
        help="work on each part between '// -----' lines",
    )
    made.add_argument(
        "-verify-diagnostics",
        "--verify-diagnostics",
        action="store_true",
        help="compare the diagnostics with the input's expected-error comments",
    )
    made.add_argument("--print-after", default="", metavar="NAMES", help="print the IR to stderr after these passes")
    made.add_argument("--print-after-all", action="store_true", help="print the IR to stderr after each pass")
    add_trace_argument(made)
    made.add_argument("--timing", action="store_true", help="print the time of each pass to stderr")
    made.add_argument("--no-verify", action="store_true", help="leave out the verifiers between passes")
    made.add_argument("--locations", action="store_true", help="print locations with the IR")
    made.add_argument("--list-passes", action="store_true", help="list passes and their options")
    return made


def _inputs(arguments: argparse.Namespace) -> list[str]:
    return list(arguments.inputs) or ([] if arguments.list_passes else ["-"])


def _body(arguments: argparse.Namespace, console: Console) -> None:
    if arguments.list_passes:
        write_stdout(list_passes())
        return
    with tracing(arguments, console) as reported:
        _optimise(arguments, console, reported)


def _optimise(arguments: argparse.Namespace, console: Console, reported: list[Diagnostic]) -> None:
    """Read, run, print; ``reported`` gets what ``-verify-diagnostics`` keeps to itself."""
    from pipelink.passes.pipeline import parse_pipeline, pass_name

    # refuse a bad pipeline before any input is read
    names = [pass_name(item) for item in parse_pipeline(arguments.pipeline)] if arguments.pipeline else []
    for name in _print_after(arguments):
        if name not in names:
            message = f"--print-after: the pipeline has no pass '{name}'"
            raise error("usage", message, hint=suggest(name, dict.fromkeys(names)))
    console.will_write([arguments.output, arguments.trace] if arguments.trace else [])
    texts, binaries = console.read_all(_inputs(arguments))
    if len(texts) > 1:
        listed = ", ".join(name for name, _ in texts)
        raise error("usage", f"{len(texts)} IR inputs were given, one is read: {listed}")
    name, data = texts[0] if texts else ("", None)
    console.protected = [path for path in console.protected if label(path) != name]  # IR may be rewritten in place
    console.will_write([arguments.output])
    objects: list[Object] = []
    if binaries:
        from pipelink.objects import parse_objects

        for path, content in binaries:
            objects.extend(parse_objects(content, path, diagnostics=console.diagnostics))
    printed: list[str] = []
    if data is not None and (arguments.split_input_file or arguments.verify_diagnostics):
        printed = _run_parts(arguments, console, name, data, objects, reported)
    else:
        try:
            printed.append(_run(arguments, console, data, objects, name))
        except LinkError as problem:
            raise LinkError(relocate(problem.diagnostics, name)) from problem
        finally:
            console.diagnostics.items[:] = relocate(console.diagnostics.items, name)
    console.write(arguments.output, "// -----\n\n".join(printed))


def _print_after(arguments: argparse.Namespace) -> frozenset[str]:
    """The passes of ``--print-after``; a pipeline's name stands for its last pass."""
    from pipelink.passes import PIPELINES

    names = (name.strip() for name in arguments.print_after.split(","))
    return frozenset(PIPELINES[name][-1] if name in PIPELINES else name for name in names if name)


def _run_parts(
    arguments: argparse.Namespace,
    console: Console,
    name: str,
    data: bytes,
    objects: Sequence[Object],
    expected: list[Diagnostic],
) -> list[str]:
    """Run each part of a split input; with -verify-diagnostics compare what each one reports."""
    from pipelink.tools.expectations import compare

    whole = data.decode(errors="surrogateescape")
    parts = _SPLIT.split(whole) if arguments.split_input_file else [whole]
    if len(parts) > limits.PARTS:
        raise error("invalid-ir", f"'{name}' has more than {limits.PARTS} parts", Location(name))
    printed: list[str] = []
    failures: list[Diagnostic] = []
    line = 0
    for part in parts:
        text = "\n" * line + part  # keeps the line numbers of the file
        line += part.count("\n")
        inner = replace(console, diagnostics=Diagnostics())
        reported: Sequence[Diagnostic] = inner.diagnostics.items
        try:
            printed.append(_run(arguments, inner, text.encode(errors="surrogateescape"), objects))
        except LinkError as problem:
            reported = [*reported, *(d for d in problem.diagnostics if d not in reported)]
        if arguments.verify_diagnostics:
            expected.extend(relocate(reported, name))
            failures.extend(compare(text, name, relocate(reported, name)).items)
        else:
            failures.extend(relocate(reported, name))
    console.diagnostics.items.extend(failures)
    if console.diagnostics.errors:
        raise LinkError(failures)
    return printed


def _run(
    arguments: argparse.Namespace,
    console: Console,
    source: bytes | None,
    objects: Sequence[Object],
    path: str | None = None,
) -> str:
    """Parse one input, which ``path`` may hold, add the objects' components, run the pipeline, and return the IR's
    text."""
    from pipelink.ir import new_context, parse, verify
    from pipelink.passes.pipeline import (
        Instrument,
        PrintAfter,
        Reproducer,
        Timing,
        parse_pipeline,
        run_pipeline,
    )

    context = new_context()
    if source is None:
        from pipelink.ir import builder

        module: ir.Module = builder.module(context)
    else:
        module = parse(source, context, path=path)
    if objects:
        from pipelink.analysis.declarations import add_objects

        add_objects(module, objects)
    if not arguments.pipeline:  # components may be given later
        verify(module, references=False)
        return _text(module, arguments)
    passes = parse_pipeline(arguments.pipeline)
    timing = Timing()
    instruments: list[Instrument] = [timing, Reproducer()]
    if arguments.print_after_all:
        instruments.append(PrintAfter(console.say))
    elif arguments.print_after:
        instruments.append(PrintAfter(console.say, _print_after(arguments)))
    run_pipeline(
        passes, module, instruments=instruments, verify=not arguments.no_verify, diagnostics=console.diagnostics
    )
    if arguments.timing:
        console.say(timing.render())
    return _text(module, arguments)


def _text(module: ir.Module, arguments: argparse.Namespace) -> str:
    return f"{module.operation.get_asm(enable_debug_info=arguments.locations)}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    return run_tool(parser(), _body, _inputs, argv)


if __name__ == "__main__":
    raise SystemExit(main())
