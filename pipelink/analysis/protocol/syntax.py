"""The parts of a protocol, as analyses take them; :mod:`pipelink.ir.protocol` declares them."""

from pipelink.ir.protocol import (
    Action,
    Block,
    Callers,
    Choose,
    Fence,
    Protocol,
    Rank,
    Repeat,
    Step,
    Unit,
    Until,
)

__all__ = [
    "Action",
    "Block",
    "Callers",
    "Choose",
    "Fence",
    "Protocol",
    "Rank",
    "Repeat",
    "Step",
    "Unit",
    "Until",
]
