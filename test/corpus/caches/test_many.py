# KIND: many processes on an empty cache
# DECIDED: prevented
"""Eight processes that start together on an empty cache: one builds, the others wait for it and read the same."""

import multiprocessing
import time
from pathlib import Path

from pipelink.backend.cache import Cache

KEY = "ab" + "0" * 62


def worker(folder: Path, results: "multiprocessing.Queue[tuple[bytes, bool]]") -> None:
    def build() -> dict[str, bytes]:
        time.sleep(0.2)
        return {"cubin": b"code"}

    parts, hit = Cache(folder).fetch(KEY, build, dict)
    results.put((parts["cubin"], hit))


def test_one_builds(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    processes = [context.Process(target=worker, args=(tmp_path / "cache", results)) for _ in range(8)]
    for process in processes:
        process.start()
    found = [results.get(timeout=30) for _ in processes]
    for process in processes:
        process.join()
    assert sorted(found) == [(b"code", False), *[(b"code", True)] * 7]
