"""What a tool's body reads and writes: every input once, every result to a file of its own that is no input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipelink.support.diagnostics import (
    Diagnostic,
    Diagnostics,
    Location,
    Note,
    error,
    render_json,
    render_text,
)
from pipelink.support.inputs import Sources, is_object, limit_of, read_input, reason, refuse_foreign
from pipelink.support.outputs import encoded, write_file
from pipelink.support.text import printable, utf8

STDIN = "<stdin>"  # what standard input is called in messages
_OBJECTS = (".o", ".a")
Read = tuple[str, bytes]


def label(path: str) -> str:
    """What an input is called in messages and in what is made of it."""
    return STDIN if path == "-" else utf8(path)


@dataclass
class Console:
    """Where a body reads and writes: messages to stderr, results to files or stdout, diagnostics to the end.

    ``protected`` are the files that are read, which no result may replace."""

    name: str
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    stdin: bytes = b""  # all of standard input, if an input is ``-``
    error_fd: int = 2
    sources: Sources = field(default_factory=Sources)
    protected: list[str] = field(default_factory=list[str])
    _written: dict[str, int] = field(default_factory=dict[str, int])  # hashes of contents, by path

    def say(self, text: str) -> None:
        """Write progress, times or printed IR to stderr at once."""
        data = encoded(printable(text))
        while data:
            data = data[os.write(self.error_fd, data) :]

    def read(self, path: str) -> bytes:
        """The bytes of an input, ``-`` for standard input; it is opened once, however often it is asked for.
        Raises LinkError ``unreadable-input`` or ``oversized-input``."""
        if path == "-":
            return self.stdin
        found = self.sources.texts.get(path)
        if found is None:
            found = self.sources.texts[path] = read_input(path, limit_of)
        return found

    def read_all(self, paths: Iterable[str]) -> tuple[list[Read], list[Read]]:
        """What is read of IR, and of objects and archives: name and bytes.  Raises LinkError as :meth:`read`, and
        ``foreign-input``."""
        texts: list[Read] = []
        objects: list[Read] = []
        for path in paths:
            data, name = self.read(path), label(path)
            self.sources.texts[name] = data
            refuse_foreign(data, name)
            (objects if name.endswith(_OBJECTS) or is_object(data) else texts).append((name, data))
        return texts, objects

    def will_write(self, outputs: Iterable[str | None]) -> None:
        """Refuse outputs that are inputs, or two that are one file, before any work is done.
        Raises LinkError ``unwritable-output``."""
        seen: list[str] = []
        for output in outputs:
            if output is not None:
                self._refuse_loss(output, seen)
                seen.append(output)

    def write(self, path: str, data: str | bytes) -> None:
        """Write a result: ``-`` is stdout; a file appears whole or not at all.  Raises LinkError
        ``unwritable-output``, also where an input or another result would be lost."""
        if path == "-":
            write_stdout(data)
            return
        digest = hash(data)
        self._refuse_loss(path, [other for other, content in self._written.items() if content != digest])
        write_file(path, data)
        self._written[path] = digest

    def report(self, text: str) -> None:
        """Write what people read beside a result to stdout, as long as somebody reads it."""
        try:
            write_stdout(printable(text))
        except BrokenPipeError:
            drop_stdout()

    def _refuse_loss(self, output: str, others: Sequence[str]) -> None:
        if output == "-":
            if output in others:
                raise error("unwritable-output", "two results are written to standard output", Location("<stdout>"))
            return
        for given in self.protected:
            if given != "-" and _same_file(output, given):
                raise error("unwritable-output", f"'{output}' is an input, it would be lost", Location(output))
        for other in others:
            if other != "-" and _same_file(output, other):
                raise error("unwritable-output", f"two results are written to '{output}'", Location(output))

    def render(self, diagnostics: Iterable[Diagnostic], style: str) -> str:
        """Diagnostics as text, or as one JSON array; empty if there is none."""
        items = list(diagnostics)
        if not items:
            return ""
        text = render_json(items) if style == "json" else "\n".join(render_text(i, self.sources) for i in items)
        return f"{text}\n"


def _same_file(first: str, second: str) -> bool:
    """Whether two names are of one regular file, or would be."""
    try:
        if os.path.lexists(first) and os.path.lexists(second):
            return os.path.samefile(first, second) and Path(first).is_file()
        return os.path.realpath(first) == os.path.realpath(second)
    except (OSError, ValueError):
        return False


def write_stdout(data: str | bytes) -> None:
    """Raises LinkError ``unwritable-output``, and BrokenPipeError where nobody reads any longer."""
    try:
        sys.stdout.buffer.write(encoded(data))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        drop_stdout()
        message = f"cannot write standard output: {reason(problem)}"
        raise error("unwritable-output", message, Location("<stdout>")) from None


def drop_stdout() -> None:
    """What is left in the buffer goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def relocate(items: Iterable[Diagnostic], name: str) -> list[Diagnostic]:
    """The same diagnostics with places in the anonymous text ``-`` as places in ``name``."""

    def moved(where: Location) -> Location:
        return replace(where, file=name) if where.file == "-" else where

    return [
        replace(
            item,
            location=moved(item.location),
            notes=tuple(Note(note.message, moved(note.location)) for note in item.notes),
            trace=None if item.trace is None else item.trace.moved(moved),
        )
        for item in items
    ]
