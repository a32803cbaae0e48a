"""Spells the linker's functions (``pipelink.model.binding``) as text of the ``llvm`` dialect.

Text, because MLIR parses three hundred operations in less than a millisecond, ten times faster than they can be built
one by one from Python, and because a reader sees at once what is generated.  The text is parsed in the context of the
module that the pass works on and moved into the kernel's module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pipelink.contract.abi import LLVM
from pipelink.model.binding import (
    Arg,
    Body,
    Choose,
    Const,
    CursorPointer,
    Definition,
    FieldPointer,
    Frame,
    Instruction,
    Invoke,
    Linear,
    Load,
    ParameterPointer,
    Result,
    Return,
    RoleThread,
    Select,
    SharedAddress,
    TensorMemory,
    Value,
)
from pipelink.support.diagnostics import error
from pipelink.support.mlir import MLIRError, ir

#: llvm types of frame scalars.  f32 stays a float: an integer field would be read through another type.
SCALAR_TYPES: Final[dict[str, str]] = {
    "i8": "i8", "u8": "i8", "bool": "i8", "i16": "i16", "u16": "i16", "bf16": "i16", "f16": "i16", "i32": "i32",
    "u32": "i32", "f32": "f32", "i64": "i64", "u64": "i64", "f64": "f64", "pointer": "!llvm.ptr",
}  # fmt: skip


#: The frame's field that says where the CTA's tensor memory begins.
TENSOR_MEMORY: Final = "tensor_memory"


@dataclass(frozen=True)
class FrameLayout:
    """The frame as an llvm struct: field numbers by name; the parameter pointer comes first, the cursors last."""

    struct: str
    fields: dict[str, int]
    cursors: int
    align: int


def layout_frame(frame: Frame) -> FrameLayout:
    """Number the frame's fields.  States come right after the parameter pointer, by falling alignment."""
    members: list[str] = []
    fields: dict[str, int] = {}
    for state in frame.states:
        fields[state.name] = len(members)
        members.append(f"array<{state.words} x i{8 * state.unit}>")
    fields["params"] = len(members)
    members.append("ptr")
    for scalar in frame.scalars:
        fields[scalar.name] = len(members)
        members.append(SCALAR_TYPES[scalar.type].removeprefix("!llvm."))
    if frame.window:
        fields["window"] = len(members)
        members.append("i32")
    if frame.tensor_memory:
        fields[TENSOR_MEMORY] = len(members)
        members.append("i32")
    members.append(f"array<{max(1, len(frame.parities))} x struct<(i32, i32)>>")
    return FrameLayout(f"!llvm.struct<({', '.join(members)})>", fields, len(members) - 1, frame.align)


@dataclass
class Writer:
    """Writes one function's operations; values are numbered, constants are written where they are used."""

    layout: FrameLayout
    lines: list[str] = field(default_factory=list[str])
    declared: dict[str, str] = field(default_factory=dict[str, str])  # symbol -> declaration
    count: int = 0
    frame: str = "%frame"

    def put(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def new(self, text: str) -> str:
        name = f"%v{self.count}"
        self.count += 1
        self.put(f"{name} = {text}")
        return name

    def constant(self, value: int) -> str:
        signed = value - 2**32 if value >= 2**31 else value
        return self.new(f"llvm.mlir.constant({signed} : i32) : i32")

    def asm(self, text: str, constraints: str, *operands: str) -> None:
        kinds = ", ".join(["i32"] * len(operands))
        self.put(
            f'llvm.inline_asm has_side_effects asm_dialect = att "{text}", "{constraints}" '
            f"{', '.join(operands)} : ({kinds}) -> ()"
        )

    def frame_field(self, frame: str, index: int, *rest: int) -> str:
        path = ", ".join(str(i) for i in (0, index, *rest))
        return self.new(f"llvm.getelementptr inbounds {frame}[{path}] : (!llvm.ptr) -> !llvm.ptr, {self.layout.struct}")

    def shared(self, address: int) -> str:
        """An address in the CTA's own shared memory."""
        if "window" not in self.layout.fields:
            return self.constant(address)
        window = self.new(f"llvm.load {self.frame_field('%frame', self.layout.fields['window'])} : !llvm.ptr -> i32")
        return self.in_window(window, address)

    def in_window(self, window: str, address: int) -> str:
        return self.new(f"llvm.or {window}, {self.constant(address)} : i32")

    def block_pointer(self, offset: int) -> str:
        """The address of a byte of the parameter block, which the frame names."""
        slot = self.frame_field("%frame", self.layout.fields["params"])
        block = self.new(f"llvm.load {slot} : !llvm.ptr -> !llvm.ptr")
        return self.new(f"llvm.getelementptr inbounds {block}[{offset}] : (!llvm.ptr) -> !llvm.ptr, i8")

    def value(self, value: Value, results: dict[str, str]) -> tuple[str, str]:
        """An SSA value and its type."""
        match value:
            case Const(value=number):
                return self.constant(number), "i32"
            case SharedAddress(address=address):
                return self.shared(address), "i32"
            case Arg(name=name):
                kind = "!llvm.ptr" if name in ("frame", "map", "pack", "operands") else "i32"
                return f"%{name}", kind
            case Result(name=name):
                return results[name], "i32"
            case FieldPointer(name=name):
                return self.frame_field(self.frame, self.layout.fields[name]), "!llvm.ptr"
            case CursorPointer(index=index):
                return self.frame_field(self.frame, self.layout.cursors, index), "!llvm.ptr"
            case ParameterPointer(offset=offset):
                return self.block_pointer(offset), "!llvm.ptr"
            case Linear(base=base, stride=stride, argument=argument):
                scaled = self.new(f"llvm.mul %{argument}, {self.constant(stride)} : i32")
                return self.new(f"llvm.add {scaled}, {self.shared(base)} : i32"), "i32"
            case TensorMemory(base=base, stride=stride, argument=argument):
                slot = self.frame_field("%frame", self.layout.fields[TENSOR_MEMORY])
                start = self.new(f"llvm.load {slot} : !llvm.ptr -> i32")
                if not argument:
                    return self.new(f"llvm.add {self.constant(base)}, {start} : i32"), "i32"
                scaled = self.new(f"llvm.mul %{argument}, {self.constant(stride)} : i32")
                column = self.new(f"llvm.add {scaled}, {self.constant(base)} : i32")
                return self.new(f"llvm.add {column}, {start} : i32"), "i32"
            case RoleThread(first=first):
                thread = self.new("nvvm.read.ptx.sreg.tid.x : i32")
                return self.new(f"llvm.sub {thread}, {self.constant(first)} : i32"), "i32"

    def body(self, body: Body, blocks: str, known: Mapping[str, str] | None = None) -> None:
        """The statements of one instance; ``blocks`` prefixes the names of the blocks it needs, ``known`` are results
        of statements before it."""
        results: dict[str, str] = dict(known or {})
        for statement in body:
            match statement:
                case Instruction(text=text):
                    self.asm(text, "~{memory}")
                case Invoke():
                    self.invoke(statement, results)
                case Return(value=None):
                    self.put("llvm.return")
                case Return(value=value):
                    assert value is not None
                    self.give(value, results)
                case Choose(on=on, bodies=bodies):
                    names = self.switch(on, len(bodies), blocks)
                    for name, chosen in zip(names, bodies, strict=True):
                        self.lines.append(f"  {name}:")
                        self.body(chosen, name.removeprefix("^"), results)
                    self.lines.append(f"  ^{blocks}none:")
                    self.put("llvm.unreachable")
                case Load(field=name, pointer=pointer, offset=offset, type=scalar):
                    kind = SCALAR_TYPES[scalar]
                    at = self.new(f"llvm.getelementptr inbounds %{pointer}[{offset}] : (!llvm.ptr) -> !llvm.ptr, i8")
                    value = self.new(f"llvm.load {at} : !llvm.ptr -> {kind}")
                    slot = self.frame_field(self.frame, self.layout.fields[name])
                    self.put(f"llvm.store {value}, {slot} : {kind}, !llvm.ptr")
                case Select(on=on, cases=cases):
                    self.select(on, cases, blocks, results)

    def select(self, on: str, cases: Iterable[tuple[int, Body]], blocks: str, results: Mapping[str, str]) -> None:
        """A switch at run time over an argument, whose cases go on behind it."""
        names = {number: f"^{blocks}case{number}" for number, _ in cases}
        listed = ", ".join(f"{number}: {name}" for number, name in names.items())
        if names:
            self.put(f"llvm.switch %{on} : i32, ^{blocks}selected [{listed}]")
        for number, body in cases:
            self.lines.append(f"  {names[number]}:")
            self.body(body, f"{blocks}case{number}", results)
            self.put(f"llvm.br ^{blocks}selected")
        if names:
            self.lines.append(f"  ^{blocks}selected:")

    def switch(self, on: str, cases: int, blocks: str) -> list[str]:
        """A switch over an argument, which is 0 … cases - 1; the blocks that it goes to."""
        names = [f"^{blocks}part{index}" for index in range(cases)]
        listed = ", ".join(f"{index}: {name}" for index, name in enumerate(names))
        self.put(f"llvm.switch %{on} : i32, ^{blocks}none [{listed}]")
        return names

    def give(self, value: Value, results: dict[str, str]) -> None:
        name, kind = self.value(value, results)
        self.put(f"llvm.return {name} : {kind}")

    def invoke(self, call: Invoke, results: dict[str, str]) -> None:
        arguments = [self.value(argument, results) for argument in call.arguments]
        kinds = ", ".join(kind for _, kind in arguments)
        names = ", ".join(name for name, _ in arguments)
        returned = LLVM[call.returns]
        self.declared[call.function] = (
            f"  llvm.func @{call.function}({kinds})"
            + ("" if returned == "void" else f" -> {returned}")
            + (" attributes {convergent}" if call.convergent else "")
        )
        text = f"llvm.call @{call.function}({names}) : ({kinds}) -> {'()' if returned == 'void' else returned}"
        if call.result:
            results[call.result] = self.new(text)
        else:
            self.put(text)


def write_definition(definition: Definition, layout: FrameLayout) -> tuple[str, dict[str, str]]:
    """Text of one function, and the declarations it needs.  Several instances: a switch over their ids."""
    writer = Writer(layout)
    if len(definition.bodies) == 1:
        writer.body(next(iter(definition.bodies.values())), "")
    else:
        cases = ", ".join(f"{ident}: ^i{ident}" for ident in definition.bodies)
        writer.put(f"llvm.switch %id : i32, ^none [{cases}]")
        for ident, body in definition.bodies.items():
            writer.lines.append(f"  ^i{ident}:")
            writer.body(body, f"i{ident}")
        writer.lines.append("  ^none:")
        writer.put("llvm.unreachable")
    arguments = "".join(f", %{name}: {LLVM[kind]}" for name, kind in definition.arguments)
    returned = "" if definition.returns == "void" else f" -> {LLVM[definition.returns]}"
    head = (
        f"  llvm.func @{definition.symbol}(%id: i32, %frame: !llvm.ptr{arguments}){returned} "
        "attributes {always_inline} {"
    )
    return "\n".join([head, *writer.lines, "  }"]), writer.declared


def functions(kernel: ir.Operation) -> dict[str, ir.Operation]:
    """The functions that stand in a kernel's module so far, by their symbols."""
    return {
        ir.StringAttr(op.operation.attributes["sym_name"]).value: op.operation
        for op in kernel.regions[0].blocks[0].operations
        if op.operation.name == "llvm.func"
    }


def insert(kernel: ir.Operation, texts: Iterable[str], declarations: dict[str, str]) -> None:
    """Parse functions and put them at the end of a kernel's module; declare what is not there yet."""
    texts = list(texts)
    block = kernel.regions[0].blocks[0]
    present = functions(kernel)
    defined = {text.split("@", 1)[1].split("(", 1)[0] for text in texts}
    needed = [text for symbol, text in sorted(declarations.items()) if symbol not in defined]
    source = "module {\n" + "\n".join([*needed, *texts]) + "\n}\n"
    try:
        parsed = ir.Module.parse(source, kernel.context)
    except MLIRError as problem:
        raise error("internal-error", f"generated code does not parse: {problem}") from problem
    for op in list(parsed.body.operations):
        symbol = ir.StringAttr(op.operation.attributes["sym_name"]).value
        if symbol in present:
            if not op.operation.regions[0].blocks:  # declared or defined already
                continue
            present[symbol].erase()  # a declaration that an earlier pass needed, or the same definition
        block.append(op)
