"""The CuTe mainloop between PipeLink's loader and epilogue: out = relu(a * b^T + bias), bf16, Hopper.

``python examples/cute_mainloop/link.py OBJECTS OUTPUT.plk``: OBJECTS holds ``tma_loader.o``, ``mainloop.o``,
``bias_relu.o`` and ``grouped_tiles.o``; pl-cc makes the others from pipelink/components, and this folder's one with
``pl-cc --include-cutlass examples/cute_mainloop/mainloop.cu``.
"""

import sys
from pathlib import Path

import pipelink


def compose(objects: Path) -> pipelink.Kernel:
    """The kernel: examples/gemm with another mainloop."""
    kernel = pipelink.Kernel("cute_gemm", target="sm_90a")
    load = kernel.add(objects / "tma_loader.o", "tma_loader_128x256x64", name="load")
    mma = kernel.add(objects / "mainloop.o", name="mma")
    epilogue = kernel.add(objects / "bias_relu.o", name="epilogue")
    schedule = kernel.add(objects / "grouped_tiles.o", name="schedule")
    kernel.connect(load.ab, mma.ab)
    kernel.connect(load.work, schedule.next)
    kernel.connect(mma.work, schedule.next)
    kernel.connect(mma.store, epilogue.store)
    return kernel


if __name__ == "__main__":
    try:
        linked = compose(Path(sys.argv[1])).link()
        linked.save(sys.argv[2])
    except pipelink.LinkError as problem:
        sys.exit(str(problem))
    print(linked.audit)
