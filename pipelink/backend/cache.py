"""A content-addressed cache of link results, safe with any number of processes.

Input: a key (:class:`Key` hashes every input that can change the result) and a function that builds the entry.
Output: the entry's named parts.  One file per key: magic, SHA-256 of the rest, an index, the parts.  An entry is
written to a temporary file of its own and renamed, so readers see all of it or nothing; what is truncated or damaged
anyway fails its hash and is built again.  Processes that want the same key wait for one another on a lock file, which
the kernel releases when its holder dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MAGIC = b"PLcache1"
_DIGEST = 32  # bytes of SHA-256
Parts = dict[str, bytes]


class Key:
    """Collects the inputs of a link.  Every input has a label and is hashed with its length, so no two sets of inputs
    run together to the same bytes."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, label: str, value: bytes | str | int | bool | None) -> Key:
        """Add one input; returns the key itself."""
        data = value if isinstance(value, bytes) else repr(value).encode()
        for part in (label.encode(), data):
            self._hash.update(len(part).to_bytes(8, "little"))
            self._hash.update(part)
        return self

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def default_folder() -> Path:
    """``$PIPELINK_CACHE_DIR``, else ``pipelink`` in the user's cache folder."""
    given = os.environ.get("PIPELINK_CACHE_DIR")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pipelink"


def encode(parts: Mapping[str, bytes]) -> bytes:
    """The file content of an entry."""
    index = json.dumps({name: len(data) for name, data in parts.items()}).encode()
    body = len(index).to_bytes(8, "little") + index + b"".join(parts.values())
    return _MAGIC + hashlib.sha256(body).digest() + body


def decode(data: bytes) -> Parts | None:
    """The parts of an entry, None if it is not whole."""
    start = len(_MAGIC) + _DIGEST
    body = data[start:]
    if data[: len(_MAGIC)] != _MAGIC or hashlib.sha256(body).digest() != data[len(_MAGIC) : start]:
        return None
    size = int.from_bytes(body[:8], "little")
    index: dict[str, int] = json.loads(body[8 : 8 + size])
    parts: Parts = {}
    position = 8 + size
    for name, length in index.items():
        parts[name] = body[position : position + length]
        position += length
    return parts


@dataclass(frozen=True)
class Cache:
    """A cache in ``folder``, which is made when first needed.  A folder that cannot be written costs the caching, not
    the link."""

    folder: Path

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]

    def load(self, key: str) -> Parts | None:
        """The entry, None if it is missing or damaged."""
        try:
            return decode(self.path(key).read_bytes())
        except OSError:
            return None

    def fetch(self, key: str, build: Callable[[], Parts]) -> tuple[Parts, bool]:
        """(the entry, whether it was there).  Builds and stores it if it is not; of several processes that want one
        key, one builds and the others wait.  What ``build`` raises is raised, and nothing is stored."""
        found = self.load(key)
        if found is not None:
            return found, True
        with self._lock(key):
            found = self.load(key)
            if found is not None:
                return found, True
            built = build()
            self.store(key, built)
            return built, False

    def store(self, key: str, parts: Parts) -> None:
        """Write an entry; it appears whole or not at all."""
        path = self.path(key)
        temporary: str | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(encode(parts))
            Path(temporary).replace(path)
        except OSError:
            if temporary is not None:
                Path(temporary).unlink(missing_ok=True)

    @contextmanager
    def _lock(self, key: str) -> Generator[None]:
        """Hold the key's lock file.  It is removed while held, so a waiter that then gets the lock of a removed file
        opens the name again."""
        path = self.path(key).with_suffix(".lock")
        handle: Any = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            while True:
                handle = path.open("wb")
                fcntl.flock(handle, fcntl.LOCK_EX)
                if _is_named(handle, path):
                    break
                handle.close()
        except OSError:  # no folder, or a file system without locks: build without
            handle = None
        try:
            yield
        finally:
            if handle is not None:
                with contextlib.suppress(OSError):
                    path.unlink()
                handle.close()


def _is_named(handle: Any, path: Path) -> bool:
    """Whether the open file is the one that ``path`` names now."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    opened = os.fstat(handle.fileno())
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)
