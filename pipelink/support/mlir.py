"""The one place that names the provider of the upstream MLIR Python bindings.

Every other Python module writes ``from pipelink.support.mlir import ir``; a different wheel that offers the same
API (torch-mlir, numba-cuda-mlir) is a change here and in what is installed only.
"""

from pipelink.support.diagnostics import error

try:
    from mlir import ir
    from mlir.dialects import irdl
except ModuleNotFoundError as problem:
    raise error(
        "toolchain-missing",
        f"the MLIR bindings are not installed: {problem}",
        hint="pip install 'pipelink[compiler]'; without it only pipelink.runtime works",
    ) from problem

#: Raised by the bindings' parser and verifier; carries ``error_diagnostics``.  The bindings' stubs lack it.
MLIRError: type[Exception] = ir.MLIRError  # pyright: ignore[reportAttributeAccessIssue]

__all__ = ["MLIRError", "ir", "irdl"]
