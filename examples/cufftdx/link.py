"""Transforms by cuFFTDx inside of a linked kernel: out[n] = fft(in[n]), rows of eight complex numbers.

``python examples/cufftdx/link.py FFT.o OUTPUT.plk``: ``pl-cc examples/cufftdx/fft.cu --arch sm_80 -o FFT.o`` makes the
component; the transform is made here, by the wheel ``nvidia-libmathdx-cu13``, and never becomes a file.
"""

import sys
from pathlib import Path

import device

import pipelink


def compose(component: Path) -> pipelink.Kernel:
    """The kernel: one component, and the helper that it calls."""
    kernel = pipelink.Kernel("fft8_rows", target="sm_90a")
    kernel.add(component, name="fft")
    kernel.helpers(device.transform("fft8", 8))
    return kernel


if __name__ == "__main__":
    try:
        linked = compose(Path(sys.argv[1])).link()
        linked.save(sys.argv[2])
    except (OSError, RuntimeError, pipelink.LinkError) as problem:
        sys.exit(str(problem))
    print(linked.audit)
