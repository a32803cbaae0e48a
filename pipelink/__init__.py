"""PipeLink links GPU kernel components: separately compiled pieces become one kernel.

``Kernel`` composes and links (docs/architecture.md), ``runtime.load`` launches what was linked (docs/runtime.md).
Nothing is imported before it is used, so that the runtime costs no compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipelink import objects, runtime
    from pipelink.api import Instance, Kernel, Linked, save
    from pipelink.support.diagnostics import LinkError

__all__ = ["Instance", "Kernel", "LinkError", "Linked", "objects", "runtime", "save"]

_HOMES = {
    "Instance": "pipelink.api",
    "Kernel": "pipelink.api",
    "Linked": "pipelink.api",
    "LinkError": "pipelink.support.diagnostics",
    "save": "pipelink.api",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"pipelink.{name}")
    raise AttributeError(f"module 'pipelink' has no attribute '{name}'")
