"""Programs: the instructions that an interpreter's CTAs run, as the arrays that ``plc::controller`` takes.

Input: the operations of a kernel, and instructions by name.  Output: an int32 array [CTAS, LONGEST, words] and an int32
array [CTAS], as memory that torch, numpy or cupy take without a copy.  An instruction is a word, the opcode, then from
``header`` on the operands, in ``size`` bytes: the layout of ``plc::instruction``, which is the default.
"""

from __future__ import annotations

from array import array
from typing import Any, Final

from pipelink.runtime import program_check
from pipelink.runtime.kernel import Kernel
from pipelink.runtime.manifest import LaunchContract
from pipelink.runtime.program_check import Instruction
from pipelink.support.diagnostics import error, nearest, shown

WORD: Final = 4  # bytes, of the opcode and of the arrays' elements
HEADER: Final = 16  # bytes of plc::instruction before the operands
INSTRUCTION: Final = 128  # bytes of plc::instruction


class Program:
    """The instructions of each CTA, in order.  ``kernel``, or its launch contract, has the operations; ``header`` and
    ``size`` are the interpreter's: where in an instruction the operands begin, and its bytes."""

    def __init__(
        self, kernel: Kernel | LaunchContract, ctas: int, *, header: int = HEADER, size: int = INSTRUCTION
    ) -> None:
        if ctas < 1 or header < WORD or size < header or size % WORD:
            message = f"a program of {shown(ctas)} CTAs whose instructions have {shown(size)} bytes, operands from "
            raise error("argument-range", f"{message}{shown(header)} on: there is no such")
        self.contract = kernel.contract if isinstance(kernel, Kernel) else kernel
        self.operations = {operation.name: operation for operation in self.contract.operations}
        self.header, self.size = header, size
        self.ctas: tuple[list[Instruction], ...] = tuple([] for _ in range(ctas))

    def add(self, cta: int, operation: str, /, **operands: Any) -> None:
        """Append an instruction to those of a CTA.

        Raises LinkError ``unknown-name`` for an operation that there is not, ``argument-range`` for a CTA that there is
        not or operands that leave the instruction, and what :meth:`Operation.pack` raises."""
        found = self.operations.get(operation)
        if found is None:
            hint = nearest(operation, self.operations)
            raise error("unknown-name", f"the kernel has no operation {shown(operation)}", hint=hint)
        if not 0 <= cta < len(self.ctas):
            raise error("argument-range", f"CTA {shown(cta)}: the program is for {len(self.ctas)}")
        if self.header + found.bytes > self.size:
            message = (
                f"the operands of '{operation}' take {found.bytes} bytes from {self.header} on, an instruction has "
            )
            raise error("argument-range", f"{message}{self.size}")
        opcode = found.opcode.to_bytes(WORD, "little")
        data = opcode.ljust(self.header, b"\0") + found.pack(**operands)
        self.ctas[cta].append(Instruction(found, data))

    @property
    def longest(self) -> int:
        """Instructions of the CTA that has most, and at least 1: what a row of :meth:`instructions` has room for."""
        return max(1, *map(len, self.ctas))

    def instructions(self) -> memoryview:
        """int32 [CTAS, LONGEST, words of an instruction]; rows end in zeros.

        >>> torch.frombuffer(program.instructions(), dtype=torch.int32).reshape(ctas, -1, 32)"""
        data = bytearray(len(self.ctas) * self.longest * self.size)
        for cta, stream in enumerate(self.ctas):
            for number, instruction in enumerate(stream):
                at = (cta * self.longest + number) * self.size
                data[at : at + len(instruction.data)] = instruction.data
        return memoryview(data).cast("i", (len(self.ctas), self.longest, self.size // WORD))

    def lengths(self) -> memoryview:
        """int32 [CTAS]: how many instructions each CTA has."""
        return memoryview(array("i", map(len, self.ctas)))

    def check(self, /, **values: int) -> None:
        """Hold the instructions to what they await of each other, in time linear in their number; docs/megakernels.md
        says what that means.  ``values``: dimensions and integers of the launch on which it depends.

        Raises LinkError ``unmet-await``, ``counter-reuse`` or ``program-deadlock`` with a counterexample, ``unproven``
        where an operation does not state what it awaits, ``argument-range`` for a counter that there is not,
        ``missing-argument`` or ``unknown-argument`` for ``values``."""
        program_check.check(self.contract, self.ctas, self.header, values)
