"""The launch contract as straight-line Python: what a launch with a new shape costs the host.

Input: a :class:`LaunchContract`.  Output: a function from tensor views and numbers to every value of the launch, tensor
maps included, made once where the code is loaded.  It says yes or nothing: what it does not take goes through the
checks of :mod:`pipelink.runtime.contract` and :mod:`pipelink.runtime.tensor_map` one by one, which say what is wrong.
So it must take only what they take, and give the same; test/unit/runtime/test_compiled.py holds the two together.

The source is made here from the validated trees of the contract's expressions.  Its names are numbered, and texts of
the package reach it as values of variables only.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from pipelink.runtime.contract import Resolved, convert_scalar, overlap
from pipelink.runtime.manifest import Argument, LaunchContract
from pipelink.runtime.tensor_map import DATA_TYPES, MAX_EXTENT, MAX_STRIDE, SWIZZLES, UNIT, DescriptorTuple, check_box
from pipelink.runtime.tensors import ViewTuple
from pipelink.support import expr
from pipelink.support.diagnostics import LinkError
from pipelink.support.launch import ELEMENT_BYTES, GRID_LIMITS, SCALARS
from pipelink.support.limits import LAUNCH_NUMBER, WORKSPACE_BYTES


class _Run(Protocol):
    def __call__(
        self,
        views: Sequence[ViewTuple],
        numbers: Sequence[int | float],
        dimensions: Sequence[int],
        sms: int,
        occupancy: Callable[[], int],
        capacity: Callable[[], int],
    ) -> tuple[Resolved, tuple[DescriptorTuple, ...]] | None: ...


@dataclass(frozen=True)
class Compiled:
    """A contract's function.  ``run`` takes views and numbers in the contract's order, then its free dimensions.  Its
    descriptors are in the order of ``maps``, byte offsets in the parameter block, and none where the grid is empty.

    ``run`` gives None, or raises ValueError, ArithmeticError or struct.error, for what it does not take."""

    scalars: tuple[Argument, ...]
    maps: tuple[int, ...]
    run: _Run

    def numbers(self, arguments: Mapping[str, Any]) -> list[int | float]:
        """The scalars of a call.  Raises LinkError ``argument-type`` or ``argument-range``."""
        return [convert_scalar(scalar, arguments[scalar.name]) for scalar in self.scalars]


def compile_contract(contract: LaunchContract) -> Compiled | None:
    """None where the contract has a part that no launch could fulfil, or that this file does not know."""
    try:
        return _Writer(contract).compiled()
    except (_Unknown, LinkError):
        return None


class _Unknown(Exception):
    pass


class _Writer:
    """Writes the function.  Of tensor number i: ``pi`` is its address, ``xi_d`` and ``si_d`` its extent and stride (in
    elements) in dimension d, ``bi_d`` the stride in bytes of its tensor map.  ``ci`` are scalars, ``ni`` dimensions
    that no tensor has, ``di`` derived values, ``g0`` to ``g2`` the grid."""

    def __init__(self, contract: LaunchContract) -> None:
        self.contract = contract
        self.tensors = list(contract.tensors.values())
        self.number = {argument.name: number for number, argument in enumerate(self.tensors)}
        self.scalars = list(contract.scalars.values())
        self.constants: dict[str, object] = {"Resolved": Resolved, "overlap": overlap}
        self.lines: list[str] = []
        self.names: dict[str, str] = {}  # of expressions

    def compiled(self) -> Compiled:
        contract = self.contract
        self._unpack()
        for number, argument in enumerate(self.tensors):
            self._check(number, argument)
        pending = self._dimensions()
        for number, (name, text) in enumerate(contract.derived):
            self.lines.append(f"d{number} = {self._lower(text)}")
            self._refuse(f"not {-LAUNCH_NUMBER} <= d{number} <= {LAUNCH_NUMBER}")
            self.names[name] = f"d{number}"
        for extent, text in pending:
            self._refuse(f"{extent} != {self._lower(text)}")
        self._grid()
        block = self._block()
        sizes = self._workspaces()
        if written := [self.number[argument.name] for argument in self.tensors if argument.written]:
            self.lines.append(f"if not ({' or '.join(map(self._filled, written))}): g0 = g1 = g2 = 0")
        self.lines.append(f"resolved = Resolved({self._sizes}, (g0, g1, g2), {block}, {_tuple(sizes)})")
        self.lines.append("if g0 == 0 or g1 == 0 or g2 == 0: return resolved, ()")
        maps = self._maps()
        self.lines.append(f"return resolved, {_tuple(list(maps.values()))}")
        head = "def run(views, numbers, dimensions, sms, occupancy, capacity):"
        source = "\n    ".join([head, *self.lines])
        exec(compile(source, f"<launch contract of {contract.kernel!r}>", "exec"), self.constants)
        return Compiled(
            tuple(self.scalars),
            tuple(maps),
            cast(_Run, self.constants["run"]),
        )

    def _lower(self, text: str) -> str:
        found = expr.lower(text, self.names, self._stride)
        if found is None:
            raise _Unknown(text)
        return found

    def _stride(self, tensor: str, dimension: int) -> str | None:
        number = self.number.get(tensor)
        if number is None or dimension >= len(self.tensors[number].shape):
            return None
        return f"s{number}_{int(dimension)}"

    def _refuse(self, *conditions: str, where: str = "") -> None:
        """``where`` is a condition under which the others refuse."""
        if conditions:
            refused = " or ".join(conditions)
            self.lines.append(f"if ({refused}) and {where}: return None" if where else f"if {refused}: return None")

    def _filled(self, number: int) -> str:
        """Whether a tensor has elements."""
        extents = [f"x{number}_{d}" for d in range(len(self.tensors[number].shape))]
        return f"({' and '.join(extents)})" if extents else "True"

    def _workspaces(self) -> list[str]:
        sizes: list[str] = []
        for number, workspace in enumerate(self.contract.workspaces):
            self.lines.append(f"w{number} = max(0, {self._lower(workspace.bytes)})")
            self._refuse(f"w{number} > {WORKSPACE_BYTES}")
            sizes.append(f"w{number}")
        return sizes

    def _unpack(self) -> None:
        """A wrong rank is a ValueError."""
        views: list[str] = []
        for number, argument in enumerate(self.tensors):
            ranks = range(len(argument.shape))
            extents = _tuple([f"x{number}_{d}" for d in ranks])
            strides = _tuple([f"s{number}_{d}" for d in ranks])
            views.append(f"(p{number}, {extents}, {strides}, e{number}, _)")
        self.lines.append(f"{_tuple(views)} = views")
        self.lines.append(f"{_tuple([f'c{number}' for number in range(len(self.scalars))])} = numbers")

    def _check(self, number: int, argument: Argument) -> None:
        """What ``check_tensor`` checks."""
        if argument.element not in ELEMENT_BYTES:
            raise _Unknown(argument.element)
        self.constants[f"E{number}"] = argument.element
        pointer, size, rank = f"p{number}", ELEMENT_BYTES[argument.element], len(argument.shape)
        extents, strides = ([f"{letter}{number}_{d}" for d in range(rank)] for letter in "xs")
        self._refuse(f"e{number} != E{number}")
        refused: list[str] = []
        if rank:
            refused.append(f"({strides[-1]} != 1 and {extents[-1]} > 1)")
        unit = max(size, self.contract.pointer_align.get(argument.name, 1))
        if unit > 1:
            refused.append(f"{pointer} % {unit}")
        if argument.align:
            refused.append(f"{pointer} % {argument.align}")
            if rank:
                refused.append(f"{extents[-1]} * {size} % {argument.align}")
            for extent, stride in zip(extents[:-1], strides[:-1], strict=True):
                refused.append(f"({extent} > 1 and {stride} * {size} % {argument.align})")
        if argument.name in self.contract.by_pointer:
            packed = "1"
            for dimension in range(rank - 1, -1, -1):
                extent, stride = extents[dimension], strides[dimension]
                known = (argument.name, dimension) in self.contract.known_strides
                if not known:
                    refused.append(f"({extent} > 1 and {stride} != {packed})")
                packed = f"{stride} * {extent}" if known else extent if packed == "1" else f"{packed} * {extent}"
        if argument.written and rank > 1:
            apart = [f"{strides[d]} >= {strides[d + 1]} * {extents[d + 1]} > 0" for d in range(rank - 1)]
            refused.append(f"not ({' and '.join(apart)}) and overlap({_tuple(extents)}, {_tuple(strides)})")
        self._refuse(*refused, where=self._filled(number) if rank else "")

    def _dimensions(self) -> list[tuple[str, str]]:
        """What ``infer_dimensions`` does, and the names that expressions may use.  Returns extents that are none of
        the dimensions, with their expressions."""
        contract = self.contract
        if any(argument.name in contract.dimensions for argument in contract.arguments):
            raise _Unknown(contract.kernel)  # such an argument would say the dimension, too
        pending: list[tuple[str, str]] = []
        for number, argument in enumerate(self.tensors):
            for dimension, symbol in enumerate(argument.shape):
                extent = f"x{number}_{dimension}"
                if symbol not in contract.dimensions:
                    pending.append((extent, symbol))
                elif symbol in self.names:
                    self._refuse(f"{extent} != {self.names[symbol]}")
                else:
                    self.names[symbol] = extent
        free = {symbol: f"n{number}" for number, symbol in enumerate(contract.free_dimensions)}
        self.names |= free
        self.lines.append(f"{_tuple([*free.values()])} = dimensions")
        self.constants |= {f"N{number}": symbol for number, symbol in enumerate(self.names)}
        self._sizes = "{" + ", ".join(f"N{i}: {value}" for i, value in enumerate(self.names.values())) + "}"
        self.names["sms"] = "sms"
        for number, scalar in enumerate(self.scalars):
            if scalar.is_integer:
                self.names[scalar.name] = f"c{number}"
        if contract.uses_occupancy:
            self.lines.append("o = occupancy()")
            self.names["occupancy"] = "o"
        return pending

    def _grid(self) -> None:
        contract = self.contract
        for axis, (text, limit, size) in enumerate(zip(contract.grid, GRID_LIMITS, contract.cluster, strict=True)):
            self.lines.append(f"g{axis} = {self._lower(text)}")
            if size < 1:
                raise _Unknown(str(size))
            self._refuse(f"not 0 <= g{axis} <= {limit}", *([f"g{axis} % {size}"] if size > 1 else []))
        if contract.resident or contract.cooperative:
            self._refuse("g0 * g1 * g2 > capacity()")

    def _block(self) -> str:
        """The parameter block, with zeros where tensor maps and workspaces go."""
        code, values, end = "<", list[str](), 0
        for field in sorted(self.contract.fields, key=lambda f: f.offset):
            if field.kind not in ("pointer", "value"):
                continue
            kind = "Q" if field.kind == "pointer" else SCALARS.get(field.type)
            if kind is None or field.offset < end:
                raise _Unknown(field.name)
            if field.kind == "pointer":
                values.append(f"p{self._tensor(field.tensor)}")
            else:
                scalar = [number for number, s in enumerate(self.scalars) if s.name == field.value]
                values.append(f"c{scalar[0]}" if scalar else self._lower(field.value))
            code += f"{field.offset - end}x{kind}"
            end = field.offset + struct.calcsize("<" + kind)
        if end > self.contract.parameter_bytes:
            raise _Unknown(self.contract.kernel)
        self.constants["pack"] = struct.Struct(f"{code}{self.contract.parameter_bytes - end}x").pack
        return f"pack({', '.join(values)})"

    def _tensor(self, name: str) -> int:
        if name not in self.number:
            raise _Unknown(name)
        return self.number[name]

    def _maps(self) -> dict[int, str]:
        """What ``describe`` checks, and the descriptor of each tensor map by its offset."""
        found: dict[int, str] = {}
        described: set[int] = set()
        for index, field in enumerate(f for f in self.contract.fields if f.kind == "tensor_map"):
            number = self._tensor(field.tensor)
            argument = self.tensors[number]
            rank, size = len(argument.shape), ELEMENT_BYTES[argument.element]
            if argument.element not in DATA_TYPES or not 1 <= len(field.box) <= rank <= 5:
                raise _Unknown(field.name)
            box = (1,) * (rank - len(field.box)) + field.box
            check_box(field, box, size)
            if number not in described:
                described.add(number)
                self._byte_strides(number, rank, size)
            self.constants[f"B{index}"] = box[::-1]
            extents = _tuple([f"x{number}_{d}" for d in range(rank - 1, -1, -1)])
            strides = _tuple([f"b{number}_{d}" for d in range(rank - 2, -1, -1)])
            found[field.offset] = (
                f"({DATA_TYPES[argument.element]}, p{number}, {extents}, {strides}, B{index},"
                f" {SWIZZLES[field.swizzle]})"
            )
        return found

    def _byte_strides(self, number: int, rank: int, size: int) -> None:
        self._refuse(f"p{number} % {UNIT}", *(f"not 0 < x{number}_{d} <= {MAX_EXTENT}" for d in range(rank)))
        below = f"x{number}_{rank - 1} * {size}"
        for d in range(rank - 2, -1, -1):
            extent, stride, found = f"x{number}_{d}", f"s{number}_{d}", f"b{number}_{d}"
            self.lines.append(f"{found} = {stride} * {size} if {extent} != 1 else -(-({below}) // {UNIT}) * {UNIT}")
            self._refuse(f"{found} % {UNIT}", f"not 0 < {found} < {MAX_STRIDE}")
            below = f"{found} * {extent}"


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
