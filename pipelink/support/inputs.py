"""The one way in which a file that somebody named is read, whatever it is.

A path may name a regular file, a pipe (``<(nvcc …)``), a device that never ends, a named pipe that nobody writes to, a
directory.  Each is opened once, read once and up to a limit, and what cannot be read is one located error.
:class:`Sources` gives diagnostics the lines that they show: of inputs that were read, and of sources beside them.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pipelink.support import limits
from pipelink.support.diagnostics import LinkError, Location, error

OBJECT_MAGIC: Final = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")
ZIP_MAGIC: Final = b"PK\x03\x04"  # what a package begins with
FATBIN_MAGIC: Final = b"\x50\xed\x55\xba"
LTOIR_MAGIC: Final = b"\xed\x43\x4e\x7f"
_HEAD = 16  # bytes that tell what a file is
_CHUNK = 1 << 20
_PAUSE = 0.01  # seconds between two looks at a named pipe without a writer
_KINDS: Final = (
    (b"\x1f\x8b", "compressed by gzip", "unpack it first"),
    (b"\xfd7zXZ\0", "compressed by xz", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it first"),
    (b"BZh", "compressed by bzip2", "unpack it first"),
    (ZIP_MAGIC, "a zip archive, as linked kernels are", "pipelink.runtime loads those"),
    (FATBIN_MAGIC, "a fat binary without its object", "give the object that nvcc or pl-cc wrote"),
    (LTOIR_MAGIC, "bare LTO-IR without a contract", "give the object that nvcc or pl-cc wrote"),
    (b"ML\xefR", "MLIR bytecode", "print it as text with mlir-opt"),
    (b"BC\xc0\xde", "LLVM bitcode", "give the object that nvcc or pl-cc wrote"),
)
_SOURCE_SUFFIXES: Final = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hxx", ".inl")
_SHOWN_SUFFIXES: Final = frozenset({*_SOURCE_SUFFIXES, ".mlir", ".py"})

Limit = int | Callable[[bytes], int]


def is_object(data: bytes) -> bool:
    """Whether bytes begin as an object or archive does."""
    return data.startswith(OBJECT_MAGIC)


def limit_of(head: bytes) -> int:
    """The limit of an input that may be an object, a package or text, by its first bytes."""
    if head.startswith(ZIP_MAGIC):
        return limits.PACKAGE_BYTES
    return limits.OBJECT_BYTES if is_object(head) else limits.TEXT_BYTES


def refuse_foreign(data: bytes, path: str, *, source: bool = False) -> None:
    """Say what an input is that is no IR text and no object.  ``source``: where C++ is expected, not IR.

    Raises LinkError ``foreign-input``."""
    for magic, what, hint in _KINDS:
        if data.startswith(magic):
            raise error("foreign-input", f"'{path}' is {what}", Location(path), hint=hint)
    if not source and path.endswith(_SOURCE_SUFFIXES) and not is_object(data):
        hint = f"compile it first: pl-cc {path}"
        raise error("foreign-input", f"'{path}' is C++ source, not IR", Location(path), hint=hint)
    if source and is_object(data):
        raise error("foreign-input", f"'{path}' is an object or archive, not C++ source", Location(path))


def unreadable(path: str, problem: OSError | ValueError) -> LinkError:
    """The error of a file that cannot be read."""
    return error("unreadable-input", f"cannot read '{path}': {reason(problem)}", Location(path))


def reason(problem: OSError | ValueError) -> str:
    """What an operation on a file failed of, in lower case."""
    return ((problem.strerror if isinstance(problem, OSError) else None) or str(problem)).lower()


def read_input(path: str | Path, limit: Limit) -> bytes:
    """All of a file, of at most ``limit`` bytes, or what ``limit`` says of its first bytes.

    Raises LinkError ``unreadable-input`` or ``oversized-input``."""
    name = str(path)
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        try:
            return read_descriptor(descriptor, name, limit)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as problem:
        raise unreadable(name, problem) from problem


def read_descriptor(descriptor: int, name: str, limit: Limit) -> bytes:
    """As :func:`read_input`, of an open file.  Raises OSError too."""
    found = os.fstat(descriptor)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    regular = stat.S_ISREG(found.st_mode)
    read = _waiting(descriptor, name) if stat.S_ISFIFO(found.st_mode) else lambda size: os.read(descriptor, size)
    head = b""
    while len(head) < _HEAD and (more := read(_HEAD - len(head))):
        head += more
    most = limit if isinstance(limit, int) else limit(head)
    most = most if regular else min(most, limits.STREAM_BYTES)
    if regular and found.st_size > most:
        raise _oversized(name, f"it has {found.st_size:,} bytes", most)
    parts, size = [head], len(head)
    while size <= most and (more := read(found.st_size - size if regular and found.st_size > size else _CHUNK)):
        parts.append(more)
        size += len(more)
    if size > most:
        raise _oversized(name, "it goes on", most)
    return b"".join(parts)


def _oversized(name: str, what: str, limit: int) -> LinkError:
    return error("oversized-input", f"'{name}' is too large: {what}, the limit is {limit:,} bytes", Location(name))


def _waiting(descriptor: int, name: str) -> Callable[[int], bytes]:
    """How a pipe is read: without end while somebody may write to it, and not at all where nobody ever does."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    deadline = time.monotonic() + limits.WRITER
    begun = False

    def read(size: int) -> bytes:
        nonlocal begun
        while True:
            try:
                data = os.read(descriptor, size)
            except BlockingIOError:  # there is a writer, who has not written yet
                begun = True
                poll.poll()
                continue
            if data or begun or any(event & select.POLLHUP for _, event in poll.poll(0)):
                begun = True
                return data
            if time.monotonic() > deadline:
                raise unreadable(name, ValueError(f"nobody has written to this pipe for {limits.WRITER:g} seconds"))
            time.sleep(_PAUSE)

    return read


@dataclass
class Sources:
    """Which lines a diagnostic may show: those of ``texts``, inputs by path; and those of C++, IR and Python files in
    the folders of ``inputs`` or below, if they are regular and no links lead out.  What an input says about its origin
    opens no other file."""

    inputs: Iterable[str] = ()
    texts: dict[str, bytes] = field(default_factory=dict[str, bytes])
    _last: tuple[str, bytes | None] = ("", None)  # the file beside the inputs of which a line was shown last

    def line(self, location: Location) -> str | None:
        """The line of a place, or None."""
        if location.text is not None:
            return location.text
        if not location.file or not location.line:
            return None
        data = self.texts.get(location.file)
        if data is None:
            if self._last[0] != location.file:
                self._last = location.file, self._beside(location.file)
            data = self._last[1]
        return None if data is None else _line(data, location.line)

    def _beside(self, file: str) -> bytes | None:
        try:
            path = Path(file).resolve()
            folders = [Path(name).resolve().parent for name in self.inputs if name != "-"]
            below = [path.relative_to(folder) for folder in folders if path.is_relative_to(folder)]
            if path.suffix not in _SHOWN_SUFFIXES or not any(_is_plain(item) for item in below):
                return None
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        except (OSError, ValueError, RuntimeError):  # no such file, no such name, a circle of links
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return read_descriptor(descriptor, file, limits.SHOWN_BYTES)
        except (OSError, LinkError):
            return None
        finally:
            os.close(descriptor)


def _is_plain(path: Path) -> bool:
    return not any(part.startswith(".") for part in path.parts)


def _line(data: bytes, number: int) -> str | None:
    start = 0
    for _ in range(number - 1):
        start = data.find(b"\n", start) + 1
        if not start:
            return None
    end = data.find(b"\n", start)
    line = data[start : end if end >= 0 else len(data)]
    return line.decode(errors="replace").rstrip("\r") if line or end >= 0 else None
