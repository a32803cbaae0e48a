"""``transfer``: binds each port to its transfer with placed constants."""

from __future__ import annotations

from dataclasses import dataclass

from pipelink.analysis.bind import bind_all
from pipelink.analysis.binding import Definition, Frame
from pipelink.ir.views import Kernel, program
from pipelink.passes.codegen import insert, layout_frame, write_definition
from pipelink.support.diagnostics import Diagnostics
from pipelink.support.mlir import ir


def emit(kernel: Kernel, definitions: tuple[Definition, ...], frame: Frame) -> None:
    """Write ``definitions`` into the kernel's module."""
    layout = layout_frame(frame)
    texts: list[str] = []
    declarations: dict[str, str] = {}
    for definition in definitions:
        text, needed = write_definition(definition, layout)
        texts.append(text)
        declarations |= needed
    insert(kernel.op, texts, declarations)


@dataclass(frozen=True)
class TransferPass:
    """Defines the functions through which components use their ports.

    Before: every kernel is placed.  After: the kernel's module defines every port function of its instances
    (``pl_acquire``, ``pl_wait``, ``pl_call``, …) as a forwarder to the transfer's own function, with the placed
    addresses, depths, counts and immediates; a function of a component with several instances switches over their ids.
    Rejects: ``not-placed``, ``transfer-without-code``.

    Example: ``"pipelink.connect"() {placement = {transfer = "ring.tma", stages = 4, …}, …}`` becomes
    ``llvm.func @_ZN4acme6loader2ab10pl_acquireEiPv`` that calls ``@pl_ring_acquire(%cursor, 1056, 1024, 4, 49152, 0)``.
    """

    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        for kernel, binding in bind_all(program(module), diagnostics):
            emit(kernel, binding.ports, binding.frame)
