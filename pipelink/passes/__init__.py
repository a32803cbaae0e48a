"""The passes of PipeLink, in one literal table, and the pipelines made of them.

A pass is a frozen dataclass: its fields are its options (``metadata={"help": …}`` documents one), its method
``apply(module, diagnostics)`` transforms a ``builtin.module`` operation that holds component and kernel modules, in
place.  Passes are imported when a pipeline names them; embedders hand tables of their own to ``parse_pipeline``.

The usual order, and what holds after each line:

======== ===========================================================================================================
check    contracts fit: ports connected, transfers legal (``legal`` on each connect), requirements met, arches linkable
place    every resource of every instance has its place (``placement``), the launch contract is resolved
prove    the roles cannot hang, race or miscount, by their protocols and the placement; the IR is unchanged
transfer each port is bound to its transfer: ``llvm.func`` definitions with placed constants
fold     accessors return placed constants, parameters bound at link time are values
entry    the kernel function exists (``nvvm.kernel``); the kernel is plain llvm/nvvm dialect
======== ===========================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from pipelink.support.diagnostics import Diagnostics
    from pipelink.support.mlir import ir


class Pass(Protocol):
    """What every pass offers; its options are dataclass fields.  A pass that leaves the IR as it was says so with a
    class variable ``only_reads = True``, and is not followed by the verifiers."""

    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        """Transform ``module`` in place; report to ``diagnostics`` or raise LinkError."""
        ...


@dataclass(frozen=True)
class PassInfo:
    """A row of the table: the name in pipelines, ``module:Class``, and one line for ``--help``."""

    name: str
    path: str
    summary: str

    def load(self) -> type[Any]:
        """Import the pass."""
        module, _, name = self.path.partition(":")
        return cast("type[Any]", getattr(import_module(module), name))


PASSES: tuple[PassInfo, ...] = (
    PassInfo("check", "pipelink.passes.check:CheckPass", "check that the contracts of connected components fit"),
    PassInfo("place", "pipelink.passes.place:PlacePass", "place every instance's resources on the SM, jointly"),
    PassInfo("prove", "pipelink.passes.prove:ProvePass", "prove that the placed roles cannot hang or race"),
    PassInfo("transfer", "pipelink.passes.transfer:TransferPass", "bind each port to its transfer"),
    PassInfo("fold", "pipelink.passes.fold:FoldPass", "turn accessors into placed constants"),
    PassInfo("entry", "pipelink.passes.entry:EntryPass", "make the kernel function"),
)

PIPELINES: dict[str, tuple[str, ...]] = {
    "fuse": ("prove", "transfer", "fold", "entry"),
}
