"""A linked kernel as a ``torch.library`` operator.

The launch contract says what the operator takes and returns: tensors that the kernel reads and scalars become
arguments, in the contract's order; tensors that it only writes are allocated and returned; one that it reads and writes
is an argument that the operator changes.  The fake kernel follows from the same contract, symbolic shapes included, so
that ``torch.compile`` traces the operator without running it and without a break in its graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import torch  # pyright: ignore[reportMissingImports]

from pipelink.runtime import Kernel, load
from pipelink.runtime.manifest import Argument, LaunchContract
from pipelink.support import expr
from pipelink.support.diagnostics import error, nearest
from pipelink.torch.table import FOLDER, Packaged

PackagedT = TypeVar("PackagedT", bound=Packaged)

_ELEMENTS: dict[str, str] = {
    "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16",
    "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool",
    "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e8m0": "float8_e8m0fnu",
}  # fmt: skip
_FLOATS = ("f16", "f32", "f64")
_MULTIPLE = re.compile(r"\s*(\d+)\s*\*\s*([A-Za-z_]\w*)\s*")  # an extent that gives a dimension when it is divided

Extent = str | int
Outputs = Mapping[str, Sequence[Extent] | None] | Sequence[str]


def torch_type(element: str) -> Any:
    """The torch dtype of an element type.  Raises LinkError ``argument-dtype``."""
    found = getattr(torch, _ELEMENTS.get(element, ""), None)
    if found is None:
        raise error("argument-dtype", f"torch has no type for elements of type {element}")
    return found


@dataclass(frozen=True)
class Signature:
    """What an operator takes and returns.  ``arguments`` are tensors and numbers; ``dimensions`` are those that no
    input determines, which become integer arguments.  ``outputs`` are allocated: each with its extents as expressions
    over dimensions."""

    contract: LaunchContract
    arguments: tuple[Argument, ...]
    dimensions: tuple[str, ...]
    outputs: tuple[tuple[Argument, tuple[str, ...]], ...]

    @property
    def inputs(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.kind == "tensor")

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments' names, in order."""
        return (*(a.name for a in self.arguments), *self.dimensions)

    @property
    def changed(self) -> tuple[str, ...]:
        """The inputs that the kernel writes."""
        return tuple(a.name for a in self.inputs if a.written)

    @property
    def schema(self) -> str:
        """As ``torch.library`` takes it: ``(Tensor a, Tensor(m0!) c, float alpha, SymInt n) -> Tensor``."""
        parts: list[str] = []
        for a in self.arguments:
            if a.kind == "tensor":
                mark = f"(m{self.changed.index(a.name)}!)" if a.written else ""
                parts.append(f"Tensor{mark} {a.name}")
            else:
                kind = "float" if a.type in _FLOATS else "bool" if a.type in ("bool", "i1") else "int"
                parts.append(f"{kind} {a.name}")
        parts += [f"SymInt {name}" for name in self.dimensions]
        returns = ["Tensor"] * len(self.outputs)
        return f"({', '.join(parts)}) -> {returns[0] if len(returns) == 1 else '(' + ', '.join(returns) + ')'}"

    def sizes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Every dimension and derived value, from the tensors' shapes; integers or torch's symbolic ones.

        Raises LinkError ``argument-dtype`` or ``argument-shape``."""
        sizes: dict[str, Any] = {name: values[name] for name in self.dimensions}
        later: list[tuple[Argument, str, Any]] = []
        for argument in self.inputs:
            tensor = values[argument.name]
            if tensor.dtype != torch_type(argument.element):
                message = f"expected {torch_type(argument.element)}, given {tensor.dtype}"
                raise error("argument-dtype", f"tensor '{argument.name}': {message}")
            if tensor.dim() != len(argument.shape):
                message = f"expected rank {len(argument.shape)}, given {tensor.dim()}"
                raise error("argument-shape", f"tensor '{argument.name}' [{', '.join(argument.shape)}]: {message}")
            for extent, size in zip(argument.shape, tensor.shape, strict=True):
                solved = _solve(extent, size)
                if solved is not None and solved[0] not in sizes:
                    sizes[solved[0]] = solved[1]
                later.append((argument, extent, size))
        for argument, extent, size in later:
            wanted = expr.evaluate(extent, sizes)
            if wanted != size:
                message = f"expected {extent} = {wanted}, given {size}"
                raise error("argument-shape", f"tensor '{argument.name}' [{', '.join(argument.shape)}]: {message}")
        return sizes

    def allocate(self, values: Mapping[str, Any]) -> list[Any]:
        """The outputs, uninitialised, on the device of the inputs."""
        sizes = self.sizes(values)
        for name, value in self.contract.derived:
            if any(name in extents for _, extents in self.outputs):
                sizes[name] = expr.evaluate(value, sizes)
        device = values[self.inputs[0].name].device if self.inputs else torch.device("cuda")
        return [
            torch.empty(
                [expr.evaluate(extent, sizes) for extent in extents], dtype=torch_type(a.element), device=device
            )
            for a, extents in self.outputs
        ]


def _solve(extent: str, size: Any) -> tuple[str, Any] | None:
    """(dimension, value) where an extent of that size determines one."""
    if extent.isidentifier():
        return extent, size
    found = _MULTIPLE.fullmatch(extent)
    return (found[2], size // int(found[1])) if found and int(found[1]) else None


def describe(
    contract: LaunchContract, inputs: Sequence[str] | None = None, outputs: Outputs | None = None
) -> Signature:
    """The signature of an operator.  Raises LinkError ``unknown-argument`` or ``missing-argument``."""
    if outputs is None:
        outputs = [a.name for a in contract.tensors.values() if a.access == "write"]
    shapes = dict(outputs) if isinstance(outputs, Mapping) else dict.fromkeys(outputs)
    known = {a.name: a for a in contract.arguments}
    for name in (*shapes, *(inputs or ())):
        if name not in known:
            raise error(
                "unknown-argument",
                f"kernel '{contract.kernel}' has no argument '{name}'; it takes {contract.signature()}",
                hint=nearest(name, known),
            )
    if not shapes:
        message = f"no tensor of kernel '{contract.kernel}' is only written, so the operator would return nothing"
        raise error("missing-argument", message, hint="name its outputs with outputs=")
    order = list(inputs) if inputs is not None else [name for name in known if name not in shapes]
    missing = [name for name in known if name not in shapes and name not in order]
    if missing:
        message = f"kernel '{contract.kernel}' also needs {', '.join(missing)}; it takes {contract.signature()}"
        raise error("missing-argument", message, hint="name them in inputs= or outputs=")
    arguments = tuple(known[name] for name in order)
    found = {solved[0] for a in arguments for extent in a.shape if (solved := _solve(extent, 0)) is not None}
    made = tuple(
        (contract.tensors[name], tuple(map(str, shape if shape is not None else contract.tensors[name].shape)))
        for name, shape in shapes.items()
    )
    dimensions = tuple(name for name in contract.dimensions if name not in found)
    return Signature(contract, arguments, dimensions, made)


def register(
    name: str,
    kernel: str | Path | bytes | Kernel,
    inputs: Sequence[str] | None = None,
    outputs: Outputs | None = None,
) -> Callable[..., Any]:
    """Make a linked kernel the operator ``name`` (``library::operator``), and return it as a callable.

    ``kernel`` is a package or a loaded kernel.  ``inputs`` is the order of the arguments, by default the contract's.
    ``outputs`` names the tensors that the operator allocates and returns,
    by default those that the kernel only writes; as a mapping it also gives their extents as expressions over the
    contract's dimensions, where those of the contract are not meant.  Arguments are positional or by name.

    A call launches on torch's current stream of the tensors' device.  Before a capture of a CUDA graph, call it once
    with the same shapes.  Raises LinkError from loading, and for a contract that makes no operator; a call raises
    LinkError for arguments that do not fit."""
    if not re.fullmatch(r"[A-Za-z_]\w*::[A-Za-z_]\w*", name):
        raise error("argument-type", f"operator '{name}': expected a name such as 'mylib::gemm'")
    loaded = kernel if isinstance(kernel, Kernel) else load(kernel)
    signature = describe(loaded.contract, inputs, outputs)

    def result(made: list[Any]) -> Any:
        return made[0] if len(made) == 1 else tuple(made)

    def run(*arguments: Any, **named: Any) -> Any:
        values = dict(zip(signature.names, arguments, strict=False)) | named
        for a in signature.inputs:
            if values[a.name].device.type != "cuda":
                message = f"tensor '{a.name}': expected a CUDA device, given {values[a.name].device}"
                raise error("argument-device", message)
        made = signature.allocate(values)
        values |= {a.name: tensor for (a, _), tensor in zip(signature.outputs, made, strict=True)}
        launch(loaded, values)
        return result(made)

    def fake(*arguments: Any, **named: Any) -> Any:
        return result(signature.allocate(dict(zip(signature.names, arguments, strict=False)) | named))

    operator = torch.library.custom_op(name, run, mutates_args=signature.changed, schema=signature.schema)
    operator.register_fake(fake)
    return operator


def launch(kernel: Kernel, values: dict[str, Any]) -> None:
    """Launch, and keep a workspace ready for a capture that may follow."""
    kernel(**values)
    if kernel.contract.workspaces and not torch.cuda.is_current_stream_capturing():
        kernel.preload(**values)  # behind the launch, which takes what was ready for the stream's own


@lru_cache(maxsize=128)
def _loaded(path: Path) -> Kernel:
    return load(path)


def _device(device: int) -> tuple[tuple[int, int], int]:
    """Compute capability and SMs."""
    properties: Any = torch.cuda.get_device_properties(device)
    return (properties.major, properties.minor), properties.multi_processor_count


def built_kernel(
    operator: str,
    entries: Sequence[PackagedT],
    folder: str,
    device: int,
    choose: Callable[[Sequence[PackagedT], tuple[int, int], int], PackagedT | None],
) -> Kernel:
    """A kernel that ``python -m pipelink.torch build`` has linked into ``folder`` (empty: the package's own): of the
    entries that are there, the one that ``choose(entries, compute capability, SMs)`` takes for the device.

    Raises LinkError ``no-image`` where it takes none."""
    where = Path(folder) if folder else FOLDER
    capability, sms = _device(device)
    there = [entry for entry in entries if (where / entry.file).is_file()]
    found = choose(there, capability, sms)
    if found is None:
        raise error(
            "no-image",
            f"{operator}: no kernel in '{where}' for device {device}, which is sm_{capability[0]}{capability[1]}",
            hint="`python -m pipelink.torch build` links them, where the compilers are" if not there else None,
        )
    return _loaded(where / found.file)


def linked_kernel(operator: str, entries: Sequence[Packaged], folder: str, device: int) -> Kernel:
    """The kernel of the first of ``entries``: out of ``folder`` (empty: the package's own), or linked now where the
    compilers are, or else of the first of the others that the folder holds.

    Raises LinkError ``no-image`` where there is none, or none runs on the device."""
    where, wanted = Path(folder) if folder else FOLDER, entries[0]
    capability, _ = _device(device)
    if not wanted.runs_on(capability):
        message = f"{operator}: its kernels are for {', '.join(wanted.archs)}"
        raise error("no-image", f"{message}, and device {device} is sm_{capability[0]}{capability[1]}")
    if not (where / wanted.file).is_file():
        from pipelink.torch.linking import linked_package

        package = linked_package(wanted.file.removesuffix(".plk"))
        if package is not None:
            return load(package)
    for entry in entries:
        if (where / entry.file).is_file():
            return _loaded(where / entry.file)
    name, into = wanted.file.removesuffix(".plk"), f" '{folder}'" if folder else ""
    raise error(
        "no-image",
        f"{operator}: no kernel '{name}' in '{where}', and no compilers that could link it",
        hint=f"`python -m pipelink.torch build{into} --only {name}` links it, where the compilers are",
    )
