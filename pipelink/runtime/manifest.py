"""The launch contract as data: what arguments a kernel takes, and how its parameter block, grid and workspaces follow
from them.

Input: the ``launch`` object of a manifest.  Output: frozen dataclasses.  Every value has been held to the table of
:mod:`pipelink.runtime.schema`, and :func:`_check` has seen that names mean something and that fields lie inside the
block and apart: whoever launches may rely on both.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from pipelink.runtime.debug import Debug
from pipelink.runtime.operations import Operand, Operation, Step
from pipelink.runtime.schema import LAUNCH, MAX_CLUSTER, Malformed
from pipelink.support import expr
from pipelink.support.diagnostics import LinkError, error
from pipelink.support.launch import BUILTINS, RESERVED, SCALARS
from pipelink.support.limits import MANIFEST_ITEMS
from pipelink.support.watch import BLOCK, BLOCK_ALIGN

ADDRESS: Final = 8  # bytes
MAP_BYTES: Final = 128
MAP_ALIGN: Final = 64  # bytes (CUDA driver API, CUtensorMap)


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

    @property
    def is_integer(self) -> bool:
        """Whether it is a scalar that expressions may name."""
        return self.kind == "scalar" and not self.type.startswith("f")


@dataclass(frozen=True)
class Field:
    """One field of the parameter block: ``kind`` is tensor_map, value, pointer or workspace.  A field of kind peers is
    read as that many pointers, one of kind peer_maps as that many tensor maps."""

    name: str
    offset: int
    bytes: int
    kind: str
    type: str = ""
    value: str = ""
    tensor: str = ""
    element: str = ""
    align: int = 1  # of a pointer: bytes that the address is a multiple of
    box: tuple[int, ...] = ()
    swizzle: str = "none"
    workspace: str = ""


@dataclass(frozen=True)
class Workspace:
    """Device memory of the launch; ``bytes`` is an expression.  ``initial``: zero asks for zeros before every launch,
    once for zeros before the first that uses the memory (further ones find what their predecessors left), none for
    nothing."""

    name: str
    bytes: str
    initial: Literal["zero", "once", "none"]


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
    programmatic: bool
    workspaces: tuple[Workspace, ...]
    parameter_bytes: int
    fields: tuple[Field, ...]
    operations: tuple[Operation, ...] = ()
    debug: Debug | None = None

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> LaunchContract:
        """Raises LinkError ``bad-package`` where the data are not what docs/package-format.md says."""
        try:
            found = LAUNCH.read(data, "launch")
            _check_block(found)
            contract = _contract(found)
            _check(contract)
        except Malformed as problem:
            raise error("bad-package", f"the manifest is malformed: {problem}") from problem
        return contract

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
        return frozenset(known for text in self.expressions for known in expr.strides(text))

    @cached_property
    def pointer_align(self) -> dict[str, int]:
        """By tensor that the kernel reaches through pointers: bytes that its address is a multiple of for them."""
        found: dict[str, int] = {}
        for field in self.fields:
            if field.kind == "pointer":
                found[field.tensor] = max(field.align, found.get(field.tensor, 1))
        return found

    @cached_property
    def by_pointer(self) -> frozenset[str]:
        """Tensors that the kernel reaches through a plain pointer, and not only through a tensor map."""
        return frozenset(f.tensor for f in self.fields if f.kind == "pointer")

    @cached_property
    def uses_occupancy(self) -> bool:
        return any("occupancy" in expr.numbers(text) for text in self.expressions)

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


def _contract(data: Mapping[str, Any]) -> LaunchContract:
    grid, cluster = [*data["grid"], "1", "1"], [*data["cluster"], 1, 1, 1]
    arguments = {item["name"]: item for item in data["arguments"]}
    return LaunchContract(
        kernel=data["kernel"],
        arguments=tuple(argument for item in data["arguments"] for argument in _arguments(item, arguments)),
        dimensions=tuple(data["dimensions"]),
        derived=tuple((item["name"], item["value"]) for item in data["derived"]),
        grid=(grid[0], grid[1], grid[2]),
        cluster=(cluster[0], cluster[1], cluster[2]),
        threads=data["threads"],
        smem_bytes=data["smem_bytes"],
        cooperative=data["cooperative"],
        resident=data["resident"],
        programmatic=data["programmatic"],
        workspaces=tuple(Workspace(item["name"], item["bytes"], item["init"]) for item in data["workspaces"]),
        parameter_bytes=data["parameters"]["bytes"],
        fields=tuple(field for item in data["parameters"]["fields"] for field in _fields(item)),
        operations=tuple(map(Operation.of, data["operations"])),
        debug=None if data["debug"] is None else Debug.of(data["debug"]),
    )


def _arguments(item: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]]) -> Iterator[Argument]:
    """One argument, or of peers a tensor for each GPU, like the one on this."""
    name = item["name"]
    if item["kind"] == "scalar":
        yield Argument(name, "scalar", type=item["type"])
    elif item["kind"] == "tensor":
        yield Argument(name, "tensor", item["element"], tuple(item["shape"]), item["access"], align=item["align"])
    else:
        (local,) = _arguments(others[item["tensor"]], others)
        for rank in range(item["count"]):
            yield replace(local, name=f"{name}[{rank}]", peers=name)


def _fields(item: Mapping[str, Any]) -> Iterator[Field]:
    name, offset, kind = item["name"], item["offset"], item["kind"]
    if kind == "peers":
        for rank in range(item["bytes"] // ADDRESS):
            tensor = f"{item['peers']}[{rank}]"
            yield Field(name, offset + rank * ADDRESS, ADDRESS, "pointer", tensor=tensor, align=item["align"])
        return
    if kind == "peer_maps":
        for rank in range(item["bytes"] // MAP_BYTES):
            own = {"kind": "tensor_map", "tensor": f"{item['peers']}[{rank}]", "offset": offset + rank * MAP_BYTES}
            yield from _fields({**item, **own, "bytes": MAP_BYTES})
        return
    yield Field(
        name=name,
        offset=offset,
        bytes=item["bytes"],
        kind=kind,
        type=item.get("type", ""),
        value=item.get("value", ""),
        tensor=item.get("tensor", ""),
        element=item.get("element", ""),
        align=item.get("align", 1),
        box=tuple(item.get("box", ())),
        swizzle=item.get("swizzle", "none"),
        workspace=item.get("workspace", ""),
    )


def _check_block(data: Mapping[str, Any]) -> None:
    """Arguments, their number and names, and the layout of the parameter block.  Raises Malformed."""
    arguments = data["arguments"]
    _distinct("argument", [item["name"] for item in arguments])
    known = {item["name"]: item for item in arguments}
    if sum(item.get("count", 1) for item in arguments) > MANIFEST_ITEMS:
        raise Malformed(f"more than {MANIFEST_ITEMS} arguments, buffers of peers counted each")
    for item in arguments:
        if item["kind"] == "peers" and known.get(item["tensor"], {}).get("kind") != "tensor":
            raise Malformed(f"peers '{item['name']}' are like '{item['tensor']}', which is no tensor argument")
    workspaces = {item["name"] for item in data["workspaces"]}
    block, end, before = data["parameters"], 0, ""
    for item in sorted(block["fields"], key=lambda item: item["offset"]):
        name, offset, size, kind = f"field '{item['name']}'", item["offset"], item["bytes"], item["kind"]
        held = struct.calcsize(SCALARS[item["type"]]) if kind == "value" else size
        align = {"tensor_map": MAP_ALIGN, "peer_maps": MAP_ALIGN, "value": held}.get(kind, ADDRESS)
        if offset < end:
            raise Malformed(f"{name} begins at {offset}, before {before} ends at {end}")
        if offset % align:
            raise Malformed(f"{name} begins at {offset}, expected a multiple of {align}")
        before, end = name, offset + size
        match kind:
            case "value" if size < held:
                raise Malformed(f"{name} has {size} bytes, which do not hold {item['type']}")
            case "workspace" if item["workspace"] not in workspaces:
                raise Malformed(f"{name} names workspace '{item['workspace']}', which there is not")
            case "tensor_map" | "pointer" if known.get(item["tensor"], {}).get("kind") != "tensor":
                raise Malformed(f"{name} names '{item['tensor']}', which is no tensor argument")
            case "tensor_map":
                _check_map(name, item, known[item["tensor"]])
            case "peers" | "peer_maps":
                peers, each = known.get(item["peers"], {}), ADDRESS if kind == "peers" else MAP_BYTES
                if peers.get("kind") != "peers" or size != each * peers["count"]:
                    raise Malformed(f"{name} of {size} bytes names '{item['peers']}', which is not as many peers")
                if kind == "peer_maps":
                    _check_map(name, item, known[peers["tensor"]])
            case _:
                pass
    if end > block["bytes"]:
        raise Malformed(f"the parameter block has {block['bytes']} bytes, and its fields end at {end}")
    if data["debug"] is not None:
        offset = data["debug"]["offset"]
        if offset < end or offset % BLOCK_ALIGN:
            raise Malformed(f"the debug block begins at {offset}, expected a multiple of {BLOCK_ALIGN} from {end} on")
        if offset + BLOCK.size > block["bytes"]:
            raise Malformed(f"the debug block at {offset} leaves the parameter block of {block['bytes']} bytes")


def _check_map(name: str, item: Mapping[str, Any], tensor: Mapping[str, Any]) -> None:
    """Whether a field can be a map of a tensor argument.  Raises Malformed."""
    if item["element"] != tensor["element"] or not len(item["box"]) <= len(tensor["shape"]) <= 5:
        raise Malformed(f"{name} is no map of tensor '{tensor['name']}': other elements or dimensions")


def _check_operands(operation: Operation) -> None:
    """Names and places of the operands.  Raises Malformed."""
    what = f"operand of operation '{operation.name}'"
    _distinct(what, [operand.name for operand in operation.operands])
    end, before = 0, Operand("", "i8", 0)
    for operand in sorted(operation.operands, key=lambda operand: operand.offset):
        if operand.offset < end:
            begins = f"{what}: '{operand.name}' begins at {operand.offset}"
            raise Malformed(f"{begins}, before '{before.name}' ends at {end}")
        if operand.offset % operand.bytes:
            raise Malformed(
                f"{what}: '{operand.name}' begins at {operand.offset}, expected a multiple of {operand.bytes}"
            )
        end, before = operand.offset + operand.bytes, operand
    if end > operation.bytes:
        raise Malformed(f"{what}: they have {operation.bytes} bytes, and end at {end}")


def _check_step(contract: LaunchContract, operation: Operation, step: Step, known: set[str]) -> None:
    """What is awaited or added: names of its expressions, and the counters.  Raises Malformed."""
    where = f"operation '{operation.name}' {step}"
    if step.counters not in {workspace.name for workspace in contract.workspaces}:
        raise Malformed(f"{where}: there is no such workspace")
    for _, text in step.given:
        _check_names(contract, text, known, where)
    own = {name for name, _ in step.given} | operation.integers(step.instance).keys()
    for text in (step.index, step.count):
        _check_names(contract, text, own, where)
        if expr.strides(text):
            raise Malformed(f"{where}: stride() is not known to an instruction")


def _distinct(what: str, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        again = next(name for number, name in enumerate(names) if name in names[:number])
        raise Malformed(f"two things have one name: {what} '{again}'")


def _check(contract: LaunchContract) -> None:
    """Names, and that every expression is one over names that a launch knows.  Raises Malformed."""
    _distinct("operation", [operation.name for operation in contract.operations])
    _distinct("dimension", contract.dimensions)
    _distinct("derived value", [*contract.dimensions, *(name for name, _ in contract.derived)])
    _distinct("workspace", [workspace.name for workspace in contract.workspaces])
    numbers = [*contract.dimensions, *(name for name, _ in contract.derived), *contract.scalars]
    for name in [*numbers, *contract.tensors, *contract.peers]:
        if name in (*RESERVED, *BUILTINS, *expr.FUNCTIONS):
            raise Malformed(f"'{name}' is a word of launches and expressions, and no argument or value may have it")
    if math.prod(contract.cluster) > MAX_CLUSTER:
        raise Malformed(f"a cluster of {math.prod(contract.cluster)} CTAs, expected at most {MAX_CLUSTER}")
    known = {*contract.dimensions, *BUILTINS}
    known |= {name for name, scalar in contract.scalars.items() if scalar.is_integer}
    for name, text in contract.derived:
        _check_names(contract, text, known, f"derived value '{name}'")
        known.add(name)
    for argument in contract.tensors.values():
        for extent in argument.shape:
            if extent not in contract.dimensions:
                _check_names(contract, extent, known, f"tensor '{argument.name}'")
    for text in contract.grid:
        _check_names(contract, text, known, "the grid")
    for workspace in contract.workspaces:
        _check_names(contract, workspace.bytes, known, f"workspace '{workspace.name}'")
    for operation in contract.operations:
        _check_operands(operation)
        for step in operation.signals:
            _check_step(contract, operation, step, known)
    for field in contract.fields:
        if field.kind == "value" and field.value not in contract.scalars:
            _check_names(contract, field.value, known, f"field '{field.name}'")


def _check_names(contract: LaunchContract, text: str, known: set[str], where: str) -> None:
    try:
        for tensor, dimension in expr.strides(text):
            if tensor not in contract.tensors or dimension >= len(contract.tensors[tensor].shape):
                raise Malformed(f"{where}: stride({tensor}, {dimension}) names no dimension of an argument")
        unknown = next((name for name in expr.numbers(text) if name not in known), None)
    except LinkError as problem:
        raise Malformed(f"{where}: {problem.diagnostics[0].message}") from problem
    if unknown is not None:
        raise Malformed(f"{where}: unknown name '{unknown}' in '{text}'")
