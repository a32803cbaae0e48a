"""The kernel of gemm.mlir, composed in Python: out = relu(a * b^T + bias) on Hopper, bf16.

``python examples/gemm/gemm.py OBJECTS OUTPUT.plk`` links the objects in folder OBJECTS (pl-cc makes them from
pipelink/components).
"""

import sys
from pathlib import Path

import pipelink

IR = Path(__file__).with_name("gemm.mlir")
COMPONENTS = {"tma_loader": "sm_90a", "wgmma_mainloop": "sm_90a", "bias_relu": "sm_80", "grouped_tiles": "sm_80"}


def compose(objects: Path) -> pipelink.Kernel:
    """The kernel, from the objects ``tma_loader.o``, ``wgmma_mainloop.o``, ``bias_relu.o`` and ``grouped_tiles.o``."""
    kernel = pipelink.Kernel("gemm", target="sm_90a")
    load = kernel.add(objects / "tma_loader.o", "tma_loader_128x256x64", name="load")
    mma = kernel.add(objects / "wgmma_mainloop.o", "wgmma_mainloop_128x256x64", name="mma")
    epilogue = kernel.add(objects / "bias_relu.o", name="epilogue")
    schedule = kernel.add(objects / "grouped_tiles.o", name="schedule")
    kernel.connect(load.ab, mma.ab)
    kernel.connect(load.work, schedule.next)
    kernel.connect(mma.work, schedule.next)
    kernel.connect(mma.store, epilogue.store)
    return kernel


if __name__ == "__main__":
    linked = compose(Path(sys.argv[1])).link()
    print(linked.map_text)
    linked.save(sys.argv[2])
