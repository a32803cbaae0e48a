"""Every diagnostic id is shown by a test, and used by the code."""

import functools
import re
from pathlib import Path

import pytest

from pipelink.support.catalog import CATALOG

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def words(folder: str) -> frozenset[str]:
    """Everything that looks like an id in a folder's texts, this file and the catalog left out."""
    left_out = {Path(__file__).resolve(), ROOT / "pipelink" / "support" / "catalog.py"}
    suffixes = {".py", ".mlir", ".test", ".cu", ".txt"}
    texts = [
        path.read_text(errors="replace")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in suffixes and path.is_file() and path not in left_out
    ]
    return frozenset(word for text in texts for word in re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", text))


@pytest.mark.parametrize("id_", CATALOG)
def test_the_id_occurs_in_a_test(id_: str) -> None:
    assert id_ in words("test")


@pytest.mark.parametrize("id_", CATALOG)
def test_the_code_reports_the_id(id_: str) -> None:
    assert id_ in words("pipelink")
