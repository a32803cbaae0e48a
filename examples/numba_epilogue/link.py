"""PipeLink's loader and mainloop with the Python epilogue behind them: out = silu(a * b^T), bf16, Hopper.

``python examples/numba_epilogue/link.py OBJECTS OUTPUT.plk``: OBJECTS holds ``tma_loader.o``, ``wgmma_mainloop.o`` and
``grouped_tiles.o``, which pl-cc makes from pipelink/components.
"""

import sys
from pathlib import Path

import epilogue

import pipelink


def compose(objects: Path) -> pipelink.Kernel:
    """The kernel; the epilogue is compiled here and never becomes a file."""
    kernel = pipelink.Kernel("silu_gemm", target="sm_90a")
    load = kernel.add(objects / "tma_loader.o", "tma_loader_128x256x64", name="load")
    mma = kernel.add(objects / "wgmma_mainloop.o", "wgmma_mainloop_128x256x64", name="mma")
    silu = kernel.add(epilogue.component(), name="silu")
    schedule = kernel.add(objects / "grouped_tiles.o", name="schedule")
    kernel.connect(load.ab, mma.ab)
    kernel.connect(load.work, schedule.next)
    kernel.connect(mma.work, schedule.next)
    kernel.connect(mma.store, silu.store)
    return kernel


if __name__ == "__main__":
    try:
        linked = compose(Path(sys.argv[1])).link()
        linked.save(sys.argv[2])
    except pipelink.LinkError as problem:
        sys.exit(str(problem))
    print(linked.audit)
