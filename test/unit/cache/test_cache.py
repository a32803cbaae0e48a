"""The cache under many processes, killed builders and damaged entries."""

import hashlib
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from pipelink.backend.cache import Cache, Key, Parts, decode, default_folder, encode
from pipelink.link import user_cache

KEY = "ab" + "0" * 62
PARTS: Parts = {"sm_90a.cubin": b"\x00\x01" * 1000, "empty": b"", "log": b"text"}


def build_slowly(folder: Path) -> Parts:
    """Note that a build began, then take a while."""
    with (folder / "builds").open("a") as log:
        log.write(f"{os.getpid()}\n")
    time.sleep(0.3)
    return PARTS


def worker(folder: str, results: "multiprocessing.Queue[bool]") -> None:
    root = Path(folder)
    parts, _ = Cache(root / "cache").fetch(KEY, lambda: build_slowly(root), dict)
    results.put(parts == PARTS)


def doomed(folder: str) -> None:
    def build() -> Parts:
        (Path(folder) / "started").write_text("")
        time.sleep(60)
        return {}

    Cache(Path(folder) / "cache").fetch(KEY, build, dict)


def count_builds(folder: Path) -> int:
    return len((folder / "builds").read_text().splitlines())


def test_sixteen_processes_build_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    processes = [context.Process(target=worker, args=(str(tmp_path), results)) for _ in range(16)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
        assert process.exitcode == 0
    assert all(results.get(timeout=5) for _ in processes)
    assert count_builds(tmp_path) == 1
    assert [p.name for p in (tmp_path / "cache" / "ab").iterdir()] == ["0" * 62]


def test_a_builder_killed_half_way_blocks_nobody(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    victim = context.Process(target=doomed, args=(str(tmp_path),))
    victim.start()
    while not (tmp_path / "started").exists():
        time.sleep(0.01)
    results = context.Queue()
    waiters = [context.Process(target=worker, args=(str(tmp_path), results)) for _ in range(4)]
    for process in waiters:
        process.start()
    time.sleep(0.1)
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    for process in waiters:
        process.join(30)
        assert process.exitcode == 0
    assert all(results.get(timeout=5) for _ in waiters)
    assert count_builds(tmp_path) == 1


def test_truncated_and_damaged_entries_are_built_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.fetch(KEY, lambda: PARTS, dict) == (PARTS, False)
    assert cache.fetch(KEY, dict, dict) == (PARTS, True)
    whole = cache.path(KEY).read_bytes()
    for damaged in (whole[:-1], whole[:20], b"", whole[:100] + b"?" + whole[101:], whole + b"more"):
        cache.path(KEY).write_bytes(damaged)
        assert cache.load(KEY) is None
        assert cache.fetch(KEY, lambda: PARTS, dict) == (PARTS, False)
        assert cache.load(KEY) == PARTS


def test_a_failed_build_stores_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with pytest.raises(ZeroDivisionError):
        cache.fetch(KEY, lambda: {"x": bytes(1 // 0)}, dict)
    assert cache.load(KEY) is None
    assert cache.fetch(KEY, lambda: PARTS, dict) == (PARTS, False)


def test_a_folder_that_cannot_be_written_costs_only_the_caching(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert Cache(blocked).fetch(KEY, lambda: PARTS, dict) == (PARTS, False)
    assert Cache(blocked).fetch(KEY, lambda: PARTS, dict) == (PARTS, False)


def test_entries_round_trip() -> None:
    assert decode(encode(PARTS)) == PARTS
    assert decode(encode({})) == {}


def test_keys_separate_what_runs_together() -> None:
    def digest(*inputs: tuple[str, object]) -> str:
        key = Key()
        for label, value in inputs:
            key.add(label, value)  # type: ignore[arg-type]
        return key.hexdigest()

    variants = [
        digest(),
        digest(("a", b"bc")),
        digest(("ab", b"c")),
        digest(("a", b"b"), ("c", b"")),
        digest(("a", b"b"), ("", b"c")),
        digest(("a", "bc")),
        digest(("a", 1)),
        digest(("a", True)),
        digest(("a", "1")),
        digest(("a", None)),
    ]
    assert len(set(variants)) == len(variants)
    assert digest(("a", b"x"), ("b", 3)) == digest(("a", b"x"), ("b", 3))


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIPELINK_CACHE_DIR", str(tmp_path / "own"))
    assert default_folder() == tmp_path / "own"
    monkeypatch.delenv("PIPELINK_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "pipelink"


def test_folders_and_entries_are_the_users_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cache = Cache(tmp_path / "home" / "cache")
        cache.fetch(KEY, lambda: PARTS, dict)
    finally:
        os.umask(before)
    made = (cache.folder.parent, cache.folder, cache.path(KEY).parent, cache.path(KEY))
    assert [oct(path.stat().st_mode & 0o777) for path in made] == ["0o700", "0o700", "0o700", "0o600"]
    cache.folder.chmod(0o777)  # as it was made once; what others have put there is another user's
    assert cache.load(KEY) is None
    assert cache.fetch(KEY, dict, dict) == (PARTS, True)  # which is why the folder is closed, and this one kept
    assert cache.folder.stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_another_user_owns_is_no_entry(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.fetch(KEY, lambda: {"x": b"theirs"}, dict)
    os.chown(cache.path(KEY), 4321, 4321)
    assert cache.fetch(KEY, lambda: PARTS, dict) == (PARTS, False)
    os.chown(tmp_path, 4321, 4321)
    assert cache.load(KEY) is None
    assert cache.fetch(KEY, lambda: PARTS, dict) == (PARTS, False)


def test_entries_and_locks_that_are_something_else(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.fetch(KEY, lambda: PARTS, dict)
    path, lock, mine = cache.path(KEY), cache.path(KEY).with_suffix(".lock"), tmp_path / "mine"
    mine.write_bytes(path.read_bytes())
    for place in (path, lock):
        for make in (lambda p: p.symlink_to(mine), lambda p: os.mkfifo(p), lambda p: os.link(mine, p), Path.mkdir):
            path.unlink(missing_ok=True)
            make(place)
            assert cache.fetch(KEY, lambda: PARTS, dict) == (PARTS, False)
            assert decode(mine.read_bytes()) == PARTS
            if place.is_dir():
                place.rmdir()
            place.unlink(missing_ok=True)


def test_another_content_is_a_miss(tmp_path: Path) -> None:
    def read(parts: Parts) -> bytes:
        if list(parts) != ["log"]:
            raise ValueError("another content")
        return parts["log"]

    cache = Cache(tmp_path)
    cache.store(KEY, {"x": b""})
    assert cache.fetch(KEY, lambda: {"log": b"right"}, read) == (b"right", False)
    assert cache.fetch(KEY, lambda: {"log": b"right"}, read) == (b"right", True)


@pytest.mark.parametrize("index", [b"[]", b"{", b'{"a": -1}', b'{"a": "1"}', b'{"a": 1e9}', b"[" * 9999, b'{"a": 5}'])
def test_an_index_that_is_none(index: bytes) -> None:
    body = len(index).to_bytes(8, "little") + index + b"data"
    assert decode(b"PLcache1" + hashlib.sha256(body).digest() + body) is None


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("PIPELINK_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", none)
    assert default_folder() is None
    assert user_cache() is None
