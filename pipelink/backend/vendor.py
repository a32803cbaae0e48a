"""NVIDIA's compiler libraries, imported when they are first used: their Python modules have no type information, and a
wheel may be missing on a machine that only checks contracts."""

from __future__ import annotations

import importlib
from typing import Any

from pipelink.support.diagnostics import error

_WHEELS = {"nvvm": "nvidia-nvvm", "nvjitlink": "nvidia-nvjitlink"}


def load(name: str) -> Any:
    """``cuda.bindings.<name>``.  LinkError ``toolchain-missing`` where it or its library is not installed."""
    try:
        module = importlib.import_module(f"cuda.bindings.{name}")
        module.version()
    except (ImportError, RuntimeError) as problem:
        raise error(
            "toolchain-missing",
            f"{name} cannot be loaded: {problem}",
            hint=f"pip install cuda-bindings {_WHEELS[name]}",
        ) from problem
    return module
