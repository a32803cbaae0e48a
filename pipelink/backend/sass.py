"""SASS as text: what a cubin's instructions say, and whether two cubins say the same.

Input: a cubin.  ``nvdisasm`` prints it, :func:`parse` turns the text into functions of instructions with resolved
branch targets.  On top: :func:`compare` (two cubins, instruction by instruction, labels and function names
normalised), :func:`count` (calls, local memory, tensor-core and TMA instructions, barrier ids), and
:func:`register_regions` (for each ``USETMAXREG`` the highest register of the instructions reachable from it).
This reads the vendor's own disassembly; nothing here decodes instructions.
"""

from __future__ import annotations

import difflib
import re
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pipelink.backend import toolchain
from pipelink.support.diagnostics import Note, error
from pipelink.support.inputs import reason

INTERNAL_PREFIX = "$__internal_"  # ptxas's own helpers: division slow paths, tcgen05 guard rails
UNKNOWN_CALLEE = "an address in a register"

_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*(?:\(\*(.*)\*\);?)?\s*;?\s*$")
_PREDICATE = re.compile(r"^(@!?U?P\w+)\s+")
_SYMBOL = re.compile(r"`\(([^()]*)\)")
_REGISTER = re.compile(r"(?<![A-Za-z0-9_])R(\d+)(\.64)?")
_SLOT = re.compile(r"c\[0x4\]\[(0x[0-9a-f]+)\]")  # the constant bank that holds addresses of variables
_SETMAXNREG = re.compile(r"(0x[0-9a-f]+|\d+)$")
_ALLOCATION_SPAN = 16  # instructions before an allocation of tensor memory among which its size is set


@dataclass(frozen=True)
class Instruction:
    """One instruction.  ``offset`` is in bytes from the section's start; ``targets`` are the labels and symbols it
    refers to; ``text`` is the whole instruction with runs of blanks collapsed."""

    offset: int
    predicate: str
    opcode: str
    operands: str
    targets: tuple[str, ...]
    comment: str = ""

    @property
    def text(self) -> str:
        return " ".join(part for part in (self.predicate, self.opcode, self.operands) if part)

    @property
    def mnemonic(self) -> str:
        """The opcode without its modifiers: ``USETMAXREG`` of ``USETMAXREG.DEALLOC.CTAPOOL``."""
        return self.opcode.partition(".")[0]


def _leaves(instruction: Instruction) -> bool:
    """Whether the next instruction is never executed after this one."""
    mnemonic = instruction.mnemonic
    if mnemonic in ("BRX", "JMX"):
        return True
    if mnemonic not in ("EXIT", "RET", "BRA", "JMP", "KILL") or instruction.predicate:
        return False
    divergence = instruction.opcode.startswith(("BRA.DIV", "BRA.CONV"))  # taken where a warp's threads disagree
    return not divergence and not re.search(r"!?U?P\d", instruction.operands)


@dataclass(frozen=True)
class Function:
    """A text section: the kernel, ptxas's helpers and functions that were not inlined, in address order.
    ``labels`` maps every label and symbol to the index of the instruction that follows it."""

    name: str
    instructions: tuple[Instruction, ...]
    labels: dict[str, int] = field(default_factory=dict[str, int])

    @cached_property
    def symbols(self) -> dict[str, int]:
        """The labels that are symbols, without the section's own: helpers and functions that were not inlined."""
        own = {self.name, f".text.{self.name}"}
        return {label: index for label, index in self.labels.items() if not label.startswith(".L") and label not in own}

    def successors(self, index: int) -> list[int]:
        """Indices of the instructions that can follow; a call's callee and its return address both count."""
        instruction = self.instructions[index]
        following: list[int] = []
        if not _leaves(instruction) and index + 1 < len(self.instructions):
            following.append(index + 1)
        if instruction.mnemonic != "RET":
            following += [self.labels[target] for target in instruction.targets if target in self.labels]
        return [i for i in following if i < len(self.instructions)]


@dataclass(frozen=True)
class Sass:
    """A disassembled cubin."""

    arch: str
    functions: tuple[Function, ...]

    def function(self, name: str) -> Function:
        """The kernel's section.  Raises KeyError."""
        for function in self.functions:
            if function.name == name:
                return function
        raise KeyError(name)

    @property
    def instructions(self) -> list[Instruction]:
        return [instruction for function in self.functions for instruction in function.instructions]


@dataclass(frozen=True)
class Counts:
    """What a cubin contains.  ``calls`` names the callee of every call that is not to a ptxas helper."""

    instructions: int
    calls: tuple[str, ...]
    local: int
    wgmma: int
    tma: int
    mbarrier: int
    barrier_ids: tuple[int, ...]
    barrier_registers: int  # barrier instructions whose id is a register


@dataclass(frozen=True)
class RegisterRegion:
    """The code reachable from a ``USETMAXREG``: the register count it sets, the highest register named there (with
    the width of vector operands), and the number of instructions."""

    registers: int
    highest: int
    instructions: int


def disassemble(cubin: bytes) -> str:
    """The text of ``nvdisasm -c``.  Raises LinkError ``disassembly-failed``."""
    with _nvdisasm(cubin, "-ndf") as wait:
        return _with_targets(cubin, wait())


def disassemble_lines(cubin: bytes) -> str:
    """The text of ``nvdisasm -c -gi``: instructions below the lines of source that they were made of.
    Raises LinkError ``disassembly-failed``."""
    with _nvdisasm(cubin, "-ndf", "-gi") as wait:
        return wait()


def _with_targets(cubin: bytes, text: str) -> str:
    if re.search(r"\b(BRX|JMX)\b", text):  # only the data-flow analysis knows the targets of an indexed branch
        with _nvdisasm(cubin) as wait:
            return wait()
    return text


@contextmanager
def _nvdisasm(cubin: bytes, *options: str) -> Generator[Callable[[], str]]:
    """Begin it; what is yielded waits for the text.  Raises LinkError ``disassembly-failed``."""
    try:
        with tempfile.TemporaryDirectory(prefix="pipelink-") as folder:
            path = Path(folder) / "kernel.cubin"
            path.write_bytes(cubin)
            command = [str(toolchain.nvdisasm()), "-c", *options, str(path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                yield lambda: _text(process, path)
    except OSError as problem:  # no folder or no room for temporary files, or no process
        raise error("disassembly-failed", f"cannot run nvdisasm: {reason(problem)}") from problem


def _text(process: subprocess.Popen[str], path: Path) -> str:
    text, said = process.communicate()
    if process.returncode:
        raise error(
            "disassembly-failed",
            f"nvdisasm cannot read the cubin (exit status {process.returncode})",
            notes=[Note(line.replace(str(path), "the cubin")) for line in said.strip().splitlines()],
        )
    return text


def parse(text: str) -> Sass:
    """The functions of an ``nvdisasm -c`` listing."""
    arch = ""
    functions: list[Function] = []
    name, instructions, labels = "", list[Instruction](), dict[str, int]()

    def close() -> None:
        if instructions:
            functions.append(Function(name, tuple(instructions), dict(labels)))

    for line in text.splitlines():
        if (instruction := parse_instruction(line)) is not None:
            instructions.append(instruction)
            continue
        stripped = line.strip()
        if stripped.startswith(".section"):
            section = stripped.split(None, 1)[1].split(",")[0].strip('"')
            if section.startswith(".text."):
                close()
                name, instructions, labels = section.removeprefix(".text."), [], {}
        elif stripped.startswith(".target"):
            arch = stripped.split()[1]
        elif stripped.endswith(":") and not stripped.startswith("/*"):
            labels[stripped[:-1]] = len(instructions)
    close()
    return Sass(arch, tuple(functions))


def parse_instruction(line: str) -> Instruction | None:
    """The instruction in a line of a listing, if there is one."""
    found = _INSTRUCTION.match(line)
    if not found:
        return None
    offset, body, comment = int(found[1], 16), found[2], found[3] or ""
    body = " ".join(body.rstrip("; ").split())
    predicate = _PREDICATE.match(body)
    if predicate:
        body = body[predicate.end() :]
    opcode, _, operands = body.partition(" ")
    targets = tuple(_SYMBOL.findall(operands))
    if "BRANCH_TARGETS" in comment:
        targets += tuple(re.findall(r"\.L_x_\d+", comment))
    return Instruction(offset, predicate[1] if predicate else "", opcode, operands.strip(), targets, comment)


def read(cubin: bytes) -> Sass:
    """Disassemble and parse.  Raises LinkError ``disassembly-failed``."""
    return parse(disassemble(cubin))


@contextmanager
def reading(cubin: bytes) -> Generator[Callable[[], Sass]]:
    """The same, with something else to do meanwhile: what is yielded waits for it."""
    with _nvdisasm(cubin, "-ndf") as wait:
        yield lambda: parse(_with_targets(cubin, wait()))


def count(sass: Sass) -> Counts:
    """Count what the audit and the tests ask for."""
    calls: list[str] = []
    local = wgmma = tma = mbarrier = barrier_registers = 0
    barrier_ids: set[int] = set()
    total = 0
    for function in sass.functions:
        calls += [callee for _, callee in component_calls(function)]
        for instruction in function.instructions:
            mnemonic = instruction.mnemonic
            total += mnemonic != "NOP"
            local += mnemonic in ("LDL", "STL")
            wgmma += mnemonic in ("HGMMA", "QGMMA", "IGMMA", "BGMMA")
            tma += mnemonic in ("UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP")
            mbarrier += mnemonic == "SYNCS"
            if mnemonic == "BAR" or mnemonic == "B2R" and "RESULT" in instruction.opcode:
                number = barrier_id(instruction)
                if number is None:
                    barrier_registers += 1
                else:
                    barrier_ids.add(number)
    return Counts(total, tuple(calls), local, wgmma, tma, mbarrier, tuple(sorted(barrier_ids)), barrier_registers)


def barrier_id(instruction: Instruction) -> int | None:
    """The immediate id of a named-barrier instruction, None if it is a register."""
    first = instruction.operands.split(",")[0].strip()
    try:
        return int(first, 0)
    except ValueError:
        return None


def component_calls(function: Function) -> list[tuple[Instruction, str]]:
    """All calls but those to ptxas helpers, in order, each with its callee.

    ptxas may clone a helper per register budget, without a symbol: a call to a bare label counts as a helper's only
    where every symbol in the section is one.  On sm_80 it also writes CALL for a jump out of divergent code; what
    never returns from there is no callee."""
    only_helpers = bool(function.symbols) and all(s.startswith(INTERNAL_PREFIX) for s in function.symbols)
    found: list[tuple[Instruction, str]] = []
    for instruction in function.instructions:
        if instruction.mnemonic != "CALL":
            continue
        target = instruction.targets[0] if instruction.targets else UNKNOWN_CALLEE
        if target.startswith(INTERNAL_PREFIX) or target.startswith(".L") and only_helpers:
            continue
        if target in function.labels and not _returns(function, function.labels[target]):
            continue
        found.append((instruction, target))
    return found


def _returns(function: Function, start: int) -> bool:
    """Whether a RET can follow the instruction at ``start``."""
    seen, pending = {start}, [start]
    while pending:
        index = pending.pop()
        if index >= len(function.instructions):
            continue
        if function.instructions[index].mnemonic == "RET":
            return True
        fresh = set(function.successors(index)) - seen
        seen |= fresh
        pending += fresh
    return False


def setmaxnreg(instruction: Instruction) -> int | None:
    """The register count of a ``USETMAXREG``, None for other instructions."""
    if instruction.mnemonic != "USETMAXREG":
        return None
    number = _SETMAXNREG.search(instruction.operands)
    return int(number[1], 0) if number else None


def tensor_memory(function: Function) -> tuple[tuple[int | None, ...], int]:
    """Columns of every allocation of tensor memory (None if they are no constant), and the number of instructions that
    free some.  ptxas counts in units of 32 columns, in a uniform register that it sets shortly before."""
    found: list[int | None] = []
    freed = 0
    for index, instruction in enumerate(function.instructions):
        operations = instruction.opcode.split(".")  # UTCATOMSWS, 2CTA for a pair, what it does
        if operations[0] != "UTCATOMSWS":
            continue
        freed += "AND" in operations
        if "FIND_AND_SET" not in operations:
            continue
        size = _operands(instruction.operands)[-1]
        before = function.instructions[max(0, index - _ALLOCATION_SPAN) : index]
        set_by = [_operands(i.operands) for i in before if i.mnemonic == "UMOV"]
        units = next((values[1] for values in reversed(set_by) if values[0] == size), "")
        found.append(32 * int(units, 16) if units.startswith("0x") else None)
    return tuple(found), freed


def register_regions(function: Function) -> list[RegisterRegion]:
    """One region per ``USETMAXREG``: everything reachable from it, up to the next one with another number."""
    regions: list[RegisterRegion] = []
    for start, instruction in enumerate(function.instructions):
        registers = setmaxnreg(instruction)
        if registers is None:
            continue
        seen = {start}
        pending = [start]
        highest = -1
        while pending:
            index = pending.pop()
            highest = max(highest, highest_register(function.instructions[index]))
            for following in function.successors(index):
                other = setmaxnreg(function.instructions[following])
                if following not in seen and other in (None, registers):
                    seen.add(following)
                    pending.append(following)
        regions.append(RegisterRegion(registers, highest, len(seen)))
    return regions


def highest_register(instruction: Instruction) -> int:
    """The highest general register that the instruction touches, -1 if none; vector operands count whole."""
    highest = -1
    for position, operand in enumerate(_operands(instruction.operands)):
        for found in _REGISTER.finditer(operand):
            width = 2 if found[2] else 1
            if "[" not in operand:
                width = max(width, _width(instruction, position))
            highest = max(highest, int(found[1]) + width - 1)
    return highest


def _operands(text: str) -> list[str]:
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text)]


def _width(instruction: Instruction, position: int) -> int:
    """Registers of a vector operand that is not an address."""
    opcode, mnemonic = instruction.opcode, instruction.mnemonic
    if mnemonic in ("HGMMA", "QGMMA", "IGMMA", "BGMMA"):
        if position == 1:
            return 4  # the A fragment, where it comes from registers
        shape = re.search(r"\.64x(\d+)x", opcode)
        columns = int(shape[1]) if shape else 8
        return columns // 2 if ".F32" in opcode or mnemonic == "IGMMA" else columns // 4
    if mnemonic in ("HMMA", "IMMA", "QMMA", "OMMA", "DMMA", "BMMA"):
        return (4, 4, 2, 4)[position] if position < 4 else 1
    if mnemonic == "LDSM":
        return int(opcode[-1]) if opcode[-1] in "24" else 1
    tmem = re.search(r"^(?:LDTM|STTM).*\.x(\d+)", opcode)
    if tmem:
        return int(tmem[1])
    if mnemonic.startswith(("LD", "ST", "ATOM", "RED", "S2R", "CS2R", "MOV")):
        return 4 if ".128" in opcode else 2 if ".64" in opcode else 1
    if ".WIDE" in opcode:
        return 2 if position in (0, 3) else 1
    if mnemonic in ("DADD", "DMUL", "DFMA", "DSETP"):
        return 2
    return 1


def compare(a: bytes | Sass, b: bytes | Sass) -> list[str]:
    """The lines in which two cubins differ, ``-`` for ``a`` and ``+`` for ``b``; empty if they are the same.

    Addresses, label names, the sections' own names and the slots of variables' addresses are normalised; branch targets
    are compared by the number of the instruction they lead to, but only shown when nothing else differs."""
    left, right = (x if isinstance(x, Sass) else read(x) for x in (a, b))
    exact = [_normalised(sass, targets=True) for sass in (left, right)]
    if exact[0] == exact[1]:
        return []
    plain = [_normalised(sass, targets=False) for sass in (left, right)]
    shown = plain if plain[0] != plain[1] else exact
    lines = difflib.unified_diff(shown[0], shown[1], lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _normalised(sass: Sass, *, targets: bool) -> list[str]:
    lines: list[str] = []
    slots: dict[str, int] = {}  # in the order in which code first names them: how many there are, each link decides
    for function in sass.functions:

        def target(found: re.Match[str], function: Function = function) -> str:
            label = found[1]
            base, plus, addend = label.partition("+")
            if base in (function.name, f".text.{function.name}"):
                return f"`(kernel{plus}{addend})"
            if not label.startswith(".L"):
                return f"`({label.replace(f'${function.name}$', '$')})"
            return f"`({function.labels.get(label, label)})" if targets else "`(L)"

        def slot(found: re.Match[str]) -> str:
            return f"c[0x4][{slots.setdefault(found[1], len(slots))}]"

        for instruction in function.instructions:
            lines.append(_SLOT.sub(slot, _SYMBOL.sub(target, instruction.text)))
    return lines
