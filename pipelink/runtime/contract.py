"""What follows from a launch contract and the arguments of a call: dimensions, grid, parameter block, workspaces.

Input: a :class:`~pipelink.runtime.manifest.LaunchContract`, tensor views and scalars.  Output: every value that a
launch needs, or what was expected and what was given.  Nothing here calls the driver: facts about the device arrive as
arguments.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pipelink.runtime.manifest import Argument, Field, LaunchContract
from pipelink.runtime.scalars import PACKERS, convert
from pipelink.runtime.tensors import TensorView
from pipelink.support import expr
from pipelink.support.diagnostics import Note, error, nearest, shown
from pipelink.support.launch import ELEMENT_BYTES, GRID_LIMITS
from pipelink.support.limits import WORKSPACE_BYTES


class Resolved(NamedTuple):
    """Every value of one launch.  ``block`` is the parameter block with zeros where tensor maps and workspaces go;
    ``workspace_bytes`` in the contract's order; a launch whose grid has a zero does nothing.  So has one all of whose
    outputs are empty."""

    dimensions: dict[str, int]
    grid: tuple[int, int, int]
    block: bytes
    workspace_bytes: tuple[int, ...]

    @property
    def empty(self) -> bool:
        return 0 in self.grid


def spread(contract: LaunchContract, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, with the buffers of peers as tensors of their own.

    Raises LinkError ``argument-type``."""
    found = dict(arguments)
    for name, members in contract.peers.items():
        if name not in found:
            continue
        value = found.pop(name)
        if not isinstance(value, Sequence) or isinstance(value, str | bytes) or len(value) != len(members):
            held = f"{len(value)} of them" if isinstance(value, list | tuple) else f"{type(value).__name__}"
            raise error(
                "argument-type",
                f"argument '{name}': expected a sequence of {len(members)} tensors, one for each GPU by its rank, "
                f"given {held}",
            )
        found |= dict(zip(members, value, strict=True))
    return found


def check_names(contract: LaunchContract, given: Sequence[str]) -> None:
    """Raises LinkError ``missing-argument`` or ``unknown-argument``."""
    known = [a.name for a in contract.arguments]
    for name in given:
        if name not in known and name not in contract.dimensions:
            raise error(
                "unknown-argument",
                f"kernel '{contract.kernel}' has no argument {shown(name)}; it takes {contract.signature()}",
                hint=nearest(name, known),
            )
    missing = list(dict.fromkeys(a.peers or a.name for a in contract.arguments if a.name not in given))
    if missing:
        raise error(
            "missing-argument",
            f"kernel '{contract.kernel}' needs {', '.join(repr(m) for m in missing)}; it takes {contract.signature()}",
        )


def infer_dimensions(
    contract: LaunchContract, tensors: Mapping[str, TensorView], given: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The value of each symbolic dimension, from the shapes.

    ``given`` are dimensions passed by name.  Raises LinkError ``argument-shape`` on a wrong rank, a dimension that
    two tensors disagree on; ``missing-argument`` for a dimension that nothing determines."""
    values: dict[str, int] = dict(given or {})
    origin: dict[str, str] = dict.fromkeys(values, "the call")
    for name, argument in contract.tensors.items():
        shape = tensors[name].shape
        if len(shape) != len(argument.shape):
            raise _shape_error(argument, tensors[name], f"expected rank {len(argument.shape)}, given {len(shape)}")
        for dimension, symbol in enumerate(argument.shape):
            if symbol not in contract.dimensions:
                continue
            if symbol not in values:
                values[symbol] = shape[dimension]
                origin[symbol] = f"tensor '{name}'"
            elif values[symbol] != shape[dimension]:
                detail = f"expected {symbol} = {values[symbol]}, given {shape[dimension]}"
                raise _shape_error(
                    argument, tensors[name], detail, Note(f"{symbol} = {values[symbol]} comes from {origin[symbol]}")
                )
    for symbol in contract.dimensions:
        if symbol not in values:
            raise error(
                "missing-argument",
                f"no tensor determines dimension '{symbol}' of kernel '{contract.kernel}': pass {symbol}=",
            )
    return values


def _check_extents(
    contract: LaunchContract,
    tensors: Mapping[str, TensorView],
    values: Mapping[str, int],
    stride: Callable[[str, int], int],
) -> None:
    """Extents that are numbers or expressions.  Raises LinkError ``argument-shape``."""
    for name, argument in contract.tensors.items():
        for text, extent in zip(argument.shape, tensors[name].shape, strict=True):
            if text in contract.dimensions:
                continue
            wanted = expr.evaluate(text, values, stride)
            if extent != wanted:
                raise _shape_error(argument, tensors[name], f"expected {text} = {wanted}, given {extent}")


def _shape_error(argument: Argument, view: TensorView, detail: str, *notes: Note) -> Exception:
    wanted, given = ", ".join(argument.shape), ", ".join(str(extent) for extent in view.shape)
    return error(
        "argument-shape", f"tensor '{argument.name}': expected [{wanted}], given [{given}]: {detail}", notes=notes
    )


def check_tensor(contract: LaunchContract, argument: Argument, view: TensorView) -> None:
    """Element type, strides and alignment of one tensor.  One without elements has no layout to get wrong.

    Raises LinkError ``argument-dtype``, ``argument-read-only``, ``argument-stride``, ``argument-shape`` or
    ``argument-alignment``."""
    name = argument.name
    if view.element != argument.element:
        raise error("argument-dtype", f"tensor '{name}': expected {argument.element}, given {view.element}")
    if argument.written and view.read_only:
        raise error("argument-read-only", f"tensor '{name}' is written, and its owner says that it is read-only")
    if 0 in view.shape:
        return
    if view.rank and view.shape[-1] > 1 and view.strides[-1] != 1:
        raise error(
            "argument-stride",
            f"tensor '{name}': expected a last dimension with stride 1, given strides {list(view.strides)}",
        )
    if name in contract.by_pointer:
        _check_pointer_layout(contract, argument, view)
    if argument.written and overlap(view.shape, view.strides):
        raise error(
            "argument-stride",
            f"tensor '{name}' is written: expected distinct elements, given strides {list(view.strides)}"
            f" of shape {list(view.shape)}, where some lie on each other",
        )
    size = ELEMENT_BYTES[view.element]
    if view.pointer % size:
        raise error(
            "argument-alignment",
            f"tensor '{name}': expected an address that is a multiple of its element's {size} bytes,"
            f" given 0x{view.pointer:x}",
        )
    align = contract.pointer_align.get(name, 1)
    if view.pointer % align:
        raise error(
            "argument-alignment",
            f"tensor '{name}': expected an address that is a multiple of the {align} bytes that kernel"
            f" '{contract.kernel}' reads or writes at once, given 0x{view.pointer:x}",
        )
    if argument.align:
        _check_rows(argument, view)


def overlap(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two elements of a tensor may have one address: each dimension, by rising stride, must step over
    everything that those below it reach."""
    reach = 0
    for stride, extent in sorted((abs(s), x) for s, x in zip(strides, shape, strict=True) if x > 1):
        if stride <= reach:
            return True
        reach += stride * (extent - 1)
    return False


def _check_rows(argument: Argument, view: TensorView) -> None:
    """Every row starts on a multiple of ``align`` bytes and is a multiple of it long."""
    name, align, size = argument.name, argument.align, ELEMENT_BYTES[view.element]
    if view.pointer % align:
        raise error(
            "argument-alignment",
            f"tensor '{name}': expected an address that is a multiple of {align} bytes, given 0x{view.pointer:x}",
        )
    if view.rank and view.shape[-1] * size % align:
        raise error(
            "argument-shape",
            f"tensor '{name}': expected rows that are a multiple of {align} bytes long,"
            f" given {view.shape[-1]} elements of {size} bytes",
        )
    for extent, stride in zip(view.shape[:-1], view.strides[:-1], strict=True):
        if extent > 1 and stride * size % align:
            raise error(
                "argument-stride",
                f"tensor '{name}': expected strides that are multiples of {align} bytes,"
                f" given {stride} elements of {size} bytes",
            )


def _check_pointer_layout(contract: LaunchContract, argument: Argument, view: TensorView) -> None:
    """Dimensions whose stride the kernel is not told must be packed."""
    name, packed = argument.name, 1
    for dimension in range(view.rank - 1, -1, -1):
        extent, stride = view.shape[dimension], view.strides[dimension]
        if extent > 1 and (name, dimension) not in contract.known_strides and stride != packed:
            raise error(
                "argument-stride",
                f"tensor '{name}': expected packed rows (stride {packed} in dimension {dimension}),"
                f" given strides {list(view.strides)}",
                notes=[Note(f"kernel '{contract.kernel}' is not given stride({name}, {dimension})")],
            )
        packed = packed * extent if (name, dimension) not in contract.known_strides else stride * extent


def convert_scalar(argument: Argument, value: object) -> int | float:
    """The scalar as Python number.  Raises LinkError ``argument-type`` or ``argument-range``."""
    return convert(f"argument '{argument.name}'", argument.type, value)


def resolve(
    contract: LaunchContract,
    tensors: Mapping[str, TensorView],
    scalars: Mapping[str, int | float],
    dimensions: Mapping[str, int],
    *,
    sms: int,
    occupancy: Callable[[], int],
    capacity: Callable[[], int],
) -> Resolved:
    """All values of one launch.

    ``sms`` is the device's count, ``occupancy()`` the CTAs that fit on an SM, ``capacity()`` those that fit on the
    device at once; the latter two are only called if the contract needs them.  Raises LinkError ``grid-limit``,
    ``grid-not-resident``, ``argument-shape``, ``argument-range`` or ``bad-expression``."""
    values: dict[str, int] = {**dimensions, "sms": sms}
    values |= {name: value for name, value in scalars.items() if isinstance(value, int)}
    if contract.uses_occupancy:
        values["occupancy"] = occupancy()

    def stride(tensor: str, dimension: int) -> int:
        return tensors[tensor].strides[dimension]

    for name, text in contract.derived:
        values[name] = expr.evaluate(text, values, stride)
    _check_extents(contract, tensors, values, stride)
    grid = tuple(expr.evaluate(text, values, stride) for text in contract.grid)
    _check_grid(contract, grid, capacity)
    written = [name for name, argument in contract.tensors.items() if argument.written]
    if written and all(0 in tensors[name].shape for name in written):
        grid = (0, 0, 0)
    block = bytearray(contract.parameter_bytes)
    for field in contract.fields:
        if field.kind == "pointer":
            struct.pack_into("<Q", block, field.offset, tensors[field.tensor].pointer)
        elif field.kind == "value":
            value = scalars[field.value] if field.value in scalars else expr.evaluate(field.value, values, stride)
            pack_value(block, field, value)
    sizes = tuple(max(0, expr.evaluate(w.bytes, values, stride)) for w in contract.workspaces)
    for workspace, size in zip(contract.workspaces, sizes, strict=True):
        if size > WORKSPACE_BYTES:
            message = f"workspace '{workspace.name}' of kernel '{contract.kernel}': {workspace.bytes} = {size} bytes"
            raise error("argument-range", f"{message}, expected at most {WORKSPACE_BYTES}")
    return Resolved(dict(dimensions), (grid[0], grid[1], grid[2]), bytes(block), sizes)


def pack_value(block: bytearray, field: Field, value: int | float) -> None:
    """Write one value field.  Raises LinkError ``argument-range`` if the type cannot hold it."""
    try:
        PACKERS[field.type].pack_into(block, field.offset, value)
    except (struct.error, OverflowError) as problem:
        raise error(
            "argument-range", f"parameter '{field.name}': {field.value} = {value} does not fit {field.type}"
        ) from problem


def _check_grid(contract: LaunchContract, grid: Sequence[int], capacity: Callable[[], int]) -> None:
    name = contract.kernel
    for axis, extent, limit, text in zip("xyz", grid, GRID_LIMITS, contract.grid, strict=True):
        if not 0 <= extent <= limit:
            raise error("grid-limit", f"grid {axis} of kernel '{name}': {text} = {extent}, expected 0 to {limit}")
    for axis, extent, size in zip("xyz", grid, contract.cluster, strict=True):
        if extent % size:
            raise error(
                "grid-limit", f"grid {axis} of kernel '{name}': {extent}, expected a multiple of the cluster's {size}"
            )
    ctas = grid[0] * grid[1] * grid[2]
    if (contract.resident or contract.cooperative) and ctas > (fitting := capacity()):
        raise error(
            "grid-not-resident",
            f"kernel '{name}' synchronises its whole grid: {ctas} CTAs asked, {fitting} fit on the device at once",
        )
