"""Results as files: whole or not at all, and with the permissions that the user's umask gives."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pipelink.support.diagnostics import Location, error


def encoded(text: str | bytes) -> bytes:
    """UTF-8, with the bytes of file names that are none as they are."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def write_file(path: str | Path, data: str | bytes) -> None:
    """Write a file; it appears whole or not at all.  A link is replaced, not followed; a device or pipe is written to.

    Raises LinkError ``unwritable-output``."""
    content = encoded(data)
    target = Path(path)
    temporary: Path | None = None
    try:
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            with target.open("wb") as handle:  # /dev/null, a pipe; a directory fails
                handle.write(content)
            return
        made = target.parent / f".pipelink-{os.urandom(8).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(made, flags, 0o666), "wb") as handle:
            temporary = made
            handle.write(content)
        made.replace(target)
        temporary = None
    except (OSError, ValueError) as problem:
        reason = ((problem.strerror if isinstance(problem, OSError) else None) or str(problem)).lower()
        where = Location(str(path))
        raise error("unwritable-output", f"cannot write '{path}': {reason}", where) from problem
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
