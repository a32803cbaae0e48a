"""Where values in PTX come from, and which of them depend on where the linker puts a role.

Two questions an audit asks.  *Which value is this?*  :meth:`Origins.choices` follows moves, selections and calls back
to constants and results of accessors; :meth:`Origins.leaves` collects everything that went into a value.  *Would it
change if the role began at another thread?*  A role's first thread F is a multiple of its alignment A, and %tid.x is
F plus the thread's number in the role; so every integer is r * F + something that the placement does not touch, and
:func:`placement_uses` carries r through the arithmetic.  A mask, shift or division that removes r * F exactly is fine,
as are differences and comparisons of values with one r: ``role::thread``, ``threadIdx.x % 32``, and ``/ 32 % 4`` where
A is 128.  Any other use of r != 0 depends on the placement.  Registers are taken without regard to control flow, so
what is said holds for every path.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from pipelink.objects.ptx import Function, Instruction

_NO_RESULT: Final = frozenset(
    (
        "bar", "barrier", "bra", "brx", "call", "cp", "discard", "exit", "fence", "griddepcontrol", "membar",
        "nanosleep", "pmevent", "prefetch", "prefetchu", "red", "ret", "setmaxnreg", "st", "stmatrix", "trap",
        "tcgen05", "wgmma",
    )
)  # fmt: skip
_TCGEN05_RESULT: Final = "ld"
_REGISTER: Final = re.compile(r"%[A-Za-z_][\w$]*(?:\.[xyzw])?|[A-Za-z_$][\w$]*@\d+")
_SPECIAL: Final = re.compile(
    r"%(?:n?tid|n?ctaid|laneid|n?warpid|n?smid|gridid|cluster\w*|is_explicit_cluster|lanemask_\w+|clock\w*|"
    r"globaltimer\w*|pm\d+\w*|envreg\d+|dynamic_smem_size|total_smem_size|aggr_smem_size|reserved_smem\w*|"
    r"current_graph_exec)(?:\.[xyzw])?$"
)
_NUMBER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")
_SYMBOL: Final = re.compile(r"(?<![%\w$.@])[A-Za-z_$][\w$]*(?![\w$@.])")
_PARAM: Final = re.compile(r"\[\s*([\w$]+?)_param_(\d+)\s*(?:\+\s*(\d+))?\s*\]")
_RETURN: Final = re.compile(r"\[\s*func_retval0\s*(?:\+\s*0)?\s*\]")
_COPIES: Final = frozenset(("mov", "cvt", "cvta", "selp"))

Node = tuple[str, str]  # function, and a register, ``param 0`` or ``return``


@lru_cache(maxsize=1 << 14)
def number(operand: str) -> int | None:
    """The integer that an operand spells."""
    if not _NUMBER.match(operand):
        return None
    text = operand.rstrip("U")
    digits = text.removeprefix("-")
    if digits.startswith("0") and digits.isdigit() and digits != "0":
        return int(text, 8) if set(digits) <= set("01234567") else None
    return int(text, 0)


@lru_cache(maxsize=1 << 14)
def registers(operand: str) -> tuple[str, ...]:
    """The registers, special ones too, that an operand names."""
    return tuple(_REGISTER.findall(operand))


def results(instruction: Instruction) -> tuple[str, ...]:
    """The registers that an instruction writes."""
    if instruction.callee:
        return registers(instruction.result)
    parts = instruction.parts
    if not instruction.operands or instruction.operands[0].startswith("["):
        return ()
    if parts[0] in _NO_RESULT and parts[:2] not in (("bar", "red"), ("barrier", "red"), ("tcgen05", _TCGEN05_RESULT)):
        return registers(instruction.operands[0]) if parts[0] == "wgmma" else ()
    return registers(instruction.operands[0])


def sources(instruction: Instruction) -> tuple[str, ...]:
    """The operands that an instruction reads."""
    if instruction.callee:
        return instruction.arguments
    written = bool(results(instruction)) and instruction.parts[0] != "wgmma"
    return instruction.operands[1:] if written else instruction.operands


def _returns(instruction: Instruction) -> bool:
    """Whether it stores what the function returns."""
    stores = instruction.opcode.startswith("st.param") and len(instruction.operands) == 2
    return stores and _RETURN.match(instruction.operands[0]) is not None


def _parameter(instruction: Instruction) -> str | None:
    """``param 0`` where an instruction loads the function's first argument."""
    if instruction.parts[0] not in ("ld", "ldu") or not instruction.operands:
        return None
    found = _PARAM.search(instruction.operands[-1])
    return f"param {found[2]}" if found else None


class Origins:
    """Where the values of some functions come from.  Leaves and choices are texts: ``#5`` a number, ``%ctaid.x``,
    ``call NAME`` the result of a function that the module does not define, ``symbol NAME``, ``memory``, ``argument``
    of the audited function, and ``computed`` where a choice is the result of arithmetic."""

    def __init__(self, functions: Sequence[Function]) -> None:
        self._made: defaultdict[Node, list[Instruction | str]] = defaultdict(list)
        self._leaves: dict[Node, frozenset[str]] = {}
        own = {function.name for function in functions}
        for function in functions:
            for instruction in function.instructions:
                for register in results(instruction):
                    self._made[function.name, register].append(instruction)
                if instruction.callee in own:
                    for position, argument in enumerate(instruction.arguments):
                        self._made[instruction.callee, f"param {position}"].append(f"{function.name} {argument}")
                elif _returns(instruction):
                    self._made[function.name, "return"].append(f"{function.name} {instruction.operands[-1]}")
        self._own = own

    def leaves(self, function: str, operand: str) -> frozenset[str]:
        """Everything that goes into ``operand``."""
        found: set[str] = set()
        open_, seen = self._begin(function, operand, found), set[Node]()
        first = list(open_)
        while open_:
            node = open_.pop()
            if node in seen:
                continue
            seen.add(node)
            if node in self._leaves:
                found |= self._leaves[node]
                continue
            made = self._made.get(node)
            if not made:
                found.add("argument")
            for how in made or ():
                open_ += self._step(node[0], how, found)
        if len(first) == 1:
            self._leaves[first[0]] = frozenset(found)
        return frozenset(found)

    def _begin(self, function: str, operand: str, found: set[str]) -> list[Node]:
        open_: list[Node] = []
        for register in registers(operand):
            if _SPECIAL.match(register):
                found.add(register)
            else:
                open_.append((function, register))
        if (value := number(operand)) is not None:
            found.add(f"#{value}")
        found |= {f"symbol {name}" for name in _SYMBOL.findall(operand)}
        return open_

    def _step(self, function: str, how: Instruction | str, found: set[str]) -> list[Node]:
        if isinstance(how, str):  # an argument, or a returned value, of another function
            where, _, operand = how.partition(" ")
            return self._begin(where, operand, found)
        if how.callee:
            if how.callee in self._own:
                return [(how.callee, "return")]
            found.add(f"call {how.callee}")
            return []
        if how.parts[0] in ("ld", "ldu", "atom", "ldmatrix", "tcgen05"):
            if parameter := _parameter(how):
                return [(function, parameter)]
            found.add("memory")
            return []
        open_: list[Node] = []
        for operand in sources(how):
            open_ += self._begin(function, operand, found)
        return open_

    def choices(self, function: str, operand: str) -> frozenset[str]:
        """The values that ``operand`` may have."""
        found: set[str] = set()
        open_: list[tuple[str, str]] = [(function, operand)]
        seen: set[tuple[str, str]] = set()
        while open_:
            where, current = open_.pop()
            if (where, current) in seen:
                continue
            seen.add((where, current))
            if (value := number(current)) is not None:
                found.add(f"#{value}")
                continue
            made = self._made.get((where, current))
            if _SPECIAL.match(current) or not made:
                found |= {"argument"} if current.startswith("param ") else self.leaves(where, current)
                continue
            for how in made:
                self._choose(where, how, found, open_)
        return frozenset(found)

    def _choose(self, where: str, how: Instruction | str, found: set[str], open_: list[tuple[str, str]]) -> None:
        if isinstance(how, str):
            there, _, operand = how.partition(" ")
            open_.append((there, operand))
        elif how.callee:
            if how.callee in self._own:
                open_.append((how.callee, "return"))
            else:
                found.add(f"call {how.callee}")
        elif how.parts[0] in _COPIES and how.operands:
            copied = how.operands[1:3] if how.parts[0] == "selp" else how.operands[1:2]
            open_ += [(where, operand) for operand in copied]
        elif parameter := _parameter(how):
            open_.append((where, parameter))
        elif how.parts[0] in ("ld", "ldu", "atom"):
            found.add("memory")
        else:
            found |= {"computed"} | set().union(*(self.leaves(where, operand) for operand in sources(how)))


# ------------------------------------------------------------------------------------------- dependence on placement
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
        self.code = self._affected(functions)

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
            elif parameter := _parameter(instruction):
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
            if _returns(instruction):
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
        if _SPECIAL.match(names[0]):
            return Fraction(0)
        return self.value((function, names[0]))

    def value(self, node: Node) -> Fraction | None:
        """The coefficient of a register, an argument or a result."""
        return self.known.get(node) if node in self.touched else Fraction(0)

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
        elif _returns(instruction):
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
        if parameter := _parameter(instruction):
            return self.value((function, parameter)), None
        if name == "st" and "param" in parts:
            return zero, None
        values = [self.of(function, operand) for operand in operands]
        if any(value is None for value in values):
            return (None, None) if name not in ("selp",) else (self._joined(values), None)
        known = [value for value in values if value is not None]
        if not any(known):
            return zero, None
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
            case "neg":
                return -first
            case "mul" | "mul24":
                return self._product(values, constants)
            case "mad" | "mad24":
                product = self._product(values[:2], constants[:2])
                return None if product is None else product + values[2]
            case "shl":
                return first * (1 << second) if second is not None and 0 <= second < 64 else None
            case "shr":
                kept = second is not None and 0 <= second < 64 and whole and whole % (1 << second) == 0
                return first / (1 << second) if kept and second is not None else None
            case "and":
                return self._masked(values, constants)
            case "or" | "xor":
                # two values meet in disjoint bits, or the constant changes bits that are not the first thread's
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
    return instruction.parts[0] not in ("ld", "ldu") or _parameter(instruction) is not None


def placement_uses(functions: Sequence[Function], placed: Placed) -> list[PlacementUse]:
    """The instructions of ``functions`` that depend on where the linker puts them."""
    if not any("%tid.x" in operand for f in functions for i in f.instructions for operand in i.operands):
        return []
    return _Coefficients(functions, placed).solve()
