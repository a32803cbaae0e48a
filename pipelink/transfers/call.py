"""Calls: the same threads, values in registers.  The linker alone makes them."""

from __future__ import annotations

from typing import ClassVar

from pipelink.contract.abi import function, mangle
from pipelink.ir.views import Connect, Port
from pipelink.model.binding import Arg, Const, Invoke, Return
from pipelink.transfers.base import Transfer
from pipelink.transfers.binder import Binder, placed_instance


class Call(Transfer):
    """The caller's function calls the answer, with the answering instance's id."""

    name: ClassVar[str] = "call"
    kind: ClassVar[str] = "call"
    sources: ClassVar[tuple[str, ...] | None] = ()

    def misfit(self, source: Port, target: Port) -> str | None:
        if source.signature != target.signature:
            return f"the signatures differ: {source.signature} is called, {target.signature} answers"
        return None

    def bind(self, binder: Binder, connect: Connect) -> None:
        caller, answer = binder.instance(connect.source), binder.instance(connect.target)
        port = binder.port(connect.target)
        found = function(port.kind, port.direction, "pl_answer")
        callee = (binder.path(answer, port), found.name, found.codes)
        arguments = (Const(placed_instance(answer).id), Arg("frame"), Arg("pack"))
        invoke = Invoke(mangle(*callee), arguments, member=callee)
        binder.function(caller, binder.port(connect.source), "pl_call", invoke, Return())
