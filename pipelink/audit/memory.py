"""The rules of an audit about shared memory that the hardware has wishes about: where copies, matrix instructions and
wide accesses begin, and where an mbarrier lies.  And about that of other CTAs of a cluster, whose time nobody looks
after.

Addresses are followed to the buffer of ``PL_SMEM`` that they come from, through what is added to it.  Code that aligns
an address itself, by a mask, is believed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pipelink.audit.claims import split_symbol
from pipelink.audit.code import Reading
from pipelink.audit.report import Problem, Row, listed
from pipelink.audit.values import PEER, number, registers
from pipelink.backend.ptx import Function, Instruction
from pipelink.contract.vocabulary import SWIZZLES
from pipelink.objects.model import Record
from pipelink.target import MBARRIER_BYTES

_ACCESSES: Final = frozenset(("ld", "st", "atom", "red"))
_TENSOR_COPY: Final = 128  # bytes, PTX ISA, cp.async.bulk.tensor: a tile in shared memory
_MATRIX_ROW: Final = 16  # bytes, PTX ISA: a row of ldmatrix, a bulk copy, the unit of a matrix descriptor's address
_DESCRIPTOR: Final = {1: 1024, 2: 512, 3: 256}  # bytes after which the swizzle of a matrix descriptor repeats
_DEEPEST: Final = 32  # instructions that an address is followed through
_PEER_ACCESS: Final = frozenset(("ld", "st", "atom", "red"))
_SPACES: Final = ("shared", "global", "local", "param", "const")


def rows(reading: Reading) -> Iterator[Row]:
    """A row for each rule that finds something."""
    found = [*_aligned(reading), *_mbarriers(reading)]
    if found:
        names = listed(record.name for record, _ in found)
        problems = list(dict.fromkeys(problem for _, problem in found))
        yield reading.row("alignment", "as declared", f"too little: {names}", problems)
    if reading.claims.in_cluster:
        yield from _peers(reading)


# ---------------------------------------------------------------------------------------------- peers' memory
def reaches_peer(reading: Reading, function: str, instruction: Instruction) -> bool:
    """Whether it accesses the shared memory of another CTA, other than by a port's function."""
    parts = instruction.parts
    if parts[0] == "cp":  # from shared memory to that of a cluster, or to several CTAs of it
        return {"shared::cluster", "shared::cta"} <= {*parts} or "multicast::cluster" in parts
    if parts[0] not in _PEER_ACCESS:
        return parts[0] == "mbarrier" and "shared::cluster" in parts
    if parts[1:2] == ("async",) or "shared::cluster" in parts:
        return True
    generic = not any(part.startswith(_SPACES) for part in parts[1:])
    return generic and any(
        PEER in reading.origins.leaves(function, operand) for operand in instruction.operands if operand[:1] == "["
    )


def peer_verb(instruction: Instruction) -> str:
    """What a protocol calls such an access; nothing for what goes on after the instruction: no meeting ends it."""
    parts = instruction.parts
    if parts[0] not in _PEER_ACCESS or "async" in parts:
        return ""
    return "peer_read" if parts[0] == "ld" else "peer_write"


def _peers(reading: Reading) -> Iterator[Row]:
    """Accesses to other CTAs' memory that no step of a protocol can be: of the others ``steps`` takes care."""
    texts: dict[str, list[str]] = {}
    for function, instruction in reading.instructions:
        if not reaches_peer(reading, function.name, instruction):
            continue
        addresses = [operand for operand in instruction.operands if operand.startswith("[")]
        if not peer_verb(instruction):
            why = "it goes on by itself, or arrives at an mbarrier there, for which protocols have no word"
        elif not any(_buffers(reading, function, operand) for operand in addresses):
            why = "in which buffer of PL_SMEM is not known"
        else:
            continue
        texts.setdefault(why, []).append(instruction.text)
    if not texts:
        return
    message = f"that the other CTAs of the cluster are ready for what {reading.what} does in their shared memory is "
    hint = "say peer_read or peer_write of a PL_SMEM, and meet at a PL_CLUSTER_BARRIER"
    problems = [
        reading.problem("warning", "unproven", f"{message}not proved: {why}", *found, hint=hint)
        for why, found in texts.items()
    ]
    yield reading.row("peers' memory", "a cluster", "other CTAs' shared memory", problems)


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


def _aligned(reading: Reading) -> Iterator[tuple[Record, Problem]]:
    """Accesses to buffers that begin at a multiple of their size, or of what instruction or swizzle ask for."""
    makers: dict[str, _Makers] = {}
    for function, instruction in reading.instructions:
        does, needed, operands = _wishes(reading, function, instruction)
        for operand in operands if needed > 1 else ():
            for record in _buffers(reading, function, operand):
                made = makers.setdefault(function.name, _Makers(function))
                beyond = _beyond(made, operand, needed)
                if made.masked(operand) or not (_alignment(record) % needed or beyond):
                    continue
                where = f"{beyond} bytes behind a multiple of {needed}" if _alignment(record) % needed == 0 else ""
                lies = f" {where}" if where else f", which is aligned to {_alignment(record)} bytes"
                because = f", and their pattern repeats every {needed}" if "swizzled" in does else f", not to {needed}"
                message = f"{reading.what} {does} '{record.name}'{lies}{'' if where else because}"
                place = f", and a multiple of {needed} as the place in it" if beyond else ""
                hint = f"pl::align<{needed}>{place}"
                said = reading.problem("error", "bad-alignment", message, instruction.text, hint=hint, at=record)
                yield record, said


def _wishes(reading: Reading, function: Function, instruction: Instruction) -> tuple[str, int, list[str]]:
    """What an instruction does, what the addresses have to be multiples of, and which operands have them."""
    parts = instruction.parts
    places = [operand for operand in instruction.operands if operand.startswith("[")]
    if parts[:4] == ("cp", "async", "bulk", "tensor"):
        repeat = max((_repeat(reading, function, operand) for operand in instruction.operands), default=1)
        return ("copies swizzled tiles from or to", repeat, places) if repeat > 1 else (
            "copies tiles from or to", _TENSOR_COPY, places
        )  # fmt: skip
    if parts[:3] == ("cp", "async", "bulk"):
        return "copies bytes from or to", _MATRIX_ROW, places
    if parts[:2] == ("cp", "async") and len(instruction.operands) > 2:
        return "copies bytes to", number(instruction.operands[2]) or 1, places[:1]
    if parts[0] in ("ldmatrix", "stmatrix"):
        return "moves rows of matrices from or to", _MATRIX_ROW, places
    if parts[:2] == ("wgmma", "mma_async"):
        descriptors = [operand for operand in instruction.operands if operand.startswith("%rd")]
        numbers = [int(leaf[1:]) for one in descriptors for leaf in reading.origins.leaves(function.name, one)
                   if leaf.startswith("#")]  # fmt: skip
        modes = {(value >> 62) & 3 for value in numbers}
        needed = max((_DESCRIPTOR.get(mode, _MATRIX_ROW) for mode in modes), default=_MATRIX_ROW)
        return ("multiplies swizzled tiles of" if needed > _MATRIX_ROW else "multiplies tiles of"), needed, descriptors
    if parts[0] in _ACCESSES and not {"param", "local", "global", "const"} & set(parts):
        vector = next((int(part[1:]) for part in parts if part in ("v2", "v4", "v8")), 1)
        bits = parts[-1].lstrip("bsuf")
        needed = vector * (int(bits) if bits.isdigit() else 8) // 8
        return f"accesses {needed} bytes at once in", needed, places[:1]
    return "", 1, []


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

    def masked(self, operand: str) -> bool:
        """Whether a mask may align an address: all of it is followed, through every instruction."""
        open_, seen = list(registers(operand)), set[str]()
        while open_:
            made = self.of.get(register := open_.pop())
            if register in seen:
                continue
            seen.add(register)
            if made is None or made.callee:
                continue
            if made.parts[0] == "and" and (number(made.operands[-1]) or 0) < 0:
                return True
            open_ += [r for one in made.operands[1:] for r in registers(one)]
        return False


def _beyond(makers: _Makers, operand: str, needed: int, depth: int = 0) -> int:
    """How far behind a multiple of ``needed`` a place in a buffer is; 0 where it is one, or that is not known."""
    value = number(operand.strip("[] "))
    if value is not None:
        return value % needed
    base, plus, offset = operand.strip("[] ").partition("+")
    if plus:
        return _together(makers, (base.strip(), offset.strip()), needed, depth)
    made = makers.of.get(base)
    if made is None or depth > _DEEPEST or made.callee:
        return 0
    match made.parts[0]:
        case "mov" | "cvt" | "cvta":
            return _beyond(makers, made.operands[1], needed, depth + 1)
        case "add":
            return _together(makers, made.operands[1:3], needed, depth)
        case _:
            return 0


def _together(makers: _Makers, operands: Sequence[str], needed: int, depth: int) -> int:
    """The same of a sum: of what is no number, or a sum, the rest has to be a multiple for anything to be known."""
    for one in operands:
        made = makers.of.get(one.strip("[] "))
        sums = made is not None and (bool(made.callee) or made.parts[0] in ("mov", "cvt", "cvta", "add"))
        if number(one) is None and not sums and _multiple(makers, one, depth + 1) % needed:
            return 0
    return sum(_beyond(makers, one, needed, depth + 1) for one in operands) % needed


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
