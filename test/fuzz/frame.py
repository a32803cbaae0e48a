"""How hostile inputs are tried: many to a forked worker, with limits on time and memory, resumable by seed and index.

A target is a Python module ``fuzz_NAME.py``.  It has ``attempt(seed, index)``, which makes the input of an index, tries
it, and returns what went wrong, or None; ``prepare()``, if it has one, is called once before the workers are forked;
``confirm(seed, index)`` looks at an input on which a worker died, and says what is wrong about that, or None.  A target
with ``run(seed, budget)`` alone is given its inputs a batch at a time.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import select
import signal
from collections.abc import Callable
from types import ModuleType
from typing import Any

from pipelink.support import limits

SECONDS = 20.0  # that an input may take
BATCH = 500  # inputs of a worker


def drive(target: ModuleType, seed: int, first: int, stop: int) -> list[str]:
    """Try the inputs ``first`` to ``stop``; one line for each failure, with the seed and index that repeat it."""
    getattr(target, "prepare", lambda: None)()
    attempt: Callable[[int, int], str | None] | None = getattr(target, "attempt", None)
    confirm: Callable[[int, int], str | None] | None = getattr(target, "confirm", None)
    failures: list[str] = []
    at = first
    while at < stop:
        end = min(stop, at + BATCH)
        said, ending = _worker(target, attempt, seed, at, end)
        last = at
        for line in said.decode(errors="replace").splitlines():
            if line.startswith("!"):
                failures.append(f"{seed}/{last}: {line[2:]}")
            else:
                last = int(line)
        if ending is not None:
            wrong = ending if confirm is None or ending.startswith("no progress") else confirm(seed, last)
            failures += [f"{seed}/{last}: {wrong}"] if wrong is not None else []
        at = end if ending is None or attempt is None else last + 1
    return failures


def _worker(target: Any, attempt: Callable[[int, int], str | None] | None, seed: int, at: int, end: int) -> Any:
    """(what a worker said of these inputs, how it ended if not well)."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reader)
            _work(target, attempt, seed, range(at, end), writer)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    said, hung = b"", False
    patience = SECONDS if attempt is not None else SECONDS * 10
    while True:
        if not select.select([reader], [], [], patience)[0]:
            hung = True
            os.kill(pid, signal.SIGKILL)
            break
        data = os.read(reader, 65536)
        if not data:
            break
        said += data
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    if hung:
        return said, f"no progress in {patience:g} s"
    if status:
        return said, f"the worker ended with status {os.waitstatus_to_exitcode(status)}"
    return said, None


def _work(target: Any, attempt: Any, seed: int, indices: range, report: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    mapped = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")  # noqa: SIM115
    most = max(limits.READING_MEMORY, mapped + (1 << 30))  # a worker has every compiler mapped, a command has not
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    faulthandler.disable()  # pytest's writes where a worker dies to a descriptor of its own; the parent says it
    if attempt is None:
        os.write(report, b"%d\n" % indices.start)
        for line in target.run(seed + indices.start, len(indices)):
            os.write(report, b"! %s\n" % " ".join(line.split())[:400].encode(errors="replace"))
        return
    for index in indices:
        os.write(report, b"%d\n" % index)
        try:
            wrong = attempt(seed, index)
        except Exception as problem:
            wrong = f"{type(problem).__name__}: {problem}"
        if wrong is not None:
            os.write(report, b"! %s\n" % " ".join(wrong.split())[:400].encode(errors="replace"))
