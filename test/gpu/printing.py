"""Launches the kernel that prints and asserts: ``python test/gpu/printing.py right`` or ``wrong``.

The driver prints to the process's standard output, and an assertion that fails takes the device from the process, so
test_printing.py has this in a process of its own.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
PACKAGES = Path(os.environ.get("PIPELINK_GPU_PACKAGES", ROOT / "carry")) / "debug"

from pipelink import runtime  # noqa: E402  (the checkout's)


def main() -> None:
    import torch

    kernel = runtime.load(PACKAGES / "talking.plk")
    x = torch.arange(5 * 128, device="cuda", dtype=torch.float32).reshape(5, 128)
    if sys.argv[1] == "wrong":
        x[3, 77] = -10000
    sums = torch.full((5, 256), float("nan"), device="cuda")
    try:
        kernel(x=x, sums=sums)
        torch.cuda.synchronize()
    except (runtime.LinkError, RuntimeError) as problem:
        print(f"launch: {str(problem).splitlines()[0]}", flush=True)
        os._exit(0)  # the device is lost
    right = torch.equal(sums, x.cumsum(0).repeat(1, 2))
    print("launch: right" if right else "launch: wrong", flush=True)
    kernel.close()


if __name__ == "__main__":
    main()
