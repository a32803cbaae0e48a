# KIND: a half-written entry believed complete
# DECIDED: prevented
"""An entry appears whole, by renaming, and carries the hash of its bytes: what a crash or a full disk left is built
again."""

from pathlib import Path

import pytest

from pipelink.backend.cache import Cache

KEY = "ab" + "0" * 62
PARTS = {"cubin": b"code" * 100, "log": b"text"}


@pytest.mark.parametrize("kept", [0, 7, 40, 41, 100, -1])
def test_what_is_cut_off_is_built_again(tmp_path: Path, kept: int) -> None:
    cache = Cache(tmp_path)
    cache.fetch(KEY, lambda: PARTS, dict)
    cache.path(KEY).write_bytes(cache.path(KEY).read_bytes()[:kept])
    assert cache.load(KEY) is None
    assert cache.fetch(KEY, lambda: PARTS, dict) == (PARTS, False)
    assert cache.fetch(KEY, dict, dict) == (PARTS, True)


def test_a_crash_before_the_rename_leaves_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(path: Path, target: Path) -> None:
        raise KeyboardInterrupt(f"{path} is not {target} yet")

    cache = Cache(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", crash)
        with pytest.raises(KeyboardInterrupt):
            cache.fetch(KEY, lambda: PARTS, dict)
    assert cache.load(KEY) is None
    assert cache.fetch(KEY, lambda: PARTS, dict) == (PARTS, False)
