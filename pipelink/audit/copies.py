"""Which tensor maps a component's code copies with, and with how many coordinates.

A copy of one dimension through a map of two is an illegal instruction, or reads elsewhere: the rank of a map is that of
the tensor which the kernel binds, so only the link can hold the two against each other.  Input: the code of a role or
answer.  Output: parameters with ranks, of the port's copies and of TMA instructions that the component writes itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from pipelink.audit.claims import split_symbol
from pipelink.audit.code import Reading
from pipelink.audit.report import Copy
from pipelink.backend.ptx import Function, Instruction
from pipelink.contract.abi import FIRST, RESOURCES

_SUFFIX: Final = RESOURCES["param"].suffix
#: Where the map stands among the arguments of a port's copy, by the function's name.
_MAP: Final = {
    copy.name.removeprefix("pl_"): len(FIRST) + [name for name, _ in copy.arguments].index("map")
    for copy in RESOURCES["stream out"].functions.values() if "map" in dict(copy.arguments)
}  # fmt: skip
_RANK: Final = re.compile(r"([1-5])d$")


def copies(readings: Iterable[Reading]) -> list[Copy]:
    """Every copy whose map can be followed to a parameter."""
    found: set[Copy] = set()
    for reading in readings:
        for function, instruction in reading.instructions:
            for rank, operand in _copied(instruction):
                found |= {Copy(component, name, rank) for component, name in _parameters(reading, function, operand)}
    return sorted(found)


def _copied(instruction: Instruction) -> Iterator[tuple[int, str]]:
    """The rank of a copy, and the operand that is its map."""
    use = split_symbol(instruction.callee) if instruction.callee else None
    if use is not None and use.function in _MAP:
        yield int(use.function[-1]), instruction.arguments[_MAP[use.function]]
    elif "tensor" in instruction.parts and "bulk" in instruction.parts:
        ranks = [int(found[1]) for part in instruction.parts if (found := _RANK.match(part))]
        for rank in ranks[:1]:
            yield from (
                (rank, operand) for operand in instruction.operands if operand.startswith("[") and "(" in operand
            )


def _parameters(reading: Reading, function: Function, operand: str) -> Iterator[tuple[str, str]]:
    for leaf in reading.origins.leaves(function.name, operand.partition("(")[0]):
        use = split_symbol(leaf.removeprefix("call "))
        if use is not None and use.function == "address" and use.resource.endswith(_SUFFIX):
            yield use.component.replace("::", "."), use.resource.removesuffix(_SUFFIX)
