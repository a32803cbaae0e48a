"""The IR: dialect ``pipelink`` on upstream MLIR, its vocabulary, typed views, verifier and builder.

>>> module = parse(Path("gemm.mlir"))          # LinkError with located diagnostics where it is wrong
>>> verify(module.operation)                   # what MLIR's own verifier cannot say
>>> program(module).kernels[0].connects        # typed views
"""

from pipelink.ir.attributes import Opaque, SymbolRef, to_attribute, to_python
from pipelink.ir.dialect import load_dialect, new_context, parse
from pipelink.ir.verify import verify
from pipelink.ir.views import Component, Kernel, Port, Program, Tile, program

__all__ = [
    "Component",
    "Kernel",
    "Opaque",
    "Port",
    "Program",
    "SymbolRef",
    "Tile",
    "load_dialect",
    "new_context",
    "parse",
    "program",
    "to_attribute",
    "to_python",
    "verify",
]
