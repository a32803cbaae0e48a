"""The parts of a protocol, as analyses take them; :mod:`pipelink.support.protocol` declares them."""

from pipelink.support.protocol import (
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
