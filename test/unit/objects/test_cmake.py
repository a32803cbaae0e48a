"""The CMake example builds with plain nvcc and gives a library of components."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipelink.audit import contract
from pipelink.objects import read_objects

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not on PATH")
def test_cmake_example(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), str(ROOT / "tools"), os.environ["PATH"]])
    for command in (["-S", str(ROOT / "examples" / "cmake"), "-B", str(tmp_path)], ["--build", str(tmp_path)]):
        done = subprocess.run(["cmake", *command], env={**os.environ, "PATH": path}, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    (item,) = read_objects(tmp_path / "libcomponents.a")
    assert item.components[0].name == "example::scale"
    assert [image.arch for image in item.ltoir] == ["sm_80", "sm_90a"]
    contract.verify(item)
