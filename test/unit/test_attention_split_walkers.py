"""Walkers over sequences of several lengths, and of those whose keys CTAs share, asked on the host: every pair that
should count does so once, the parts of a tile are where the output looks for them, and CTAs have about the same to do.
"""

import re
from pathlib import Path

import pytest

from test.unit.walkers import needs_compiler, run, run_with_mistake

SOURCE = "attention_split_walkers.cpp"
pytestmark = needs_compiler


def test_every_pair_counts_once(tmp_path: Path) -> None:
    ran = run(SOURCE, tmp_path)
    assert ran.returncode == 0, ran.stdout
    pairs, wrong, shared, empty, skipped = map(int, re.findall(r"\d+", ran.stdout))
    assert wrong == 0
    assert min(pairs, shared, empty) > 1000
    assert skipped > 100


@pytest.mark.parametrize(
    ("source", "text", "wrong"),
    [
        ("attention_split.cu", "queries(self) - behind", "queries(self)"),
        ("attention_split.cu", "cta - start / share, parts", "cta - start / share + 1, parts"),
        ("attention_split.cu", "* pack(self) + 63) / 64", "* pack(self)) / 64"),
        ("attention_split.cu", "left = tile - tiles", "left = 0"),
        ("attention_walkers_varlen.cu", "/ ROWS <= number", "/ ROWS < number"),
        ("attention_walkers_varlen.cu", "n % 2 ? tiles - 1 - at : at - spare", "at - spare"),
    ],
)
def test_a_mistake_is_seen(tmp_path: Path, source: str, text: str, wrong: str) -> None:
    assert run_with_mistake(SOURCE, tmp_path, source, text, wrong) == 1
