"""Walkers and masks of attention, asked on the host: programs that are built with the components' sources."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pipelink import components

HERE = Path(__file__).parent
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a host compiler")


def run(source: str, folder: Path, sources: Path = components.FOLDER) -> subprocess.CompletedProcess[str]:
    """What the program of ``source`` prints that is built, in ``folder``, with the components of ``sources``."""
    program = folder / "walkers"
    command = ["g++", "-std=c++17", "-O1", "-w", f"-I{HERE / 'host_components'}", f"-I{sources}"]
    subprocess.run([*command, str(HERE / source), "-o", str(program)], check=True)
    return subprocess.run([program], capture_output=True, text=True)


def run_with_mistake(source: str, folder: Path, component: str, text: str, wrong: str) -> int:
    """The exit status of the program where ``text``, which stands once in ``component``, is ``wrong``."""
    sources = folder / "components"
    shutil.copytree(components.FOLDER, sources)
    before = (sources / component).read_text()
    assert before.count(text) == 1
    (sources / component).write_text(before.replace(text, wrong))
    return run(source, folder, sources).returncode
