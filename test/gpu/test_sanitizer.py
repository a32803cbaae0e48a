"""compute-sanitizer over a small run of every package: no bad access, no misuse of barriers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# cuda-bindings probes the driver for entry points that it may lack; the runtime checks every status itself.
TOOLS = {"memcheck": ("--report-api-errors", "no"), "synccheck": (), "racecheck": ()}
SUMMARIES = ("ERROR SUMMARY: 0 errors", "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)")


@pytest.mark.parametrize("tool", TOOLS)
def test_clean(package: Any, tool: str) -> None:
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if sanitizer is None:
        pytest.skip("compute-sanitizer is not installed")
    packages = package("twice").parent / ("racecheck" if tool == "racecheck" else ".")
    script = Path(__file__).with_name("sanitized.py")
    command = [sanitizer, "--tool", tool, *TOOLS[tool], "--error-exitcode", "9", sys.executable, str(script)]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=550, env=os.environ | {"PIPELINK_GPU_PACKAGES": str(packages)}
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert any(summary in run.stdout for summary in SUMMARIES), run.stdout[-4000:]
