"""Walkers and the mask of sequences that several GPUs share, asked on the host: on all ranks together every pair of the
whole sequence that should count does so once, and CTAs have about the same to do."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pipelink import components

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a host compiler")


def run(folder: Path, sources: Path) -> subprocess.CompletedProcess[str]:
    """What the program prints that is built with the components of a folder."""
    program = folder / "walkers"
    command = ["g++", "-std=c++17", "-O1", "-w", f"-I{HERE / 'host_components'}", f"-I{sources}"]
    subprocess.run([*command, str(HERE / "attention_context_walkers.cpp"), "-o", str(program)], check=True)
    return subprocess.run([program], capture_output=True, text=True)


def test_every_pair_counts_once(tmp_path: Path) -> None:
    ran = run(tmp_path, components.FOLDER)
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
    sources = tmp_path / "components"
    shutil.copytree(components.FOLDER, sources)
    before = (sources / "attention_context.cu").read_text()
    assert before.count(text) == 1
    (sources / "attention_context.cu").write_text(before.replace(text, wrong))
    assert run(tmp_path, sources).returncode == 1
