"""What the tools share: argument conventions, diagnostics as text or JSON, and a child process for the work.

A tool is an argument parser and a body.  :func:`run_tool` parses (``@file`` holds further arguments), forks, and runs
the body in the child.  The parsers of MLIR and the vendor libraries run in there: when the child dies of a signal, or
works longer than ``--time-limit``, the parent says ``internal-error`` or ``time-limit`` and writes a reproducer (the
command line, the inputs and what the child had said).  Exit status: 0, 1 after an error, 130 or 143
when interrupted or terminated.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import io
import os
import resource
import shlex
import signal
import sys
import tarfile
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import NoReturn

from pipelink.support import limits
from pipelink.support.diagnostics import (
    Diagnostic,
    Diagnostics,
    LinkError,
    Location,
    Note,
    error,
    render_json,
    render_text,
)

_HANDLED = 77  # the child's exit status after it has reported errors; any other but 0 is a crash
_INTERRUPTED = 130  # what shells report after Ctrl-C
_TERMINATED = 143  # and after SIGTERM
_STOPS = frozenset({signal.SIGINT, signal.SIGTERM})
_STARTED_OUTPUT_LINES = 40  # of a crashed child's stderr, kept as notes
_LEAST_MEMORY = 8 << 30  # bytes of address space that a child may have on any machine


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
            "--in-process", action="store_true", help="work in this process, where a debugger can follow"
        )
        common.add_argument("--version", action="version", version=f"{name} {version()}")

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


def version() -> str:
    """The installed package's version."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("pipelink")
    except PackageNotFoundError:
        return "unknown"


@dataclass
class Console:
    """Where a body writes: messages to stderr, results to files or stdout, diagnostics to the end."""

    name: str
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    stdin: bytes = b""  # all of standard input, if an input is ``-``
    error_fd: int = 2

    def say(self, text: str) -> None:
        """Write progress, times or printed IR to stderr at once."""
        data = text.encode(errors="replace")
        while data:
            data = data[os.write(self.error_fd, data) :]

    def read(self, path: str) -> bytes:
        """The bytes of an input, ``-`` for standard input.  Raises LinkError ``unreadable-input``."""
        if path == "-":
            return self.stdin
        try:
            return Path(path).read_bytes()
        except (OSError, ValueError) as problem:
            raise unreadable(path, problem) from problem


def unreadable(path: str, problem: OSError | ValueError) -> LinkError:
    """The error of a file that cannot be read."""
    reason = problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)
    return error("unreadable-input", f"cannot read '{path}': {reason.lower()}", Location(path))


def write_output(path: str, data: str | bytes) -> None:
    """Write a result: ``-`` is stdout; a file appears whole or not at all.  Raises ``unwritable-output``."""
    content = data.encode() if isinstance(data, str) else data
    if path == "-":
        try:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise
        except OSError as problem:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer goes nowhere
            reason = (problem.strerror or str(problem)).lower()
            raise error("unwritable-output", f"cannot write standard output: {reason}", Location("<stdout>")) from None
        return
    target = Path(path)
    temporary: str | None = None
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as handle:  # /dev/null, a pipe; a directory fails
                handle.write(content)
            return
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(content)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(target)
        temporary = None
    except (OSError, ValueError) as problem:
        reason = problem.strerror or str(problem) if isinstance(problem, OSError) else str(problem)
        raise error("unwritable-output", f"cannot write '{path}': {reason.lower()}", Location(path)) from problem
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def refuse_overwriting(outputs: Iterable[str | None], inputs: Iterable[str]) -> None:
    """Keep a slip on the command line from destroying an input.  Raises LinkError ``unwritable-output``."""
    for output in outputs:
        for given in inputs:
            try:
                same = output not in (None, "-") and given != "-" and os.path.samefile(str(output), given)
            except (OSError, ValueError):
                continue
            if same and Path(given).is_file():
                raise error("unwritable-output", f"'{output}' is an input, it would be lost", Location(str(output)))


def relocate(items: Iterable[Diagnostic], name: str, text: bytes) -> list[Diagnostic]:
    """The same diagnostics with places in the anonymous text ``-`` shown as places in ``name``."""
    lines = text.decode(errors="replace").split("\n")

    def moved(where: Location) -> Location:
        if where.file != "-":
            return where
        shown = lines[where.line - 1] if 0 < where.line <= len(lines) else None
        return replace(where, file=name, text=shown if where.text is None else where.text)

    return [
        replace(
            item,
            location=moved(item.location),
            notes=tuple(Note(note.message, moved(note.location)) for note in item.notes),
            trace=None if item.trace is None else item.trace.moved(moved),
        )
        for item in items
    ]


def render(diagnostics: Iterable[Diagnostic], style: str) -> str:
    """Diagnostics as text, or as one JSON array; empty if there is none."""
    items = list(diagnostics)
    if not items:
        return ""
    return (render_json(items) if style == "json" else "\n".join(render_text(item) for item in items)) + "\n"


def expand_responses(arguments: Sequence[str], depth: int = 0) -> list[str]:
    """Replace each ``@file`` by the arguments in the file, split as a shell does (``#`` starts a comment)."""
    found: list[str] = []
    for argument in arguments:
        if not argument.startswith("@") or len(argument) == 1:
            found.append(argument)
            continue
        path = argument[1:]
        if depth >= limits.RESPONSE_DEPTH:
            raise error("usage", f"response files are nested deeper than {limits.RESPONSE_DEPTH}", Location(path))
        try:
            text = Path(path).read_text()
        except UnicodeDecodeError as problem:
            raise error("usage", f"response file '{path}' is not UTF-8 text", Location(path)) from problem
        except (OSError, ValueError) as problem:
            raise unreadable(path, problem) from problem
        try:
            words = shlex.split(text, comments=True)
        except ValueError as problem:
            raise error("usage", f"response file '{path}': {problem}".lower(), Location(path)) from problem
        found.extend(expand_responses(words, depth + 1))
    return found


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
        arguments = parser.parse_intermixed_args(expand_responses(given))
        style = arguments.diagnostics
        if "-" in inputs(arguments):
            console.stdin = sys.stdin.buffer.read()
    except LinkError as problem:
        console.say(render(problem.diagnostics, style))
        return 1
    except SystemExit as request:  # --help and --version
        return request.code if isinstance(request.code, int) else 0
    except (OSError, ValueError) as problem:
        console.say(render(error("unreadable-input", f"cannot read standard input: {problem}").diagnostics, style))
        return 1
    if arguments.in_process:
        return 1 if _work(body, arguments, console) else 0
    try:
        return _Child(body, arguments, console, given, list(inputs(arguments))).run()
    except KeyboardInterrupt:
        return _INTERRUPTED


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
    """Run the body and report; 0 or _HANDLED."""
    gc.set_threshold(200_000, 50, 50)  # a tool lives for a second, of which collecting garbage would take 3%
    collected = console.diagnostics
    try:
        body(arguments, console)
        sys.stdout.flush()
    except LinkError as problem:
        reported = [*collected.items, *(d for d in problem.diagnostics if d not in collected.items)]
        console.say(render(reported, arguments.diagnostics))
        return _HANDLED
    except BrokenPipeError:  # the reader of stdout has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _HANDLED
    except KeyboardInterrupt:
        return _HANDLED
    except (Exception, RecursionError) as problem:
        frames = traceback.extract_tb(problem.__traceback__)[-1:]
        notes = [Note(f"raised in {f.name} ({Path(f.filename).name}:{f.lineno})") for f in frames]
        text = " ".join(str(problem).split())[:300]
        wrapped = error("internal-error", f"{type(problem).__name__}: {text}", notes=notes)
        console.say(render([*collected.items, *wrapped.diagnostics], arguments.diagnostics))
        return _HANDLED
    console.say(render(collected.items, arguments.diagnostics))
    return _HANDLED if collected.errors else 0


def _limit_memory() -> None:
    """Let this process have as much address space as the machine has memory, so that a blow-up ends in an error."""
    size = max(_LEAST_MEMORY, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or hard > size:
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))


@dataclass
class _Child:
    """The child process of one run, seen from the parent."""

    body: Body
    arguments: argparse.Namespace
    console: Console
    argv: list[str]
    inputs: list[str]
    terminated: bool = False

    def run(self) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        with tempfile.TemporaryFile() as captured:
            # Held back until both sides are ready: else the parent could go and leave the child behind.
            signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
            pid = os.fork()
            if pid == 0:
                self._be_child(captured.fileno())
            status = self._wait(pid)
            captured.seek(0)
            said = captured.read()
        if status is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, _HANDLED):
            self.console.say(said.decode(errors="replace"))
            return 0 if os.WEXITSTATUS(status) == 0 else 1
        if self.terminated:
            return _TERMINATED
        self.console.say(render(self._crash(status, said).diagnostics, self.arguments.diagnostics))
        return 1

    def _be_child(self, captured: int) -> NoReturn:
        """The child: its stderr (assertions, stack dumps) is captured, our own messages go to the real one."""
        status = 134
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            _limit_memory()
            self.console.error_fd = os.dup(2)
            os.dup2(captured, 2)
            status = _work(self.body, self.arguments, self.console)
            sys.stdout.flush()
            sys.stderr.flush()
        except BrokenPipeError:
            status = _HANDLED
        finally:
            os._exit(status)

    def _wait(self, pid: int) -> int | None:
        """The child's wait status, None after the time limit."""

        def forward(number: int, _frame: FrameType | None) -> None:
            self.terminated = True
            os.kill(pid, number)

        previous = signal.signal(signal.SIGTERM, forward)
        deadline = time.monotonic() + self.arguments.time_limit
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            pause = 0.0005
            while True:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    return status
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    return None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.02)
        except KeyboardInterrupt:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        finally:
            signal.signal(signal.SIGTERM, previous)

    def _crash(self, status: int | None, said: bytes) -> LinkError:
        lines = said.decode(errors="replace").strip().splitlines()
        shown = [Note(line.strip()[:300]) for line in lines[:_STARTED_OUTPUT_LINES]]
        if status is None:
            limit = self.arguments.time_limit
            id, what = "time-limit", f"{self.console.name} did not finish in {limit:g} seconds"
        elif os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            name = signal.Signals(number).name if number in signal.valid_signals() else str(number)
            id, what = "internal-error", f"{self.console.name} died of {name}"
        else:
            id, what = "internal-error", f"{self.console.name} ended with status {os.WEXITSTATUS(status)}"
        reproducer = self._write_reproducer(what, said)
        if reproducer:
            shown.insert(0, Note(f"the inputs are kept in {reproducer}"))
        return error(id, what, notes=shown)

    def _write_reproducer(self, what: str, said: bytes) -> str | None:
        """A tar file with the command line, the inputs and the child's stderr; None if it cannot be written."""
        parts: dict[str, bytes] = {}
        total = 0
        for index, path in enumerate(self.inputs):
            try:
                data = self.console.read(path)
            except LinkError:
                continue
            total += len(data)
            if total <= limits.REPRODUCER:
                parts[f"input{index}-{Path(path).name if path != '-' else 'stdin'}"] = data
        command = f"{self.console.name} {shlex.join(self.argv)}\n# {what}, version {version()}\n"
        parts = {"command.txt": command.encode(), "stderr.txt": said, **parts}
        digest = hashlib.sha256(b"\0".join(parts.values())).hexdigest()[:12]
        target = Path(tempfile.gettempdir()) / f"{self.console.name}-{digest}.tar"
        try:
            with tarfile.open(target, "w") as archive:
                for name, data in parts.items():
                    entry = tarfile.TarInfo(name)
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))
        except OSError:
            return None
        return str(target)
