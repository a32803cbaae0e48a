# KIND: temporary names that collide
# DECIDED: prevented
"""Process ids repeat between containers that share a folder.  A new entry's file is created exclusively, under a name
that did not exist, so two writers never share one."""

import os
import tempfile
from pathlib import Path

import pytest

from pipelink.backend.cache import Cache

KEY = "ab" + "0" * 62


def test_two_writers_of_one_process_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 7)
    made: list[str] = []
    original = tempfile.mkstemp

    def mkstemp(**options: object) -> tuple[int, str]:
        descriptor, name = original(**options)  # type: ignore[call-overload]
        if not made:  # the other container's process writes the same entry meanwhile
            made.append(name)
            Cache(tmp_path).store(KEY, {"cubin": b"the other's"})
        made.append(name)
        return descriptor, name

    monkeypatch.setattr(tempfile, "mkstemp", mkstemp)
    Cache(tmp_path).store(KEY, {"cubin": b"mine"})
    assert len(set(made)) == 2
    assert Cache(tmp_path).load(KEY) == {"cubin": b"mine"}
    assert [path.name for path in (tmp_path / "ab").iterdir()] == ["0" * 62]
