"""Does code depend on where the linker puts a role, or on how large the kernel is?

A role's first thread F is a multiple of its alignment A, and %tid.x is F plus the thread's number in the role; so every
integer is r * F + something that the placement does not touch, and :func:`placement_uses` carries r through the
arithmetic.  A mask, shift or division that removes r * F exactly is fine, as are differences and comparisons of values
with one r: ``role::thread``, ``threadIdx.x % 32``, and ``/ 32 % 4`` where A is 128.  Any other use of r != 0 depends on
the placement.  Division by a constant is known by its multiplication and shift.  Linked kernels are one-dimensional:
%tid.y and %tid.z are 0, and what is multiplied by them does not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from pipelink.audit.values import SPECIAL, Node, number, parameter_of, registers, results, returns, sources
from pipelink.backend.ptx import Function, Instruction


@dataclass(frozen=True)
class PlacementUse:
    """An instruction whose effect depends on where the linker puts the role; ``certain`` unless the value only goes
    somewhere that is not followed."""

    function: str
    instruction: Instruction
    certain: bool


_MIXED: Final = Fraction(-(1 << 40), 7)  # more than one coefficient, depending on the path
_LINEAR_STOP: Final = Fraction(1 << 40)
_FLOATS: Final = frozenset(("f16", "f32", "f64", "bf16", "f16x2", "bf16x2"))
_OPERANDS: Final = {
    "add": 2, "sub": 2, "mul": 2, "mul24": 2, "mad": 3, "mad24": 3, "shl": 2, "shr": 2, "and": 2, "or": 2, "xor": 2,
    "bfe": 3, "rem": 2, "div": 2, "min": 2, "max": 2, "selp": 2, "setp": 2, "set": 2,
}  # fmt: skip
_SIGN: Final = frozenset(("31", "63"))  # how far a shift leaves the sign alone
_NATURAL: Final = frozenset(("mov", "cvt", "shfl", "shr", "shl", "add", "mul", "mad", "and", "or", "div", "rem", "bfe"))
_ROUNDING: Final = Fraction(1, 1 << 16)  # how far a multiplication for a division by a constant is off, at most
_UNFOLLOWED: Final = frozenset(("st", "call", "mov", "prmt", "lop3", "popc", "clz", "bfi", "brev", "vote", "match"))


@dataclass(frozen=True)
class Placed:
    """What is known of where code runs: its first thread is a multiple of ``alignment``, ``threads`` of them run it (0:
    whoever calls), and the functions ``first_thread`` return the first."""

    alignment: int
    threads: int
    first_thread: frozenset[str]


class _Coefficients:
    def __init__(self, functions: Sequence[Function], placed: Placed) -> None:
        self.placed = placed
        self.alignment = placed.alignment
        self.own = {function.name for function in functions}
        self.known: dict[Node, Fraction] = {}
        self.touched: set[Node] = set()  # what %tid.x goes into; all else has the coefficient 0
        self.made: defaultdict[Node, list[Instruction]] = defaultdict(list)
        self.code = self._affected(functions)
        for function, instruction, written in self.code:
            for register in written:
                self.made[function, register].append(instruction)

    def _affected(self, functions: Sequence[Function]) -> list[tuple[str, Instruction, tuple[str, ...]]]:
        """The instructions that %tid.x or the first thread goes into, in order, with what they write."""
        every = [(f.name, i, results(i)) for f in functions for i in f.instructions]
        uses: defaultdict[Node, list[int]] = defaultdict(list)
        open_: list[int] = []
        for at, (function, instruction, _) in enumerate(every):
            for operand in sources(instruction):
                for register in registers(operand):
                    if register == "%tid.x":
                        open_.append(at)
                    else:
                        uses[function, register].append(at)
            if instruction.callee in self.placed.first_thread:
                open_.append(at)
            elif instruction.callee in self.own:
                uses[instruction.callee, "return"].append(at)
            elif parameter := parameter_of(instruction):
                uses[function, parameter].append(at)
        reached: set[int] = set()
        while open_:
            at = open_.pop()
            if at in reached:
                continue
            reached.add(at)
            function, instruction, written = every[at]
            nodes: list[Node] = []
            if _keeps(instruction) or instruction.callee in self.placed.first_thread:
                nodes += [(function, register) for register in written]
            if instruction.callee in self.own:
                nodes += [(instruction.callee, f"param {n}") for n in range(len(instruction.arguments))]
                nodes += [(function, register) for register in written]
            if returns(instruction):
                nodes.append((function, "return"))
            for node in nodes:
                if node not in self.touched:
                    self.touched.add(node)
                    open_ += uses[node]
        return [every[at] for at in sorted(reached)]

    def of(self, function: str, operand: str) -> Fraction | None:
        """The coefficient of an operand: 0 what the placement does not touch, None not known yet."""
        names = registers(operand)
        if len(names) != 1:
            worst = Fraction(0)
            for name in names:
                value = self.of(function, name)
                if value:
                    worst = _MIXED
            return worst
        if names[0] == "%tid.x":
            return Fraction(1)
        if SPECIAL.match(names[0]):
            return Fraction(0)
        return self.value((function, names[0]))

    def value(self, node: Node) -> Fraction | None:
        """The coefficient of a register, an argument or a result."""
        return self.known.get(node) if node in self.touched else Fraction(0)

    def natural(self, function: str, operand: str) -> bool:
        """Whether a value is never negative: made of thread numbers and constants, and never by subtraction."""
        open_, seen = [operand], set[str]()
        while open_:
            current = open_.pop()
            if current in seen or current == "%tid.x":
                continue
            seen.add(current)
            if (value := number(current)) is not None:
                if value < 0:
                    return False
                continue
            made = self.made.get((function, current), [])
            if not made or any(i.parts[0] not in _NATURAL or _FLOATS & {*i.parts} for i in made):
                return False
            for instruction in made:
                read = sources(instruction)
                if instruction.parts[0] == "and" and any((number(mask) or -1) >= 0 for mask in read):
                    continue
                open_ += read[:1] if instruction.parts[0] in ("shfl", "shr", "bfe") else read
        return True

    def set(self, node: Node, value: Fraction | None) -> bool:
        if value is None or abs(value) > _LINEAR_STOP:
            return False
        old = self.known.get(node)
        new = value if old is None or old == value else _MIXED
        self.known[node] = new
        return new != old

    def solve(self) -> list[PlacementUse]:
        changed = True
        while changed:
            changed = False
            for function, instruction, written in self.code:
                value, _ = self.transfer(function, instruction)
                for register in written:
                    changed |= self.set((function, register), value)
                changed |= self._across(function, instruction)
        found: list[PlacementUse] = []
        for function, instruction, _ in self.code:
            fault = self.transfer(function, instruction)[1]
            if fault is not None:
                found.append(PlacementUse(function, instruction, fault))
        return found

    def _across(self, function: str, instruction: Instruction) -> bool:
        """Values that a call or a return takes to another function."""
        changed = False
        if instruction.callee in self.own:
            for position, argument in enumerate(instruction.arguments):
                changed |= self.set((instruction.callee, f"param {position}"), self.of(function, argument))
        elif returns(instruction):
            changed |= self.set((function, "return"), self.of(function, instruction.operands[-1]))
        return changed

    def transfer(self, function: str, instruction: Instruction) -> tuple[Fraction | None, bool | None]:
        """The coefficient of what an instruction writes, and whether the instruction depends on the placement:
        True certainly, False where the value goes out of sight, None not."""
        zero = Fraction(0)
        if instruction.callee:
            if instruction.callee in self.placed.first_thread:
                return Fraction(1), None
            if instruction.callee in self.own:
                return self.value((instruction.callee, "return")), None
            escapes = any(self.of(function, argument) for argument in instruction.arguments)
            return zero, (False if escapes else None)
        parts, operands = instruction.parts, sources(instruction)
        name = parts[0]
        if parameter := parameter_of(instruction):
            return self.value((function, parameter)), None
        if name == "st" and "param" in parts:
            return zero, None
        values = [self.of(function, operand) for operand in operands]
        if any(value is None for value in values):
            return (None, None) if name not in ("selp",) else (self._joined(values), None)
        known = [value for value in values if value is not None]
        if not any(known):
            return zero, None
        if name == "shr" and len(operands) > 1 and operands[1] in _SIGN and self.natural(function, operands[0]):
            return zero, None  # the sign of what has none, as signed division asks for it
        made = self._linear(name, parts, operands, known)
        if made is not None and _MIXED not in known:
            return made, None
        return zero, self._certain(name, parts, known)

    def _joined(self, values: Sequence[Fraction | None]) -> Fraction | None:
        known = {value for value in values[:2] if value is not None}
        return known.pop() if len(known) == 1 else None

    def _certain(self, name: str, parts: tuple[str, ...], values: Sequence[Fraction]) -> bool:
        if name == "st" and ("global" in parts or (values and values[0])):
            return True  # where it goes depends on the placement, or what leaves the kernel does
        return name not in _UNFOLLOWED

    def _linear(
        self, name: str, parts: tuple[str, ...], operands: Sequence[str], values: Sequence[Fraction]
    ) -> Fraction | None:
        """The coefficient of the result, where the instruction is one that keeps or removes the first thread."""
        if len(values) < _OPERANDS.get(name, 1):
            return None
        constants = [number(operand) for operand in operands]
        first = values[0]
        size = first * self.alignment  # the first thread's share is a multiple of it
        whole = abs(size.numerator) if size.denominator == 1 else 0
        low = whole & -whole  # it leaves the bits below alone
        second = constants[1] if len(constants) > 1 else None
        match name:
            case "mov" | "cvt" | "cvta" | "shfl" | "abs":
                return first if not _FLOATS & {*parts} and not any(values[1:]) else None
            case "add":
                return values[0] + values[1]
            case "sub":
                return values[0] - values[1]
            case "neg" | "not":  # ~x is -x - 1
                return -first
            case "xor" if values.count(0) and (changed := constants[values.index(0)]) is not None:
                if changed == -1:
                    return -max(values, key=abs)
                return max(values, key=abs) if 0 <= changed < low else None
            case "mul" | "mul24":
                if "u32" in parts and {"wide", "hi"} & {*parts}:  # printed with a sign that it does not have
                    constants = [c + (1 << 32) if c is not None and c < 0 else c for c in constants]
                product = self._product(values, constants)
                if product is None or "hi" not in parts:
                    return product
                bits = 64 if "u64" in parts or "s64" in parts else 32
                divided = self._shifted(product, bits)
                return product / (1 << bits) if divided is None else divided
            case "mad" | "mad24":
                product = self._product(values[:2], constants[:2])
                return None if product is None else product + values[2]
            case "shl":
                return first * (1 << second) if second is not None and 0 <= second < 64 else None
            case "shr":
                return self._shifted(first, second)
            case "and":
                return self._masked(values, constants)
            case "or" | "xor":
                # two values meet in disjoint bits
                return max(values, key=abs) if 0 in values and low else None
            case "bfe":
                begin, length = second, constants[2]
                if begin is None or length is None or not 0 <= begin + length < 64:
                    return None
                return Fraction(0) if self._wraps(1 << (begin + length), first) else None
            case "rem":
                return Fraction(0) if second and second > 0 and self._wraps(second, first) else None
            case "div":
                return first / second if second and whole and whole % second == 0 else None
            case "min" | "max" | "selp":
                return first if values[0] == values[1] else None
            case "setp" | "set":
                return Fraction(0) if values[0] == values[1] else None
            case _:
                return None

    def _shifted(self, value: Fraction, by: int | None) -> Fraction | None:
        """The coefficient after a shift to the right.  Multiplied by M and shifted by s is divided by 2^s / M."""
        if by is None or not 0 <= by <= 64 or not value:
            return None
        if (value * self.alignment / (1 << by)).denominator == 1:
            return value / (1 << by)
        divisor = round((1 << by) / value)
        exact = divisor > 0 and abs(value * divisor / (1 << by) - 1) < _ROUNDING
        return Fraction(1, divisor) if exact and self._wraps(divisor, Fraction(1)) else None

    def _product(self, values: Sequence[Fraction], constants: Sequence[int | None]) -> Fraction | None:
        for value, constant in ((values[0], constants[1]), (values[1], constants[0])):
            if constant is not None:
                return value * constant
        return Fraction(0) if not any(values) else None

    def _masked(self, values: Sequence[Fraction], constants: Sequence[int | None]) -> Fraction | None:
        for value, mask in ((values[0], constants[1]), (values[1], constants[0])):
            if mask is None or not value:
                continue
            if mask >= 0 and self._wraps(1 << mask.bit_length(), value):
                return Fraction(0)
            size = value * self.alignment
            low = size.numerator & -size.numerator if size.denominator == 1 else 0
            if 0 <= ~mask & 0x7FFFFFFF < low:
                return value
        return None

    def _wraps(self, modulus: int, value: Fraction) -> bool:
        """Whether taking a value modulo something removes the placement: the first thread's share is a multiple of
        it; or it counts as many threads as there are, which then have all the numbers, in another order."""
        size = value * self.alignment / modulus
        if size.denominator == 1:
            return True
        period = modulus / abs(value)  # in threads
        return period.denominator == 1 and self.placed.threads % period.numerator == 0


def _keeps(instruction: Instruction) -> bool:
    """Whether what an instruction reads may live on in what it writes: a load brings something else."""
    if instruction.callee or instruction.parts[0] in ("ldmatrix", "tcgen05", "atom", "wgmma", "mma"):
        return False
    return instruction.parts[0] not in ("ld", "ldu") or parameter_of(instruction) is not None


def placement_uses(functions: Sequence[Function], placed: Placed) -> list[PlacementUse]:
    """The instructions of ``functions`` that depend on where the linker puts them."""
    if not any("%tid.x" in operand for f in functions for i in f.instructions for operand in i.operands):
        return []
    return _Coefficients(functions, placed).solve()


_NOTHING: Final = frozenset(("%tid.y", "%tid.z"))


def size_uses(functions: Sequence[Function], sizes: tuple[str, ...]) -> dict[str, list[str]]:
    """The instructions that use one of the special registers that begin with ``sizes``, by register.  What is
    multiplied by the thread's place in dimensions that a linked kernel does not have is not used."""
    code = [(f.name, i) for f in functions for i in f.instructions]
    if not any(
        register.startswith(sizes) for _, i in code for operand in i.operands for register in registers(operand)
    ):
        return {}
    made: defaultdict[Node, list[tuple[str, Instruction]]] = defaultdict(list)
    for function, instruction in code:
        for register in results(instruction):
            made[function, register].append((function, instruction))
    zero: set[Node] = set()

    def is_zero(function: str, operand: str) -> bool:
        return operand in _NOTHING or operand == "0" or (function, operand) in zero

    def makes_zero(function: str, instruction: Instruction) -> bool:
        read = [is_zero(function, operand) for operand in sources(instruction)]
        match instruction.parts[0]:
            case "mov" | "cvt" | "shl" | "shr":
                return read[:1] == [True]
            case "mul" | "and":
                return any(read)
            case "mad":
                return any(read[:2]) and read[2:] == [True]
            case "add" | "or":
                return bool(read) and all(read)
            case _:
                return False

    copies: dict[Node, str] = {}
    size = -1
    while size != len(zero) + len(copies):
        size = len(zero) + len(copies)
        zero |= {node for node, how in made.items() if all(makes_zero(*one) for one in how)}
        for node, how in made.items():
            for function, instruction in how:
                if instruction.parts[0] in ("mov", "cvt") and len(instruction.operands) == 2:
                    name = copies.get((function, instruction.operands[1]), instruction.operands[1])
                    if name.startswith(sizes):
                        copies[node] = name
    found: dict[str, list[str]] = {}
    for function, instruction in code:
        if instruction.parts[0] in ("mov", "cvt") and len(instruction.operands) == 2:
            continue
        read = sources(instruction)
        for at, operand in enumerate(read):
            for register in registers(operand):
                name = copies.get((function, register), register)
                factor = instruction.parts[0] in ("mul", "mad") and at < 2 and len(read) > 1
                if name.startswith(sizes) and not (factor and is_zero(function, read[1 - at])):
                    found.setdefault(name, []).append(instruction.text)
    return found
