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
from pipelink.support.launch import INTEGERS, SCALARS


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
class Step:
    """An instruction awaits (``does``: await) that a counter is ``count``, or adds so much to it (add).  Expressions
    over the operands of ``instance`` (empty: the operation's own) and what is ``given`` over the launch's names."""

    does: str
    counters: str
    index: str
    count: str
    instance: str = ""
    given: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(data: Mapping[str, Any]) -> Step:
        """From what the table of :mod:`pipelink.runtime.schema` has read."""
        given = tuple((item["name"], item["value"]) for item in data["given"])
        return Step(data["does"], data["counters"], data["index"], data["count"], data["instance"], given)

    def __str__(self) -> str:
        verb = f"awaits {self.count} at" if self.does == "await" else f"adds {self.count} to"
        named = [f"{name} = {value}" for name, value in self.given]
        named += [f"operands of {self.instance}"] if self.instance else []
        behind = f" ({', '.join(named)})" if named else ""
        return f"{verb} {self.counters}[{self.index}]{behind}"


@dataclass(frozen=True)
class Operation:
    """An operation: the opcode that names it, and its operands, which take ``bytes`` bytes.  ``signals`` are what an
    instruction awaits and adds, in order, ``unstated`` the ports of which that is not known."""

    name: str
    opcode: int
    bytes: int
    operands: tuple[Operand, ...]
    signals: tuple[Step, ...] = ()
    unstated: tuple[str, ...] = ()

    @staticmethod
    def of(data: Mapping[str, Any]) -> Operation:
        """From what the table of :mod:`pipelink.runtime.schema` has read."""
        operands = (Operand(item["name"], item["type"], item["offset"]) for item in data["operands"])
        signals, unstated = tuple(map(Step.of, data["signals"])), tuple(data["unstated"])
        return Operation(data["name"], data["opcode"], data["bytes"], tuple(operands), signals, unstated)

    def pack(self, /, **operands: Any) -> bytes:
        """The operands as an instruction holds them.

        Raises LinkError ``missing-argument``, ``unknown-argument``, ``argument-type`` or ``argument-range``."""
        if operands.keys() != self._names:
            self._refuse(operands)
        values = [operands[operand.name] for operand in self.ordered]
        if all(type(value) is int for value in values):
            try:
                return self._layout.pack(*values)
            except (struct.error, OverflowError):
                pass  # which one it is, convert says
        numbers = (
            convert(f"operand '{one.name}' of '{self.name}'", one.type, value)
            for one, value in zip(self.ordered, values, strict=True)
        )
        return self._layout.pack(*numbers)

    def unpack(self, data: bytes, offset: int = 0) -> tuple[int | float, ...]:
        """The operands that lie in ``data`` from ``offset`` on, in the order of :attr:`ordered`."""
        return self._layout.unpack_from(data, offset)

    def integers(self, instance: str) -> dict[str, int]:
        """What expressions may name of an instance (empty: the operation's own): its integer operands, each with its
        place in :attr:`ordered`."""
        prefix = f"{instance}." if instance else ""
        return {
            one.name.removeprefix(prefix): position
            for position, one in enumerate(self.ordered)
            if one.type in INTEGERS and one.name.startswith(prefix)
        }

    def signature(self) -> str:
        """``matvec(first: i32, step: i32)``."""
        return f"{self.name}({', '.join(f'{operand.name}: {operand.type}' for operand in self.operands)})"

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(operand.name for operand in self.operands)

    @cached_property
    def ordered(self) -> tuple[Operand, ...]:
        """The operands in the order in which they lie."""
        return tuple(sorted(self.operands, key=lambda operand: operand.offset))

    @cached_property
    def _layout(self) -> struct.Struct:
        codes, end = ["<"], 0
        for operand in self.ordered:
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
