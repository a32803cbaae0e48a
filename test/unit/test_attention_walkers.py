"""Walkers and masks of attention, asked on the host: every pair that should count does so once, and no other; loader
and core hear the same blocks, and every tile is somebody's."""

import re
from pathlib import Path

from test.unit.walkers import needs_compiler, run, run_with_mistake

SOURCE = "attention_walkers.cpp"
pytestmark = needs_compiler


def test_every_pair_counts_once(tmp_path: Path) -> None:
    ran = run(SOURCE, tmp_path)
    assert ran.returncode == 0, ran.stdout
    pairs, wrong, full, masked, _, skipped = map(int, re.findall(r"\d+", ran.stdout))
    assert wrong == 0
    assert min(pairs, full, masked, skipped) > 1000


def test_a_wrong_edge_is_seen(tmp_path: Path) -> None:
    text, wrong = "own + 15 - before", "own + 14 - before"
    assert run_with_mistake(SOURCE, tmp_path, "attention_windows.cu", text, wrong) == 1
