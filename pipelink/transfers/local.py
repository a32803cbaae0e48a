"""A ring that one role fills and reads itself (``local.cu``), such as cp.async's: it belongs to a port, not to a
connection.  The depth of the wait group follows from the placed ring, and the role meets at a named barrier."""

from __future__ import annotations

from typing import ClassVar

from pipelink.ir.placement import LocalRing
from pipelink.ir.views import Instance, Port
from pipelink.model.binding import Const, CursorPointer, Instruction, Invoke, Linear, Result, Return
from pipelink.transfers.base import Refusal, Transfer
from pipelink.transfers.binder import Binder


class RingLocal(Transfer):
    """Both ends in one role."""

    name: ClassVar[str] = "ring.local"
    kind: ClassVar[str] = "stream"
    sources: ClassVar[tuple[str, ...] | None] = ("local.cu",)

    def refusal(self, source: Port, target: Port) -> Refusal | None:
        return Refusal("it stays inside one role", near=False)

    def bind_port(self, binder: Binder, instance: Instance, port: Port, placed: LocalRing) -> None:
        """Define the functions of a port that fills and reads a ring."""
        stages = Const(placed.stages)
        slots = [Linear(part.address, part.stride, "stage") for part in placed.buffers]
        binder.slots(instance, port, placed.stages, [*slots])

        def take(cursor: int) -> Invoke:
            return Invoke("pl_local_take", (CursorPointer(cursor), stages), "stage", "unsigned")

        binder.function(instance, port, "pl_acquire", take(placed.producer_cursor), Return(Result("stage")))
        binder.function(instance, port, "pl_commit", Invoke("pl_local_commit", ()), Return())
        meeting = (Const(placed.barrier.id), Const(placed.barrier.threads))
        binder.waiting(
            instance,
            port,
            "pl_wait",
            Instruction(f"cp.async.wait_group {max(placed.stages - 2, 0)};"),
            Invoke("pl_local_meet", meeting),
            take(placed.consumer_cursor),
            then=(Return(Result("stage")),),
        )
        binder.function(instance, port, "pl_release", Return())
