"""What a debug link's calls of the driver, printf and assert, need: which there are, and how much stack.

Input: PTX of the linked kernel.  Output: a :class:`Printing`.  printf hands its arguments over in local memory, at an
offset of the kernel's stack pointer ``%SP``; what is stored there, through the same address in the local space, is as
large as the arguments are.  Machine code calls through registers, so that callees are known here alone.  Source: CUDA
C++ Programming Guide, formatted output; PTX as libNVVM writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pipelink.audit.values import number
from pipelink.backend import ptx

#: What the driver defines for every kernel: the function, and what sources call it.
DRIVER_CALLS: Final = {"vprintf": "printf", "__assertfail": "assert"}
_ADDRESS: Final = re.compile(r"\[\s*(%\w+)\s*(?:\+\s*(-?\d+))?\s*\]")
_WIDTH: Final = re.compile(r"[a-z](\d+)$")
_FRAME: Final = re.compile(r"\.local\s+\.align\s+(\d+)\s+\.b8\s+__local_depot")  # the whole, and its alignment
_ALIGN: Final = 8  # of a printf's arguments


@dataclass(frozen=True)
class Printing:
    """``callees``: how often each function of the driver is called, as sources call it; ``others``: further callees.
    ``stack_bytes``: what the arguments need."""

    callees: tuple[tuple[str, int], ...]
    others: tuple[str, ...]
    stack_bytes: int

    def __str__(self) -> str:
        return ", ".join(f"{count} of {name}" for name, count in self.callees)


def read(text: str, kernel: str) -> Printing:
    """What ``kernel`` calls."""
    counts: dict[str, int] = {}
    others: list[str] = []
    buffers: dict[int, int] = {}  # the bytes stored at each offset that printf is given
    for function in ptx.parse(text).reachable(kernel):
        offsets = _offsets(function.instructions)
        for instruction in function.instructions:
            if instruction.callee in DRIVER_CALLS:
                name = DRIVER_CALLS[instruction.callee]
                counts[name] = counts.get(name, 0) + 1
                if name == "printf" and len(instruction.arguments) > 1:
                    at = offsets.get(instruction.arguments[1])
                    buffers |= {at: 0} if at is not None else {}
            elif instruction.callee:
                others.append(instruction.callee)
        for begin, size in _stores(function.instructions, offsets):
            owner = max((at for at in buffers if at <= begin), default=None)
            if owner is not None:
                buffers[owner] = max(buffers[owner], begin - owner + size)
    stack = sum(-(-size // _ALIGN) * _ALIGN for size in buffers.values())
    frame = max(map(int, _FRAME.findall(text)), default=_ALIGN)
    stack = -(-stack // frame) * frame
    return Printing(tuple(sorted(counts.items())), tuple(dict.fromkeys(others)), stack)


def _offsets(instructions: Iterable[ptx.Instruction]) -> dict[str, int]:
    """The registers that hold an address at a fixed offset of the stack's base."""
    found: dict[str, int] = {"%SP": 0, "%SPL": 0}  # the base of the stack, as a generic and as a local address
    for instruction in instructions:
        operands = instruction.operands
        match instruction.parts[0], operands:
            case ("add", (result, base, added)) if base in found and (offset := number(added)) is not None:
                found[result] = found[base] + offset
            case ("mov" | "cvta", (result, base)) if base in found:
                found[result] = found[base]
            case _:
                pass
    return found


def _stores(instructions: Iterable[ptx.Instruction], offsets: dict[str, int]) -> Iterable[tuple[int, int]]:
    """Offset and bytes of each store to local memory at a fixed place."""
    for instruction in instructions:
        parts = instruction.parts
        if parts[:2] != ("st", "local") or not (address := _ADDRESS.match(instruction.operands[0])):
            continue
        width = _WIDTH.search(parts[-1])
        if address[1] in offsets and width:
            many = next((int(part[1:]) for part in parts if part in ("v2", "v4")), 1)
            yield offsets[address[1]] + int(address[2] or 0), many * int(width[1]) // 8
