"""Launches one of the kernels that hang, then one that does not; ``python test/gpu/hanging.py NAME`` says how it went.

A kernel that traps takes the device from its process, so test_hangs.py has this in a process of its own.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
PACKAGES = Path(os.environ.get("PIPELINK_GPU_PACKAGES", ROOT / "carry")) / "debug"

from pipelink import runtime  # noqa: E402  (the checkout's)
from pipelink.support.diagnostics import Diagnostic, render_text  # noqa: E402


def arguments(torch: Any, name: str) -> dict[str, Any]:
    """What a kernel is launched with."""
    if name in ("gemm", "cluster"):
        a, b = (torch.ones(extent, 4096, device="cuda", dtype=torch.bfloat16) for extent in (512, 1024))
        return {"a": a, "b": b, "out": torch.zeros(512, 1024, device="cuda", dtype=torch.bfloat16)}
    if name == "parity":
        return {"order": torch.zeros(2000, dtype=torch.int32, device="cuda")}
    if name == "lost_turn":
        return {"sum": torch.zeros(2, device="cuda", dtype=torch.int32), "ctas": 4, "rounds": 5}
    value = torch.arange(40 * 32, device="cuda", dtype=torch.float32).reshape(40, 32)
    return {"value": value, "total": torch.zeros(4, 128, device="cuda")}


def hang(torch: Any, name: str) -> tuple[Diagnostic, float]:
    """The diagnostic of a kernel's launch, and how long it took, in seconds."""
    kernel, given = runtime.load(PACKAGES / f"{name}.plk"), arguments(torch, name)
    kernel.preload()
    torch.cuda.synchronize()
    start = time.monotonic()
    try:
        kernel(**given)
    except runtime.LinkError as problem:
        kernel.close()
        return problem.diagnostics[0], time.monotonic() - start
    raise AssertionError(f"{name} ended")


def healthy(torch: Any) -> bool:
    """Whether a kernel that does not hang gives what it should."""
    kernel, given = runtime.load(PACKAGES / "healthy.plk"), arguments(torch, "healthy")
    kernel(**given)
    kernel.close()
    return bool(torch.equal(given["total"], given["value"].sum(0).repeat(16).reshape(4, 128)))


def main() -> None:
    import torch

    diagnostic, seconds = hang(torch, sys.argv[1])
    print(f"{seconds:.2f} s")
    print(render_text(diagnostic))
    try:
        print("device: works" if healthy(torch) else "device: wrong result")
    except (runtime.LinkError, RuntimeError) as problem:
        print(f"device: {problem}")
    sys.stdout.flush()
    os._exit(0)  # where the device is lost, torch may not end in peace


if __name__ == "__main__":
    main()
