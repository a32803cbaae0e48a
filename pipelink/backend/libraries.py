"""NVIDIA's compiler libraries, imported when they are first used: their Python modules have no type information, and a
wheel may be missing on a machine that only checks contracts."""

from __future__ import annotations

import importlib
from typing import Any, Final, Literal

from pipelink.support import memory
from pipelink.support.diagnostics import error

#: What each is called, the function that loads the library itself, and its wheel.
_LIBRARIES: Final = {
    "nvrtc": ("NVRTC", "nvrtcVersion", "nvidia-cuda-nvrtc"),
    "nvvm": ("libNVVM", "version", "nvidia-nvvm"),
    "nvjitlink": ("nvJitLink", "version", "nvidia-nvjitlink"),
}


def load(name: Literal["nvrtc", "nvvm", "nvjitlink"]) -> Any:
    """``cuda.bindings.<name>``.  LinkError ``toolchain-missing`` where it or its library is not installed.
    From here on a command's process has the memory of compilers."""
    title, function, wheel = _LIBRARIES[name]
    memory.for_compilers()
    try:
        module = importlib.import_module(f"cuda.bindings.{name}")
        getattr(module, function)()
    except (ImportError, RuntimeError) as problem:
        hint = f"pip install cuda-bindings {wheel}"
        raise error("toolchain-missing", f"{title} cannot be loaded: {problem}", hint=hint) from problem
    return module
