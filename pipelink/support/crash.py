"""Which calls of the vendor's compilers a command's process is in, for the parent that sees it die.

Their libraries die of what corrupt code makes them do.  Before a command forks, :func:`watch` makes memory that both
sides have; the child notes there what it hands to a library, and the parent reads what was left.
"""

from __future__ import annotations

import json
import mmap
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

_BYTES = 1 << 16  # of all notes together
_LENGTH = 4  # bytes that say how long they are
_NAMES = 8  # inputs of a call that are noted
_notes: mmap.mmap | None = None
_lock = threading.Lock()  # two threads may be in a library at once
_running: list[Call] = []


@dataclass(frozen=True)
class Call:
    """A call of ``library`` with the inputs ``names``; ``id`` is the diagnostic of its failure."""

    library: str
    id: str
    names: tuple[str, ...]


def watch() -> None:
    """From here on calls are noted in memory that children share."""
    global _notes  # as process-wide as what it notes
    _notes = mmap.mmap(-1, _BYTES)


@contextmanager
def calling(library: str, id: str, names: Sequence[str]) -> Generator[None]:
    """Note a call while it runs.  Without :func:`watch`, as in a library's process, nothing is noted."""
    if _notes is None:
        yield
        return
    call = Call(library, id, tuple(names[:_NAMES]))
    with _lock:
        _running.append(call)
        _write(_notes)
    try:
        yield
    finally:
        with _lock:
            _running.remove(call)
            _write(_notes)


def _write(notes: mmap.mmap) -> None:
    text = json.dumps([[call.library, call.id, *call.names] for call in _running]).encode()
    if len(text) + _LENGTH <= len(notes):
        notes[: _LENGTH + len(text)] = len(text).to_bytes(_LENGTH, "little") + text


def calls() -> list[Call]:
    """The calls in which the child was when it died."""
    if _notes is None:
        return []
    size = int.from_bytes(_notes[:_LENGTH], "little")
    try:
        return [Call(library, id, tuple(names)) for library, id, *names in json.loads(_notes[_LENGTH : _LENGTH + size])]
    except ValueError:  # it has noted nothing, or died while it wrote
        return []
