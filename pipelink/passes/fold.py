"""``fold``: resource accessors become placed constants, and parameters fields of the frame."""

from __future__ import annotations

from dataclasses import dataclass

from pipelink.analysis.bind import bind_all
from pipelink.ir.views import program
from pipelink.passes.transfer import emit
from pipelink.support.diagnostics import Diagnostics
from pipelink.support.mlir import ir


@dataclass(frozen=True)
class FoldPass:
    """Defines the functions through which components name their resources.

    Before: every kernel is placed.  After: the kernel's module defines ``pl_first_thread`` of every role,
    ``pl_address`` of shared memory, states and parameters, ``pl_id`` and ``pl_threads`` of named barriers; each
    returns a constant or an address in the frame, which link-time optimisation turns into immediates and registers.
    Rejects: ``not-placed``, ``transfer-without-code``.

    Example: ``placement = {smem = {scratch = 67584}}`` becomes ``llvm.func @_ZN…scratch_smem10pl_addressEiPv`` that
    returns 67584.
    """

    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        for kernel, binding in bind_all(program(module), diagnostics):
            emit(kernel, binding.accessors, binding.frame)
