"""Walkers over sequences of several lengths, and of those whose keys CTAs share, asked on the host: every pair that
should count does so once, and the parts of a tile are where the output looks for them."""

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
    subprocess.run([*command, str(HERE / "attention_split_walkers.cpp"), "-o", str(program)], check=True)
    return subprocess.run([program], capture_output=True, text=True)


def test_every_pair_counts_once(tmp_path: Path) -> None:
    ran = run(tmp_path, components.FOLDER)
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
    ],
)
def test_a_mistake_is_seen(tmp_path: Path, source: str, text: str, wrong: str) -> None:
    sources = tmp_path / "components"
    shutil.copytree(components.FOLDER, sources)
    before = (sources / source).read_text()
    assert before.count(text) == 1
    (sources / source).write_text(before.replace(text, wrong))
    assert run(tmp_path, sources).returncode == 1
