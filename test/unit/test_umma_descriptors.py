"""The descriptors of tcgen05.mma equal CuTe's bit for bit, for every tile shape that the mainloops use; so do the
places of the accumulators in tensor memory and in a chunk."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pipelink import components
from pipelink.backend import toolchain
from pipelink.components.gemm import MAINLOOPS

SOURCE = Path(__file__).with_suffix("").with_name("umma_descriptors.cpp")
SHAPES = sorted({loop.tile[:2] for name, loop in MAINLOOPS.items() if name.startswith("tcgen05_")})
ADDRESSES, STEPS, FORMATS = 4, 4, 2


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a host compiler for CuTe's headers")
def test_descriptors_are_cutes(tmp_path: Path) -> None:
    shapes = " ".join(f"SHAPE({m}, {n})" for m, n in SHAPES)
    folders = [toolchain.cutlass_include_dir(), *toolchain.include_dirs(), components.FOLDER]
    program = tmp_path / "descriptors"
    command = ["g++", "-std=c++17", "-O0", "-w", f"-DSHAPES={shapes}", *(f"-I{folder}" for folder in folders)]
    subprocess.run([*command, str(SOURCE), "-o", str(program)], check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    # CuTe says on the way that host addresses are no shared-memory addresses.
    lines = [line.split() for line in printed.splitlines() if not line.startswith("ERROR")]
    accumulators = sum(128 * columns // 16 for _, columns in SHAPES)
    chunk = 32 * 32
    assert len(lines) == FORMATS * (len(SHAPES) * (2 + 2 * ADDRESSES * STEPS) + accumulators) + chunk
    assert [line for line in lines if line[1] != line[2]] == []
