"""What the tools share: argument conventions, and a frame in which nothing but one error reaches a user.

A tool is an argument parser and a body.  :func:`run_tool` parses (``@file`` holds further arguments), forks, and runs
the body in the child (:mod:`pipelink.tools.child`): when that dies of a signal, or works longer than ``--time-limit``,
the parent says ``internal-error`` or ``time-limit`` and writes a reproducer (the command line, the inputs and what the
child had said).  Exit status: 0, 1 after an error, 130 or 143 when interrupted or terminated.
"""

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from pipelink.support import limits, memory
from pipelink.support.diagnostics import LinkError, Note, error
from pipelink.support.inputs import Sources, limit_of, read_descriptor, reason
from pipelink.tools.child import HANDLED, INTERRUPTED, Child, no_memory
from pipelink.tools.console import STDIN, Console, drop_stdout, write_stdout
from pipelink.tools.responses import Responses


class ToolParser(argparse.ArgumentParser):
    """An argument parser whose errors are diagnostics."""

    def __init__(self, name: str, description: str, *, epilog: str | None = None) -> None:
        super().__init__(
            prog=name,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        common = self.add_argument_group("common", "@FILE anywhere stands for the arguments in FILE.")
        common.add_argument("--diagnostics", choices=("text", "json"), default="text", help="how errors are written")
        common.add_argument(
            "--time-limit", type=_seconds, default=limits.TIME, metavar="SECONDS", help="give up after this time"
        )
        common.add_argument(
            "--memory-limit",
            type=_gibibytes,
            default=limits.COMPILER_MEMORY,
            metavar="GIB",
            help="memory that the vendor's compilers may take [8]; reading and checking takes 2 at most",
        )
        common.add_argument(
            "--in-process", action="store_true", help="work in this process, where a debugger can follow"
        )
        common.add_argument("--version", action="version", version=f"{name} {version()}")

    def _print_message(self, message: str, file: object = None) -> None:
        """Write what ``--help`` and ``--version`` print; argparse would not say that it cannot."""
        write_stdout(message)

    def error(self, message: str) -> NoReturn:
        raise error("usage", message, hint=f"see {self.prog} --help")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds above 0")
    return value


def _gibibytes(text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 1 << 20:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of GiB from 1")
    return int(value * (1 << 30))


def version() -> str:
    """The installed package's version."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("pipelink")
    except PackageNotFoundError:
        return "unknown"


Body = Callable[[argparse.Namespace, Console], None]
Inputs = Callable[[argparse.Namespace], Sequence[str]]


def run_tool(parser: ToolParser, body: Body, inputs: Inputs, argv: Sequence[str] | None = None) -> int:
    """Run a tool and return its exit status.

    ``body(arguments, console)`` does the work and raises LinkError; ``inputs(arguments)`` lists the input files, which
    a reproducer copies.  ``argv`` leaves out the program's name.
    """
    _open_streams()
    given = list(sys.argv[1:] if argv is None else argv)
    style = "json" if "--diagnostics=json" in given else "text"
    console = Console(parser.prog)
    try:
        responses = Responses()
        arguments = parser.parse_intermixed_args(_operands(responses.expand(given)))
        style = arguments.diagnostics
        named = list(inputs(arguments))
        console.sources = Sources(named)
        console.protected = [*named, *responses.files]
        if "-" in named:
            console.stdin = console.sources.texts[STDIN] = read_descriptor(0, STDIN, limit_of)
        if arguments.in_process:
            status = _work(body, arguments, console)
            return 1 if status == HANDLED else status

        def work() -> int:
            return _work(body, arguments, console)

        made = Child(work, console, given, version(), style, arguments.time_limit, arguments.memory_limit)
        return made.run()
    except LinkError as problem:
        console.say(console.render(problem.diagnostics, style))
        return 1
    except SystemExit as request:  # --help and --version
        return request.code if isinstance(request.code, int) else 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # nobody reads what it says of itself
        drop_stdout()
        return 1
    except (OSError, ValueError) as problem:
        failed = error("unreadable-input", f"cannot read standard input: {reason(problem)}")
        console.say(console.render(failed.diagnostics, style))
        return 1


def _operands(given: Sequence[str]) -> list[str]:
    """The arguments without ``--``: what stands behind it is a file, whatever it begins with."""
    if "--" not in given:
        return list(given)
    at = list(given).index("--")
    files = [f"./{name}" if name.startswith("-") and name != "-" else name for name in given[at + 1 :]]
    return [*given[:at], *files]


def _open_streams() -> None:
    """Give a process that was started with closed streams ones that are empty, or refuse what is written."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR if name == "stderr" else os.O_RDONLY)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        setattr(sys, name, open(number, "r" if name == "stdin" else "w", closefd=False))  # noqa: SIM115


def _work(body: Body, arguments: argparse.Namespace, console: Console) -> int:
    """Run the body and report; 0, HANDLED or INTERRUPTED."""
    gc.set_threshold(200_000, 50, 50)  # a tool lives for a second, of which collecting garbage would take 3%
    collected = console.diagnostics
    try:
        body(arguments, console)
        sys.stdout.flush()
    except LinkError as problem:
        known = set(collected.items)
        reported = [*collected.items, *(d for d in problem.diagnostics if d not in known)]
        console.say(console.render(reported, arguments.diagnostics))
        return HANDLED
    except BrokenPipeError:  # the reader of stdout has gone
        drop_stdout()
        return HANDLED
    except KeyboardInterrupt:
        return INTERRUPTED
    except MemoryError:
        memory.for_compilers()  # what the message takes
        reported = [*collected.items, *no_memory(console.name, arguments.memory_limit).diagnostics]
        console.say(console.render(reported, arguments.diagnostics))
        return HANDLED
    except Exception as problem:
        missing = _not_installed(problem) or _exhausted(problem, console.name)
        if missing is not None:
            console.say(console.render([*collected.items, *missing.diagnostics], arguments.diagnostics))
            return HANDLED
        frames = traceback.extract_tb(problem.__traceback__)[-1:]
        notes = [Note(f"raised in {f.name} ({Path(f.filename).name}:{f.lineno})") for f in frames]
        text = " ".join(str(problem).split())[:300]
        wrapped = error("internal-error", f"{type(problem).__name__}: {text}", notes=notes)
        console.say(console.render([*collected.items, *wrapped.diagnostics], arguments.diagnostics))
        return HANDLED
    console.say(console.render(collected.items, arguments.diagnostics))
    return HANDLED if collected.errors else 0


def _exhausted(problem: Exception, name: str) -> LinkError | None:
    """The error of what the system has no more of, if that is what it was."""
    if not isinstance(problem, OSError) or problem.errno not in (errno.EMFILE, errno.ENFILE, errno.EAGAIN):
        return None
    return error("no-process", f"{name} cannot go on: {reason(problem)}")


def _not_installed(problem: Exception) -> LinkError | None:
    """The error of a package that an import has not found, if that is what it was."""
    if not isinstance(problem, ModuleNotFoundError) or not problem.name or problem.name.startswith("pipelink"):
        return None
    message = f"Python package '{problem.name.partition('.')[0]}' is not installed"
    hint = "pip install 'pipelink[compiler]'; without it only pipelink.runtime works"
    return error("toolchain-missing", message, hint=hint)
