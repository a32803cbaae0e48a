"""What was used lately, kept by key: a bounded table in which a hit costs no more than a look-up.

Entries live in two halves.  New ones, and those of the older half that are asked for, go to the younger one; when that
is full, it becomes the older, and what the older held is dropped.  So of N the N/2 entries that were used last are
there, and never more than N.  May be read and filled from several threads.
"""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """At most ``limit`` entries, at least 2."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._young: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len({*self._young, *self._old})

    def get(self, key: Key) -> Value | None:
        """The value, None if there is none."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            if len(self._young) >= self._half:
                self._old, self._young = self._young, {}
            self._young[key] = value

    def clear(self) -> None:
        with self._lock:
            self._young, self._old = {}, {}
