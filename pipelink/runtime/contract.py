"""The launch contract as the runtime reads it: what arguments a kernel takes, and how its parameter block, grid and
workspaces follow from them.

Input: the ``launch`` dictionary of a package's manifest (docs/package-format.md).  Output: frozen dataclasses, and
:func:`resolve`, which turns tensor views and scalars into every value that a launch needs.  Nothing here calls the
driver: facts about the device arrive as arguments.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from pipelink.runtime.debug import Debug
from pipelink.runtime.tensors import ELEMENT_BYTES, TensorView
from pipelink.support import expr
from pipelink.support.diagnostics import Note, error, nearest

GRID_LIMITS = (2**31 - 1, 65535, 65535)  # CTAs in x, y, z: CUDA C++ Programming Guide, technical specifications

# struct codes and inclusive integer ranges of the scalar types
SCALARS = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "f16": "e", "f32": "f", "f64": "d", "bool": "?", "i1": "?",
}  # fmt: skip
_PACKERS = {name: struct.Struct("<" + code) for name, code in SCALARS.items()}


_ADDRESS = struct.Struct("<Q")


@dataclass(frozen=True)
class Argument:
    """A tensor (``element``, ``shape`` of expressions, ``access``) or a scalar (``type``)."""

    name: str
    kind: str
    element: str = ""
    shape: tuple[str, ...] = ()
    access: str = "read"
    type: str = ""
    align: int = 0  # bytes that every row starts on and is a multiple of
    peers: str = ""  # of a tensor that is one of an argument's buffers on several GPUs: that argument

    @property
    def written(self) -> bool:
        return self.access != "read"


@dataclass(frozen=True)
class Field:
    """One field of the parameter block: ``kind`` is tensor_map, value, pointer or workspace.  A field of kind peers is
    read as that many pointers."""

    name: str
    offset: int
    bytes: int
    kind: str
    type: str = ""
    value: str = ""
    tensor: str = ""
    element: str = ""
    box: tuple[int, ...] = ()
    swizzle: str = "none"
    workspace: str = ""


@dataclass(frozen=True)
class Workspace:
    """Device memory of the launch; ``bytes`` is an expression.  ``zero`` asks for zeros before every launch, ``once``
    for zeros before the first that uses the memory: further ones find what their predecessors left."""

    name: str
    bytes: str
    zero: bool
    once: bool = False


@dataclass(frozen=True)
class LaunchContract:
    """The whole contract.  Sizes in bytes, ``grid`` in CTAs, ``smem_bytes`` is dynamic shared memory, ``debug`` says
    what a debug link is watched for."""

    kernel: str
    arguments: tuple[Argument, ...]
    dimensions: tuple[str, ...]
    derived: tuple[tuple[str, str], ...]
    grid: tuple[str, str, str]
    cluster: tuple[int, int, int]
    threads: int
    smem_bytes: int
    cooperative: bool
    resident: bool
    workspaces: tuple[Workspace, ...]
    parameter_bytes: int
    fields: tuple[Field, ...]
    debug: Debug | None = None

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> LaunchContract:
        """Raises LinkError ``bad-package`` where a key is missing or of the wrong type."""
        try:
            grid = [str(value) for value in data["grid"]] + ["1", "1"]
            cluster = [int(value) for value in data.get("cluster", ())] + [1, 1, 1]
            contract = LaunchContract(
                kernel=str(data["kernel"]),
                arguments=tuple(argument for item in data["arguments"] for argument in _arguments(item, data)),
                dimensions=tuple(str(name) for name in data.get("dimensions", ())),
                derived=tuple((str(item["name"]), str(item["value"])) for item in data.get("derived", ())),
                grid=(grid[0], grid[1], grid[2]),
                cluster=(cluster[0], cluster[1], cluster[2]),
                threads=int(data["threads"]),
                smem_bytes=int(data["smem_bytes"]),
                cooperative=bool(data.get("cooperative", False)),
                resident=bool(data.get("resident", False)),
                workspaces=tuple(_workspace(item) for item in data.get("workspaces", ())),
                parameter_bytes=int(data["parameters"]["bytes"]),
                fields=tuple(field for item in data["parameters"]["fields"] for field in _fields(item)),
                debug=Debug.from_json(data["debug"], int(data["parameters"]["bytes"])) if "debug" in data else None,
            )
            _check_references(contract)
            return contract
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise error("bad-package", f"the launch contract is malformed: {problem!r}") from problem

    @cached_property
    def tensors(self) -> dict[str, Argument]:
        return {a.name: a for a in self.arguments if a.kind == "tensor"}

    @cached_property
    def scalars(self) -> dict[str, Argument]:
        return {a.name: a for a in self.arguments if a.kind == "scalar"}

    @cached_property
    def peers(self) -> dict[str, tuple[str, ...]]:
        """By argument that a call passes as a sequence: the tensors that it holds."""
        found: dict[str, tuple[str, ...]] = {}
        for argument in self.arguments:
            if argument.peers:
                found[argument.peers] = (*found.get(argument.peers, ()), argument.name)
        return found

    @cached_property
    def free_dimensions(self) -> tuple[str, ...]:
        """Dimensions that no tensor has: a call passes them."""
        extents = {extent for argument in self.tensors.values() for extent in argument.shape}
        return tuple(name for name in self.dimensions if name not in extents)

    @cached_property
    def names(self) -> frozenset[str]:
        """What a call passes: arguments, and the dimensions that no tensor has."""
        return frozenset([*(a.name for a in self.arguments), *self.free_dimensions])

    @cached_property
    def expressions(self) -> tuple[str, ...]:
        """Every expression of the contract."""
        return (
            *(value for _, value in self.derived),
            *self.grid,
            *(w.bytes for w in self.workspaces),
            *(f.value for f in self.fields if f.kind == "value"),
        )

    @cached_property
    def known_strides(self) -> frozenset[tuple[str, int]]:
        """(tensor, dimension) of every ``stride()`` that the kernel is given."""
        found = re.findall(r"\bstride\(\s*(\w+)\s*,\s*(\d+)\s*\)", " ".join(self.expressions))
        return frozenset((tensor, int(dimension)) for tensor, dimension in found)

    @cached_property
    def by_pointer(self) -> frozenset[str]:
        """Tensors that the kernel reaches through a plain pointer, and not only through a tensor map."""
        return frozenset(f.tensor for f in self.fields if f.kind == "pointer")

    @cached_property
    def uses_occupancy(self) -> bool:
        return any(re.search(r"\boccupancy\b", text) for text in self.expressions)

    def signature(self) -> str:
        """``a: bf16[M, K], out: bf16[M, N] (written), alpha: f32``."""
        parts: list[str] = []
        for a in self.arguments:
            tensor = f"{a.element}[{', '.join(a.shape)}]{' (written)' if a.written else ''}"
            if a.peers:
                parts.append(f"{a.peers}: {len(self.peers[a.peers])} x {tensor}")
            else:
                parts.append(f"{a.name}: {tensor if a.kind == 'tensor' else a.type}")
        return ", ".join(dict.fromkeys(parts))


def _argument(item: Mapping[str, Any]) -> Argument:
    kind = item["kind"]
    if kind == "tensor":
        shape = tuple(str(extent) for extent in item["shape"])
        access, align = str(item.get("access", "read")), int(item.get("align", 0))
        return Argument(str(item["name"]), "tensor", str(item["element"]), shape, access, align=align)
    if kind == "scalar":
        return Argument(str(item["name"]), "scalar", type=str(item["type"]))
    raise ValueError(f"unknown argument kind {kind!r}")


def _check_references(contract: LaunchContract) -> None:
    """Raises ValueError for a field that names no argument or workspace, as launches would look it up."""
    workspaces = {workspace.name for workspace in contract.workspaces}
    for field in contract.fields:
        if field.tensor and field.tensor not in contract.tensors:
            raise ValueError(f"field {field.name!r} names tensor {field.tensor!r}, which is no argument")
        if field.workspace and field.workspace not in workspaces:
            raise ValueError(f"field {field.name!r} names workspace {field.workspace!r}, which there is not")


def _workspace(item: Mapping[str, Any]) -> Workspace:
    init = item.get("init", "none")
    if init not in ("zero", "once", "none"):
        raise ValueError(f"unknown initial content {init!r}")
    return Workspace(str(item["name"]), str(item["bytes"]), init == "zero", init == "once")


def _arguments(item: Mapping[str, Any], contract: Mapping[str, Any]) -> Iterator[Argument]:
    """One argument, or of peers a tensor for each GPU, like the one on this."""
    if item["kind"] != "peers":
        yield _argument(item)
        return
    name, like = str(item["name"]), str(item["tensor"])
    local = next((_argument(other) for other in contract["arguments"] if other["name"] == like), None)
    if local is None:
        raise ValueError(f"peers {name!r} are like {like!r}, which is no argument")
    if int(item["count"]) < 1:
        raise ValueError(f"peers {name!r} are {item['count']} tensors")
    for rank in range(int(item["count"])):
        yield replace(local, name=f"{name}[{rank}]", peers=name)


def _fields(item: Mapping[str, Any]) -> Iterator[Field]:
    if item["kind"] != "peers":
        yield _field(item)
        return
    for rank in range(int(item["bytes"]) // _ADDRESS.size):
        tensor = {"kind": "pointer", "tensor": f"{item['peers']}[{rank}]", "bytes": _ADDRESS.size}
        yield _field({**item, **tensor, "offset": int(item["offset"]) + rank * _ADDRESS.size})


def _field(item: Mapping[str, Any]) -> Field:
    kind = str(item["kind"])
    if kind not in ("tensor_map", "value", "pointer", "workspace"):
        raise ValueError(f"unknown field kind {kind!r}")
    return Field(
        name=str(item.get("name", "")),
        offset=int(item["offset"]),
        bytes=int(item["bytes"]),
        kind=kind,
        type=str(item.get("type", "")),
        value=str(item["value"]) if kind == "value" else "",
        tensor=str(item["tensor"]) if kind in ("tensor_map", "pointer") else "",
        element=str(item["element"]) if kind == "tensor_map" else "",
        box=tuple(int(extent) for extent in item["box"]) if kind == "tensor_map" else (),
        swizzle=str(item.get("swizzle", "none")),
        workspace=str(item["workspace"]) if kind == "workspace" else "",
    )


class Resolved(NamedTuple):
    """Every value of one launch.  ``block`` is the parameter block with zeros where tensor maps and workspaces go;
    ``workspace_bytes`` in the contract's order; a launch whose grid has a zero does nothing."""

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
                f"kernel '{contract.kernel}' has no argument '{name}'; it takes {contract.signature()}",
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
    two tensors disagree on, or an extent that differs from its expression; ``missing-argument`` for a dimension that
    nothing determines."""
    values: dict[str, int] = dict(given or {})
    origin: dict[str, str] = dict.fromkeys(values, "the call")
    pending: list[tuple[Argument, int]] = []
    for name, argument in contract.tensors.items():
        shape = tensors[name].shape
        if len(shape) != len(argument.shape):
            raise _shape_error(argument, tensors[name], f"expected rank {len(argument.shape)}, given {len(shape)}")
        for dimension, symbol in enumerate(argument.shape):
            if symbol not in contract.dimensions:
                pending.append((argument, dimension))
            elif symbol not in values:
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
    for argument, dimension in pending:
        wanted = expr.evaluate(argument.shape[dimension], values)
        if tensors[argument.name].shape[dimension] != wanted:
            detail = f"expected {argument.shape[dimension]} = {wanted}, given {tensors[argument.name].shape[dimension]}"
            raise _shape_error(argument, tensors[argument.name], detail)
    return values


def _shape_error(argument: Argument, view: TensorView, detail: str, *notes: Note) -> Exception:
    wanted, given = ", ".join(argument.shape), ", ".join(str(extent) for extent in view.shape)
    return error(
        "argument-shape", f"tensor '{argument.name}': expected [{wanted}], given [{given}]: {detail}", notes=notes
    )


def check_tensor(contract: LaunchContract, argument: Argument, view: TensorView) -> None:
    """Element type, strides and alignment of one tensor.

    Raises LinkError ``argument-dtype``, ``argument-stride`` or ``argument-alignment``."""
    name = argument.name
    if view.element != argument.element:
        raise error("argument-dtype", f"tensor '{name}': expected {argument.element}, given {view.element}")
    if view.rank and view.shape[-1] > 1 and view.strides[-1] != 1:
        raise error(
            "argument-stride",
            f"tensor '{name}': expected a last dimension with stride 1, given strides {list(view.strides)}",
        )
    if name in contract.by_pointer:
        _check_pointer_layout(contract, argument, view)
    if view.pointer % ELEMENT_BYTES.get(view.element, 1):
        raise error(
            "argument-alignment",
            f"tensor '{name}': expected an address that is a multiple of its element's"
            f" {ELEMENT_BYTES[view.element]} bytes, given 0x{view.pointer:x}",
        )
    if argument.align:
        _check_rows(argument, view)


def _check_rows(argument: Argument, view: TensorView) -> None:
    """Every row starts on a multiple of ``align`` bytes and is a multiple of it long."""
    name, align, size = argument.name, argument.align, ELEMENT_BYTES.get(view.element, 1)
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
    """Dimensions whose stride the kernel is not told must be packed; written ones must not overlap."""
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
        if extent > 1 and argument.written and stride == 0:
            raise error(
                "argument-stride",
                f"tensor '{name}' is written: expected distinct elements, given stride 0 in dimension {dimension}",
            )
        packed = packed * extent if (name, dimension) not in contract.known_strides else stride * extent


def convert_scalar(argument: Argument, value: object) -> int | float:
    """The scalar as Python number.  Raises LinkError ``argument-type`` or ``argument-range``."""
    packer = _PACKERS.get(argument.type)
    if packer is None:
        raise error("argument-type", f"{_wanted(argument)}, which this runtime cannot pass by value")
    number: int | float
    try:
        if hasattr(value, "__dlpack__"):
            raise TypeError  # a tensor's value may change behind its address
        if argument.type.startswith("f"):
            if isinstance(value, str | bytes):
                raise TypeError
            number = float(value)  # type: ignore[arg-type]
        elif isinstance(value, bool):
            number = int(value)
        else:
            number = int(value.__index__())  # type: ignore[attr-defined]
    except (TypeError, ValueError, AttributeError) as problem:
        raise error("argument-type", f"{_wanted(argument)}, given {type(value).__name__} {value!r:.60}") from problem
    try:
        packer.pack(number)
    except (struct.error, OverflowError) as problem:
        raise error("argument-range", f"{_wanted(argument)}, given {value!r:.60}, which it cannot hold") from problem
    return number


def _wanted(argument: Argument) -> str:
    return f"argument '{argument.name}': expected {argument.type}"


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
    ``grid-not-resident``, ``argument-range`` or ``bad-expression``."""
    values: dict[str, int] = {**dimensions, "sms": sms}
    values |= {name: value for name, value in scalars.items() if isinstance(value, int)}
    if contract.uses_occupancy:
        values["occupancy"] = occupancy()

    def stride(tensor: str, dimension: int) -> int:
        if tensor not in tensors or dimension >= tensors[tensor].rank:
            raise error("bad-expression", f"stride({tensor}, {dimension}) names no dimension of an argument")
        return tensors[tensor].strides[dimension]

    for name, text in contract.derived:
        values[name] = expr.evaluate(text, values, stride)
    grid = tuple(expr.evaluate(text, values, stride) for text in contract.grid)
    _check_grid(contract, grid, capacity)
    block = bytearray(contract.parameter_bytes)
    for field in contract.fields:
        if field.kind == "pointer":
            struct.pack_into("<Q", block, field.offset, tensors[field.tensor].pointer)
        elif field.kind == "value":
            value = scalars[field.value] if field.value in scalars else expr.evaluate(field.value, values, stride)
            pack_value(block, field, value)
    sizes = tuple(max(0, expr.evaluate(w.bytes, values, stride)) for w in contract.workspaces)
    return Resolved(dict(dimensions), (grid[0], grid[1], grid[2]), bytes(block), sizes)


def pack_value(block: bytearray, field: Field, value: int | float) -> None:
    """Write one value field.  Raises LinkError ``argument-range`` if the type cannot hold it."""
    code = SCALARS.get(field.type)
    if code is None:
        raise error("bad-package", f"parameter '{field.name}' has type {field.type}, which this runtime cannot pass")
    try:
        struct.pack_into("<" + code, block, field.offset, value)
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
