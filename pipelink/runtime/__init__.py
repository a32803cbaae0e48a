"""Load and launch linked kernels (``.plk``).

Needs ``cuda-bindings`` and nothing else: no compiler, no MLIR, no objects.  ``load(path)`` gives a callable that
takes tensors and scalars by name, ``load_all(path)`` one for each kernel of a package; docs/runtime.md says what it
accepts.
"""

from pipelink.runtime.kernel import Kernel, load, load_all
from pipelink.runtime.operations import Operation
from pipelink.runtime.package import Package
from pipelink.runtime.program import Program
from pipelink.support.diagnostics import LinkError

__all__ = ["Kernel", "LinkError", "Operation", "Package", "Program", "load", "load_all"]
