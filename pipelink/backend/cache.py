"""A content-addressed cache of link results, safe with any number of processes.

Input: a key (:class:`Key` hashes every input that can change the result) and a function that builds the entry.
Output: the entry's named parts.  One file per key: magic, SHA-256 of the rest, an index, the parts.  An entry is
written to a temporary file of its own and renamed, so readers see all of it or nothing; what is truncated or damaged
anyway fails its hash and is built again.  Processes that want the same key wait for one another on a lock file, which
the kernel releases when its holder dies.

What is in the folder is taken for nothing but what it is: only regular files of this user that nobody else can write
are read or locked, no link is followed, and an entry whose content is not what its reader expects is built again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from pipelink.support import limits

_MAGIC = b"PLcache1"
_DIGEST = 32  # bytes of SHA-256
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
Parts = dict[str, bytes]
T = TypeVar("T")


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


def default_folder() -> Path | None:
    """``$PIPELINK_CACHE_DIR``, else ``pipelink`` in the user's cache folder; None for a user without a home."""
    given = os.environ.get("PIPELINK_CACHE_DIR")
    if given:
        return Path(given)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pipelink"
    except RuntimeError:
        return None


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
    try:
        index: Any = json.loads(body[8 : 8 + size])
    except (ValueError, RecursionError):
        return None
    if not isinstance(index, dict):
        return None
    parts: Parts = {}
    position = 8 + size
    for name, length in cast(dict[str, Any], index).items():
        if not isinstance(length, int) or length < 0:
            return None
        parts[name] = body[position : position + length]
        position += length
    return parts if position == len(body) else None


@dataclass(frozen=True)
class Cache:
    """A cache in ``folder``, which is made when first needed.  A folder that cannot be written costs the caching, not
    the link."""

    folder: Path

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]

    def load(self, key: str) -> Parts | None:
        """The entry, None if it is missing, damaged, or not this user's alone."""
        try:
            if not self._is_own(self.path(key).parent):
                return None
            descriptor = os.open(self.path(key), _READ)
            with os.fdopen(descriptor, "rb") as handle:
                if not _is_private(os.fstat(descriptor)):
                    return None
                return decode(handle.read(limits.ENTRY_BYTES + 1))
        except (OSError, ValueError):
            return None

    def fetch(self, key: str, build: Callable[[], Parts], read: Callable[[Parts], T]) -> tuple[T, bool]:
        """(what ``read`` makes of the entry, whether it was there).  Builds and stores it if it is not, or if ``read``
        raises ValueError, since it is something else; of several processes that want one key, one builds and the
        others wait.  What ``build`` raises is raised, and nothing is stored."""
        found = self._read(key, read)
        if found is not None:
            return found[0], True
        with self._lock(key):
            found = self._read(key, read)
            if found is not None:
                return found[0], True
            built = build()
            self.store(key, built)
            return read(built), False

    def _read(self, key: str, read: Callable[[Parts], T]) -> tuple[T] | None:
        parts = self.load(key)
        try:
            return None if parts is None else (read(parts),)
        except ValueError:
            return None

    def store(self, key: str, parts: Parts) -> None:
        """Write an entry; it appears whole or not at all."""
        path = self.path(key)
        temporary: Path | None = None
        try:
            if not self._make_folder(path.parent):
                return
            descriptor, made = tempfile.mkstemp(prefix=".new-", dir=path.parent)
            temporary = Path(made)
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(encode(parts))
            temporary.replace(path)
        except OSError:
            if temporary is not None:
                temporary.unlink(missing_ok=True)

    def _make_folder(self, folder: Path) -> bool:
        """Make the cache's folder and the entry's, for this user alone, whatever the umask; whether they are."""
        for path in (*reversed(self.folder.parents), self.folder):  # mkdir's mode is not that of parents
            path.mkdir(exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
        for item in (self.folder, folder):
            found = item.stat()
            if found.st_uid == os.geteuid() and found.st_mode & _OTHERS:
                item.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
        return self._is_own(folder)

    def _is_own(self, folder: Path) -> bool:
        """Whether nobody else can put an entry there."""
        own = (self.folder.stat(), folder.lstat())
        return all(stat.S_ISDIR(item.st_mode) and _belongs(item) for item in own)

    @contextmanager
    def _lock(self, key: str) -> Generator[None]:
        """Hold the key's lock file.  It is removed while held, so a waiter that then gets the lock of a removed file
        opens the name again."""
        path = self.path(key).with_suffix(".lock")
        held: int | None = None
        try:
            while self._make_folder(path.parent):
                held = os.open(path, _MAKE | os.O_RDWR, 0o600)
                if not _is_private(os.fstat(held)):
                    os.close(held)
                    held = None
                    break
                fcntl.flock(held, fcntl.LOCK_EX)
                if _is_named(held, path):
                    break
                os.close(held)
                held = None
        except OSError:  # no folder, a link or a pipe in its place, or a file system without locks: build without
            if held is not None:
                os.close(held)
            held = None
        try:
            yield
        finally:
            if held is not None:
                with contextlib.suppress(OSError):
                    path.unlink()
                os.close(held)


def _belongs(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & _OTHERS


def _is_private(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_nlink <= 1 and _belongs(found)


def _is_named(held: int, path: Path) -> bool:
    """Whether the open file is the one that ``path`` names now."""
    try:
        named = path.lstat()
    except FileNotFoundError:
        return False
    opened = os.fstat(held)
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)
