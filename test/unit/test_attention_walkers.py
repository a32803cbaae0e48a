"""Walkers and masks of attention, asked on the host: every pair that should count does so once, and no other; loader
and core hear the same blocks, and every tile is somebody's."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pipelink import components

HERE = Path(__file__).parent


def build(folder: Path, sources: Path) -> subprocess.CompletedProcess[str]:
    """What the program prints that is built with the components of a folder."""
    program = folder / "walkers"
    command = ["g++", "-std=c++17", "-O1", "-w", f"-I{HERE / 'host_components'}", f"-I{sources}"]
    subprocess.run([*command, str(HERE / "attention_walkers.cpp"), "-o", str(program)], check=True)
    return subprocess.run([program], capture_output=True, text=True)


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a host compiler")
def test_every_pair_counts_once(tmp_path: Path) -> None:
    ran = build(tmp_path, components.FOLDER)
    assert ran.returncode == 0, ran.stdout
    pairs, wrong, full, masked, _, skipped = map(int, re.findall(r"\d+", ran.stdout))
    assert wrong == 0
    assert min(pairs, full, masked, skipped) > 1000


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a host compiler")
def test_a_wrong_edge_is_seen(tmp_path: Path) -> None:
    sources = tmp_path / "components"
    shutil.copytree(components.FOLDER, sources)
    windows = sources / "attention_windows.cu"
    text = windows.read_text()
    assert "own + 15 - before" in text
    windows.write_text(text.replace("own + 15 - before", "own + 14 - before"))
    assert build(tmp_path, sources).returncode == 1
