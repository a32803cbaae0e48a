"""Walkers and the mask of sequences that several GPUs share, asked on the host: on all ranks together every pair of the
whole sequence that should count does so once, and CTAs have about the same to do."""

import re
from pathlib import Path

import pytest

from test.unit.walkers import needs_compiler, run, run_with_mistake

SOURCE = "attention_context_walkers.cpp"
pytestmark = needs_compiler


def test_every_pair_counts_once(tmp_path: Path) -> None:
    ran = run(SOURCE, tmp_path)
    assert ran.returncode == 0, ran.stdout
    pairs, wrong, full, masked, behind = map(int, re.findall(r"\d+", ran.stdout))
    assert wrong == 0
    assert min(pairs, full, masked) > 1000
    assert behind > 10


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("row + 1 - column", "row - column"),
        ("row < tile.keys / 2 ?", "row <= tile.keys / 2 ?"),
        ("own + (low ? whole_blocks(self) : 0)", "own"),
        ("own + far_blocks(self)", "own + far_blocks(self) - 1"),
        ("first < tile.keys / 2 &&", "first <= 0 &&"),
        ("(m + 1) * ROWS <= keys / 2", "(m + 1) * ROWS < keys / 2"),
        ("index - tile.keys / 128 <", "index - tile.block_begin <"),
    ],
)
def test_a_mistake_is_seen(tmp_path: Path, text: str, wrong: str) -> None:
    assert run_with_mistake(SOURCE, tmp_path, "attention_context.cu", text, wrong) == 1
