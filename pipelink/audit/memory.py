"""The rules of an audit about shared memory that the hardware has wishes about: where a tensor copy of a swizzled tile
begins, and where an mbarrier lies.  And about that of other CTAs of a cluster, whose time nobody looks after.

Addresses are followed to the buffer of ``PL_SMEM`` that they come from and, for mbarriers, through the constants that
are added to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from pipelink.audit.claims import split_symbol
from pipelink.audit.code import Reading
from pipelink.audit.report import Problem, Row, listed
from pipelink.audit.values import number, registers
from pipelink.backend.ptx import Function, Instruction
from pipelink.contract.vocabulary import SWIZZLES
from pipelink.objects.model import Record
from pipelink.target import MBARRIER_BYTES

_DEEPEST: Final = 32  # instructions that an address is followed through
_PEER_ACCESS: Final = frozenset(("ld", "st", "atom", "red"))


def rows(reading: Reading) -> Iterator[Row]:
    """A row for each rule that finds something."""
    found = [*_swizzled(reading), *_mbarriers(reading)]
    if found:
        names = listed(record.name for record, _ in found)
        problems = list(dict.fromkeys(problem for _, problem in found))
        yield reading.row("alignment", "as declared", f"too little: {names}", problems)
    texts = [i.text for _, i in reading.instructions if _reaches_peer(i)]
    if texts and reading.claims.in_cluster:
        message = (
            f"that the other CTAs of the cluster have begun, and have not ended, when {reading.what} reaches into "
        )
        message += "their shared memory is not proved: nothing makes them meet"
        problem = reading.problem("warning", "unproven", message, *texts)
        yield reading.row("peers' memory", "a cluster", "other CTAs' shared memory", [problem])


def _reaches_peer(instruction: Instruction) -> bool:
    """Whether it accesses the shared memory of another CTA, other than by a port's function."""
    parts = instruction.parts
    return parts[:2] == ("st", "async") or (parts[0] in _PEER_ACCESS and "shared::cluster" in parts)


def _buffers(reading: Reading, function: Function, operand: str) -> list[Record]:
    """The buffers that an address comes from."""
    found: list[Record] = []
    for leaf in sorted(reading.origins.leaves(function.name, operand)):
        use = split_symbol(leaf.removeprefix("call ")) if leaf.startswith("call ") else None
        known = reading.resource(use) if use is not None else None
        if known is not None and known[0] == "smem":
            found.append(known[1])
    return found


def _alignment(record: Record) -> int:
    align = record.values.get("align")
    return align if isinstance(align, int) else 1


def _swizzled(reading: Reading) -> Iterator[tuple[Record, Problem]]:
    """Tensor copies of swizzled tiles: the pattern repeats every 256, 512 or 1024 bytes (CUtensorMap)."""
    for function, instruction in reading.instructions:
        if instruction.parts[:4] != ("cp", "async", "bulk", "tensor"):
            continue
        needed = max((_repeat(reading, function, operand) for operand in instruction.operands), default=1)
        for operand in instruction.operands:
            for record in _buffers(reading, function, operand):
                if _alignment(record) < needed:
                    message = f"{reading.what} copies swizzled tiles from or to '{record.name}', which is aligned to "
                    message += f"{_alignment(record)} bytes, and their pattern repeats every {needed}"
                    hint = f"pl::align<{needed}>"
                    said = reading.problem("error", "bad-alignment", message, instruction.text, hint=hint, at=record)
                    yield record, said


def _repeat(reading: Reading, function: Function, operand: str) -> int:
    """The bytes after which the swizzle of a copy's map repeats; 1 of other operands."""
    found = 1
    for register in registers(operand):
        for choice in reading.origins.choices(function.name, register):
            use = split_symbol(choice.removeprefix("call "))
            known = reading.resource(use) if use is not None else None
            tile: Any = known[1].values.get("tile") if known is not None and known[0] == "param" else None
            swizzle = SWIZZLES.get(str(tile.get("layout"))) if tile else None
            found = max(found, swizzle.repeat_bytes if swizzle is not None else 1)
    return found


def _mbarriers(reading: Reading) -> Iterator[tuple[Record, Problem]]:
    """An mbarrier is an aligned object of 8 bytes (PTX ISA, mbarrier)."""
    for function, instruction in reading.instructions:
        if instruction.parts[0] != "mbarrier" or instruction.parts[1] != "init":
            continue
        address = instruction.operands[0]
        for record in _buffers(reading, function, address):
            aligned = math.gcd(_alignment(record), _multiple(_Makers(function), address))
            if aligned % MBARRIER_BYTES:
                message = (
                    f"{reading.what} has an mbarrier in '{record.name}' at a multiple of {aligned} bytes, and one "
                )
                message += f"lies at a multiple of {MBARRIER_BYTES}"
                hint = "declare a PL_MBARRIER, or align the buffer and the mbarrier in it"
                said = reading.problem("error", "bad-alignment", message, instruction.text, hint=hint, at=record)
                yield record, said


class _Makers:
    """Which instruction makes each register of a function, where only one does."""

    def __init__(self, function: Function) -> None:
        self.of: dict[str, Instruction | None] = {}
        for instruction in function.instructions:
            made = instruction.result if instruction.callee else next(iter(instruction.operands), "")
            if made.startswith("%"):
                self.of[made] = None if made in self.of else instruction


def _multiple(makers: _Makers, operand: str, depth: int = 0) -> int:
    """What the bytes that are added to a buffer's address are a multiple of; 0 where none are added."""
    value = number(operand.strip("[] "))
    if value is not None:
        return abs(value)
    base, plus, offset = operand.strip("[] ").partition("+")
    if plus:
        return math.gcd(_multiple(makers, base.strip(), depth), abs(number(offset.strip()) or 0))
    made = makers.of.get(base)
    if made is None or depth > _DEEPEST:
        return 1
    if made.callee:
        return 0
    given = [_multiple(makers, one, depth + 1) for one in made.operands[1:]]
    match made.parts[0]:
        case "mov" | "cvt" | "cvta":
            return given[0]
        case "add" | "sub" | "or":
            return math.gcd(*given)
        case "mul":
            return given[0] * given[1]
        case "mad":
            return math.gcd(given[0] * given[1], given[2])
        case "shl":
            shift = number(made.operands[2])
            return given[0] << shift if shift is not None and shift < 32 else 1
        case _:
            return 1
