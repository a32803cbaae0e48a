"""``transfer``: binds each port to its transfer with placed constants."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelink.analysis.bind import bind_all
from pipelink.analysis.watch import instrument
from pipelink.ir.views import Kernel, program
from pipelink.model.binding import Definition, Frame
from pipelink.passes.codegen import insert, layout_frame, write_definition
from pipelink.support.diagnostics import Diagnostics
from pipelink.support.mlir import ir

MAX_LIMIT = 600_000  # milliseconds of --debug-hangs


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

    With ``debug-hangs`` or ``timeline``, the functions also say where they wait, and the launch contract has ``debug``,
    which tells the runtime what to make of it; later passes and the link follow that.

    Example: ``"pipelink.connect"() {placement = {transfer = "ring.tma", stages = 4, …}, …}`` becomes
    ``llvm.func @_ZN4acme6loader2ab10pl_acquireEiPv`` that calls ``@pl_ring_acquire(%cursor, 1056, 1024, 4, 49152, 0)``.
    """

    debug_hangs: int = field(default=0, metadata={"help": "milliseconds that a wait may take; 0: no limit"})
    timeline: bool = field(default=False, metadata={"help": "note when each role waits"})

    def __post_init__(self) -> None:
        if not 0 <= self.debug_hangs <= MAX_LIMIT:
            raise ValueError(f"debug-hangs is 0 to {MAX_LIMIT} milliseconds, not {self.debug_hangs}")

    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        if self.debug_hangs or self.timeline:
            views = program(module)
            for kernel in views.kernels:
                if not kernel.fused:
                    instrument(views, kernel, self.debug_hangs, self.timeline)
        for kernel, binding in bind_all(program(module), diagnostics):
            emit(kernel, binding.ports, binding.frame)
