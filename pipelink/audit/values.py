"""Where values in PTX come from: constants, results of accessors, memory, arguments.

:meth:`Origins.choices` follows moves, selections and calls back to what a value may be, :meth:`Origins.leaves`
collects everything that went into it.  Registers are taken without regard to control flow, so what is said holds for
every path.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from pipelink.backend.ptx import Function, Instruction

_NO_RESULT: Final = frozenset(
    (
        "bar", "barrier", "bra", "brx", "call", "cp", "discard", "exit", "fence", "griddepcontrol", "membar",
        "nanosleep", "pmevent", "prefetch", "prefetchu", "red", "ret", "setmaxnreg", "st", "stmatrix", "trap",
        "tcgen05", "wgmma",
    )
)  # fmt: skip
_TCGEN05_RESULT: Final = "ld"
_REGISTER: Final = re.compile(r"%[A-Za-z_][\w$]*(?:\.[xyzw])?|[A-Za-z_$][\w$]*@\d+")
SPECIAL: Final = re.compile(
    r"%(?:n?tid|n?ctaid|laneid|n?warpid|n?smid|gridid|cluster\w*|is_explicit_cluster|lanemask_\w+|clock\w*|"
    r"globaltimer\w*|pm\d+\w*|envreg\d+|dynamic_smem_size|total_smem_size|aggr_smem_size|reserved_smem\w*|"
    r"current_graph_exec)(?:\.[xyzw])?$"
)
_NUMBER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")
_SYMBOL: Final = re.compile(r"(?<![%\w$.@])[A-Za-z_$][\w$]*(?![\w$@.])")
_PARAM: Final = re.compile(r"\[\s*([\w$]+?)_param_(\d+)\s*(?:\+\s*(\d+))?\s*\]")
_RETURN: Final = re.compile(r"\[\s*func_retval0\s*(?:\+\s*0)?\s*\]")
_COPIES: Final = frozenset(("mov", "cvt", "cvta", "selp"))

PEER: Final = "peer"
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


def returns(instruction: Instruction) -> bool:
    """Whether it stores what the function returns."""
    stores = instruction.opcode.startswith("st.param") and len(instruction.operands) == 2
    return stores and _RETURN.match(instruction.operands[0]) is not None


def parameter_of(instruction: Instruction) -> str | None:
    """``param 0`` where an instruction loads the function's first argument."""
    if instruction.parts[0] not in ("ld", "ldu") or not instruction.operands:
        return None
    found = _PARAM.search(instruction.operands[-1])
    return f"param {found[2]}" if found else None


class Origins:
    """Where the values of some functions come from.  Leaves and choices are texts: ``#5`` a number, ``%ctaid.x``,
    ``call NAME`` the result of a function that the module does not define, ``symbol NAME``, ``memory``, ``argument``
    of the audited function, ``peer`` where an address is mapped to another CTA of the cluster, and ``computed`` where
    a choice is the result of arithmetic."""

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
                elif returns(instruction):
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
            if SPECIAL.match(register):
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
            if parameter := parameter_of(how):
                return [(function, parameter)]
            found.add("memory")
            return []
        if how.parts[0] == "mapa":
            found.add(PEER)
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
            if SPECIAL.match(current) or not made:
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
        elif parameter := parameter_of(how):
            open_.append((where, parameter))
        elif how.parts[0] in ("ld", "ldu", "atom"):
            found.add("memory")
        else:
            found |= {"computed"} | set().union(*(self.leaves(where, operand) for operand in sources(how)))
