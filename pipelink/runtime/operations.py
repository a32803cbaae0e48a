"""What instructions name: the operations of a kernel, and how an instruction holds their operands.

Input: ``operations`` of the launch contract (docs/package-format.md).  Output: frozen dataclasses, and the bytes of an
instruction's operands.  What stands before them is the interpreter's, see :mod:`pipelink.runtime.program`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipelink.runtime.scalars import convert
from pipelink.support.diagnostics import error, nearest, shown
from pipelink.support.launch import SCALARS


@dataclass(frozen=True)
class Operand:
    """A number that comes with each instruction, ``offset`` bytes behind the first operand.  Those of passive instances
    are called ``instance.name``."""

    name: str
    type: str
    offset: int

    @property
    def bytes(self) -> int:
        return struct.calcsize(SCALARS[self.type])


@dataclass(frozen=True)
class Operation:
    """An operation: the opcode that names it, and its operands, which take ``bytes`` bytes."""

    name: str
    opcode: int
    bytes: int
    operands: tuple[Operand, ...]

    @staticmethod
    def of(data: Mapping[str, Any]) -> Operation:
        """From what the table of :mod:`pipelink.runtime.schema` has read."""
        operands = (Operand(item["name"], item["type"], item["offset"]) for item in data["operands"])
        return Operation(data["name"], data["opcode"], data["bytes"], tuple(operands))

    def pack(self, /, **operands: Any) -> bytes:
        """The operands as an instruction holds them.

        Raises LinkError ``missing-argument``, ``unknown-argument``, ``argument-type`` or ``argument-range``."""
        if operands.keys() != self._names:
            self._refuse(operands)
        values = [operands[operand.name] for operand in self._ordered]
        if all(type(value) is int for value in values):
            try:
                return self._layout.pack(*values)
            except (struct.error, OverflowError):
                pass  # which one it is, convert says
        numbers = (
            convert(f"operand '{one.name}' of '{self.name}'", one.type, value)
            for one, value in zip(self._ordered, values, strict=True)
        )
        return self._layout.pack(*numbers)

    def signature(self) -> str:
        """``matvec(first: i32, step: i32)``."""
        return f"{self.name}({', '.join(f'{operand.name}: {operand.type}' for operand in self.operands)})"

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(operand.name for operand in self.operands)

    @cached_property
    def _ordered(self) -> tuple[Operand, ...]:
        return tuple(sorted(self.operands, key=lambda operand: operand.offset))

    @cached_property
    def _layout(self) -> struct.Struct:
        codes, end = ["<"], 0
        for operand in self._ordered:
            codes.append(f"{operand.offset - end}x{SCALARS[operand.type]}")
            end = operand.offset + operand.bytes
        return struct.Struct("".join([*codes, f"{self.bytes - end}x"]))

    def _refuse(self, given: Mapping[str, Any]) -> None:
        known = [operand.name for operand in self.operands]
        for name in given:
            if name not in self._names:
                message = f"operation '{self.name}' has no operand {shown(name)}; it is {self.signature()}"
                raise error("unknown-argument", message, hint=nearest(name, known))
        missing = ", ".join(repr(name) for name in known if name not in given)
        raise error("missing-argument", f"operation '{self.name}' needs {missing}; it is {self.signature()}")
