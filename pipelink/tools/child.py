"""The child process in which a tool works, seen from the parent that waits for it.

The parsers of MLIR and the vendor's libraries run in there.  Whatever becomes of it, the parent says one error and
returns; when the parent goes, the child goes with it.
"""

from __future__ import annotations

import ctypes
import io
import os
import resource
import shlex
import signal
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from pipelink.support import crash, limits, memory
from pipelink.support.diagnostics import UNKNOWN, LinkError, Location, Note, error
from pipelink.support.inputs import reason
from pipelink.support.outputs import encoded
from pipelink.tools.console import Console

HANDLED = 77  # the child's exit status after it has reported errors; any other but 0 is a crash
INTERRUPTED = 130  # what shells report after Ctrl-C
TERMINATED = 143  # and after SIGTERM
_STOPS = frozenset({signal.SIGINT, signal.SIGTERM})
_STARTED_OUTPUT_LINES = 40  # of a crashed child's stderr, kept as notes
_SET_PARENT_DEATH_SIGNAL = 1  # prctl(2)
_CRASHES = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT})
_NO_MEMORY = (b"bad_alloc", b"out of memory", b"Cannot allocate memory", b"std::length_error")


@dataclass
class Child:
    """One run of ``work``, which returns the child's exit status, in a child process."""

    work: Callable[[], int]
    console: Console
    argv: list[str]
    version: str
    style: str
    time_limit: float
    memory_limit: int
    terminated: bool = False

    def run(self) -> int:
        """The tool's exit status.  Raises KeyboardInterrupt."""
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            crash.watch()
            capture = os.memfd_create("stderr")
        except OSError as problem:
            return self._not_started(problem)
        with open(capture, "w+b") as captured:
            # Held back until both sides are ready: else the parent could go and leave the child behind.
            signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
            parent = os.getpid()
            try:
                pid = os.fork()
            except OSError as problem:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
                return self._not_started(problem)
            if pid == 0:
                self._be_child(captured.fileno(), parent)
            status = self._wait(pid)
            captured.seek(0)
            said = captured.read()
        if status is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, HANDLED):
            self.console.say(said.decode(errors="replace"))
            return 0 if os.WEXITSTATUS(status) == 0 else 1
        if status is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) == INTERRUPTED:
            self.console.say(said.decode(errors="replace"))
            return INTERRUPTED
        if self.terminated:
            return TERMINATED
        self._say(self._crash(status, said))
        return 1

    def _not_started(self, problem: OSError) -> int:
        self._say(error("no-process", f"{self.console.name} cannot start a process: {reason(problem)}"))
        return 1

    def _say(self, problem: LinkError) -> None:
        self.console.say(self.console.render(problem.diagnostics, self.style))

    def _be_child(self, captured: int, parent: int) -> NoReturn:
        """The child: its stderr (assertions, stack dumps) is captured, our own messages go to the real one."""
        status = 134
        try:
            ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL))
            if os.getppid() != parent:  # it went before that
                os._exit(status)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            memory.confine(self.memory_limit)
            try:
                self.console.error_fd = os.dup(2)
            except OSError as problem:
                self._not_started(problem)
                os._exit(HANDLED)
            os.dup2(captured, 2)
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy, which the solver imports, starts no threads
            status = self.work()
            sys.stdout.flush()
            sys.stderr.flush()
        except BrokenPipeError:
            status = HANDLED
        finally:
            os._exit(status)

    def _wait(self, pid: int) -> int | None:
        """The child's wait status, None after the time limit."""

        def forward(number: int, _frame: FrameType | None) -> None:
            self.terminated = True
            os.kill(pid, number)

        previous = signal.signal(signal.SIGTERM, forward)
        deadline = time.monotonic() + self.time_limit
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
                pause = min(pause * 1.5, 0.004)
        except KeyboardInterrupt:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        finally:
            signal.signal(signal.SIGTERM, previous)

    def _crash(self, status: int | None, said: bytes) -> LinkError:
        name = self.console.name
        crashed = status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) in _CRASHES
        calls = crash.calls() if crashed else []
        starved = any(words in said for words in _NO_MEMORY)
        if starved and not calls:
            return no_memory(name, self.memory_limit)
        lines = said.decode(errors="replace").strip().splitlines()
        shown = [Note(line.strip()[:300]) for line in lines[:_STARTED_OUTPUT_LINES]]
        where, hint = UNKNOWN, None
        if status is None:
            id, what = "time-limit", f"{name} did not finish in {self.time_limit:g} seconds"
        elif os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            killer = signal.Signals(number).name if number in signal.valid_signals() else str(number)
            id, what = "internal-error", f"{name} died of {killer}"
            if calls:  # a library of the vendor, of what it was given
                names = list(dict.fromkeys(name for call in calls for name in call.names))
                libraries = " or ".join(dict.fromkeys(call.library for call in calls))
                id, what = calls[0].id, f"{libraries} died of {killer}, given {', '.join(map(repr, names))}"
                where, hint = Location(names[0]) if len(names) == 1 else UNKNOWN, "it may be damaged: compile it again"
                hint += "; it asks for more memory than it gets, and --memory-limit raises that" if starved else ""
        else:
            id, what = "internal-error", f"{name} ended with status {os.WEXITSTATUS(status)}"
        reproducer = self._write_reproducer(what, said)
        if reproducer:
            shown.insert(0, Note(f"the inputs are kept in {reproducer}"))
        return error(id, what, where, notes=shown, hint=hint)

    def _write_reproducer(self, what: str, said: bytes) -> str | None:
        """A tar file with the command line, the inputs and the child's stderr, for its owner alone; None if it cannot
        be written."""
        parts: dict[str, bytes] = {}
        total = 0
        for index, path in enumerate(self.console.sources.inputs):
            # what is no regular file was read by the child, and is gone
            if path != "-" and not os.path.isfile(path):
                continue
            try:
                data = self.console.read(path)
            except LinkError:
                continue
            total += len(data)
            if total <= limits.REPRODUCER:
                parts[f"input{index}-{Path(path).name if path != '-' else 'stdin'}"] = data
        command = f"{self.console.name} {shlex.join(self.argv)}\n# {what}, version {self.version}\n"
        parts = {"command.txt": encoded(command), "stderr.txt": said, **parts}
        try:
            descriptor, name = tempfile.mkstemp(prefix=f"{self.console.name}-", suffix=".tar")
            with os.fdopen(descriptor, "wb") as handle, tarfile.open(fileobj=handle, mode="w") as archive:
                for member, data in parts.items():
                    entry = tarfile.TarInfo(member)
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))
        except OSError:
            return None
        return name


def no_memory(name: str, limit: int) -> LinkError:
    """The error of a tool that has not got the memory that it asked for."""
    most = f"{limits.READING_MEMORY >> 30} GiB to read and check, {limit / (1 << 30):g} GiB with the vendor's compilers"
    return error("memory-limit", f"{name} needs more memory than it may take: {most}", hint="--memory-limit raises it")
