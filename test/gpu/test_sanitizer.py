"""compute-sanitizer over a small run of every package: no bad access, no misuse of barriers."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOLS = ("memcheck", "synccheck")


@pytest.mark.parametrize("tool", TOOLS)
def test_clean(package: Any, tool: str) -> None:
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if sanitizer is None:
        pytest.skip("compute-sanitizer is not installed")
    package("twice")
    script = Path(__file__).with_name("sanitized.py")
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", sys.executable, str(script)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=550)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert "ERROR SUMMARY: 0 errors" in run.stdout
