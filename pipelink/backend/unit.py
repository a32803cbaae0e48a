"""One translation unit compiled for a target: what a link is compared with.

NVRTC translates through another LLVM from compute_100 on, which orders instructions differently.  Where a link consists
of images made for older architectures, its unit is compiled for the newest of those and then linked for the target, so
that both pass through the same stages; otherwise NVRTC makes the cubin.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pipelink.backend import nvjitlink, toolchain
from pipelink.target import parse_arch

_NEW_FRONT_END: Final = 100  # compute capability from which NVRTC and libNVVM use a newer LLVM (nvvmLLVMVersion)


def _is_new(arch: str) -> bool:
    return (parse_arch(arch) or (0, ""))[0] >= _NEW_FRONT_END


def compile_unit(
    source: str,
    name: str,
    target: str,
    image_arch: str,
    *,
    include_dirs: Sequence[Path] = (),
    options: Sequence[str] = (),
) -> bytes:
    """The cubin of CUDA C++ for ``target`` (``sm_120a``); ``image_arch`` is the newest architecture among the images of
    the link that it is compared with.  Raises LinkError ``compile-error`` or what ``nvjitlink.link`` raises."""
    if _is_new(target) == _is_new(image_arch):
        return toolchain.compile_cubin(source, name, target, include_dirs=include_dirs, options=options)
    code = toolchain.compile_ltoir(source, name, image_arch, include_dirs=include_dirs, options=options)
    return nvjitlink.link([nvjitlink.Image(name, code)], target).data
