"""What the kernels of debug links print and assert arrives at the host."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from test.gpu import printing


def run(package: Callable[[str], Path], what: str) -> tuple[list[str], str]:
    """Lines of standard output, and standard error."""
    package("debug/talking")
    command = [sys.executable, printing.__file__, what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout.splitlines(), done.stderr


def test_printf_arrives(package: Callable[[str], Path]) -> None:
    """From a role of 24 registers, and from one with 224 and a text as an argument; the kernel's result is right."""
    lines, errors = run(package, "right")
    sent = [f"send {row}, warp {warp}: {row * 128 + warp * 32:.1f}" for row in range(5) for warp in range(4)]
    added = [f"add {row}: the sum is {sum(128 * r + 127 for r in range(row + 1)):.1f}" for row in range(5)]
    assert sorted(lines) == sorted([*sent, *added, "launch: right"])
    assert "Assertion" not in errors


def test_assert_arrives(package: Callable[[str], Path]) -> None:
    lines, errors = run(package, "wrong")
    failed = [line for line in errors.splitlines() if "Assertion" in line and "sums are positive" in line]
    assert any("talk.cu:41" in line and "thread: [205,0,0]" in line for line in failed), errors[-2000:]
    assert [line for line in lines if line.startswith("launch: ") and line != "launch: right"]
