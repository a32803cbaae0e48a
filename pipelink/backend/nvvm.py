"""Fused kernels to LTO-IR: MLIR ``llvm``/``nvvm`` dialect -> NVVM IR text (llvmlite) -> LTO-IR (libNVVM).

Input is a kernel module after ``fuse``: nothing but ``llvm.func`` operations, one of which carries ``nvvm.kernel``.
libNVVM reads LLVM 7 for every architecture up to compute_90a, with typed pointers, so MLIR's own export (opaque
pointers) cannot be used: this file builds the text with llvmlite.  Every ``!llvm.ptr`` becomes ``i8*`` and is cast
where it is used, which costs nothing.  The generated code has no block arguments: it is shaped like front-end output
(branches, reloads, allocas in the entry block), since that is what makes the linked machine code equal a monolith's.

Sources: NVVM IR specification 2.0 (data layout, annotations), LLVM 7 language reference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from llvmlite import ir as ll

from pipelink.backend.libnvvm import DATA_LAYOUT, ERROR_IF_DIFFERENT, TRIPLE, NvvmKernel, compile_ltoir, describe
from pipelink.support.diagnostics import Location, error
from pipelink.support.mlir import ir

_BYTE_POINTER: Final = ll.IntType(8).as_pointer()
_SREGS: Final = {
    f"nvvm.read.ptx.sreg.{register}": f"llvm.nvvm.read.ptx.sreg.{register}"
    for register in ("tid.x", "ctaid.x", "nctaid.x", "laneid")
}
_BINARY: Final = {
    "llvm.add": "add",
    "llvm.sub": "sub",
    "llvm.mul": "mul",
    "llvm.and": "and_",
    "llvm.or": "or_",
    "llvm.xor": "xor",
    "llvm.shl": "shl",
    "llvm.lshr": "lshr",
    "llvm.udiv": "udiv",
}
_PREDICATES: Final = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")  # LLVM::ICmpPredicate; from 6 unsigned


@dataclass(frozen=True)
class Entry:
    """What the linker generated for one kernel: NVVM IR text and the LTO-IR libNVVM made of it."""

    nvvm: str
    ltoir: bytes


class _Types:
    """MLIR types to llvmlite types, by text (``!llvm.struct`` has no Python accessors)."""

    def __init__(self) -> None:
        self._known: dict[str, ll.Type] = {"ptr": _BYTE_POINTER, "void": ll.VoidType(), "f32": ll.FloatType()}

    def get(self, text: str) -> ll.Type:
        text = text.removeprefix("!llvm.").strip()
        if text not in self._known:
            self._known[text] = self._parse(text)
        return self._known[text]

    def _parse(self, text: str) -> ll.Type:
        if match := re.fullmatch(r"i(\d+)", text):
            return ll.IntType(int(match[1]))
        if match := re.fullmatch(r"array<(\d+) x (.*)>", text):
            return ll.ArrayType(self.get(match[2]), int(match[1]))
        if match := re.fullmatch(r"struct<(packed )?\((.*)\)>", text):
            return ll.LiteralStructType([self.get(part) for part in _split(match[2])], packed=bool(match[1]))
        if match := re.fullmatch(r"func<(.*) \((.*)\)>", text):
            return ll.FunctionType(self.get(match[1]), [self.get(part) for part in _split(match[2])])
        raise error("internal-error", f"no NVVM IR type for '{text}'")


class _Lines:
    """Line information of generated functions: all of it is the kernel's own line.  Without any, the functions that are
    inlined into them would lose theirs (LLVM language reference, DISubprogram and DILocation).  The emission kind and
    the flag's behaviour are those of nvcc -lineinfo, with which the components' modules have to agree."""

    def __init__(self, module: Any, where: Location) -> None:
        self._module, self._line = module, max(1, where.line)
        folder, _, name = where.file.rpartition("/")
        self._file = module.add_debug_info("DIFile", {"filename": name, "directory": folder})
        unit = {
            "language": ll.DIToken("DW_LANG_C_plus_plus"), "file": self._file, "producer": "PipeLink",
            "isOptimized": True, "runtimeVersion": 0, "emissionKind": ll.DIToken("DebugDirectivesOnly"),
        }  # fmt: skip
        self._unit = module.add_debug_info("DICompileUnit", unit, is_distinct=True)
        self._type = module.add_debug_info("DISubroutineType", {"types": module.add_metadata([])})
        i32 = ll.IntType(32)
        module.add_named_metadata("llvm.dbg.cu", self._unit)
        version = module.add_metadata([i32(ERROR_IF_DIFFERENT), "Debug Info Version", i32(3)])
        module.add_named_metadata("llvm.module.flags", version)

    def place(self, function: Any) -> Any:
        """Attach a subprogram to ``function``; returns the location of its instructions."""
        program = {
            "name": function.name, "linkageName": function.name, "scope": self._file, "file": self._file,
            "line": self._line, "type": self._type, "isLocal": False, "isDefinition": True, "scopeLine": self._line,
            "isOptimized": True, "unit": self._unit,
        }  # fmt: skip
        scope = self._module.add_debug_info("DISubprogram", program, is_distinct=True)
        function.set_metadata("dbg", scope)
        return self._module.add_debug_info("DILocation", {"line": self._line, "column": 1, "scope": scope})


def _split(text: str) -> list[str]:
    """Split at the top-level commas of a type list."""
    parts: list[str] = []
    depth = start = 0
    for at, character in enumerate(text):
        if character in "<(":
            depth += 1
        elif character in ">)":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    if text[start:].strip():
        parts.append(text[start:].strip())
    return parts


class _Translator:
    """One module.  Values are looked up by their MLIR value, blocks by their position in the region."""

    def __init__(self, name: str, lines: Location | None) -> None:
        self.module: Any = ll.Module(name)
        self.module.triple = TRIPLE
        self.module.data_layout = DATA_LAYOUT
        self.types = _Types()
        self.functions: dict[str, ll.Function] = {}
        self.kernels: list[NvvmKernel] = []
        self.lines = _Lines(self.module, lines) if lines is not None else None

    # ------------------------------------------------------------------ functions
    def declare(self, op: ir.Operation) -> None:
        name = ir.StringAttr(op.attributes["sym_name"]).value
        function_type = self.types.get(str(ir.TypeAttr(op.attributes["function_type"]).value))
        function = ll.Function(self.module, function_type, name)
        self.functions[name] = function
        if "always_inline" in op.attributes:
            function.attributes.add("alwaysinline")
        function.attributes.add("nounwind")
        if "convergent" in op.attributes:
            function.attributes.add("convergent")
        if "arg_attrs" in op.attributes:
            for argument, attributes in zip(function.args, ir.ArrayAttr(op.attributes["arg_attrs"]), strict=True):
                self._argument(function, argument, ir.DictAttr(attributes))
        if "nvvm.kernel" in op.attributes:
            self.kernels.append(_kernel(function, op))

    def _argument(self, function: Any, argument: Any, attributes: ir.DictAttr) -> None:
        if "llvm.byval" not in attributes:
            return
        struct = self.types.get(str(ir.TypeAttr(attributes["llvm.byval"]).value))
        argument.type = struct.as_pointer()
        function.ftype = ll.FunctionType(function.ftype.return_type, [a.type for a in function.args])
        function.type = function.ftype.as_pointer()
        argument.add_attribute("byval")
        argument.attributes.align = ir.IntegerAttr(attributes["llvm.align"]).value

    def define(self, op: ir.Operation) -> None:
        blocks = list(op.regions[0].blocks)
        if not blocks:
            return
        function = self.functions[ir.StringAttr(op.attributes["sym_name"]).value]
        self.values: dict[Any, Any] = {}
        self.blocks: dict[Any, ll.Block] = {}
        for index, block in enumerate(blocks):
            self.blocks[block] = function.append_basic_block("entry" if index == 0 else f"b{index}")
            if index and len(block.arguments):
                raise error("internal-error", f"'{function.name}' has block arguments")
        builder = ll.IRBuilder(self.blocks[blocks[0]])
        for mlir_argument, argument in zip(blocks[0].arguments, function.args, strict=True):
            value = argument
            if argument.type != _BYTE_POINTER and isinstance(argument.type, ll.PointerType):
                value = builder.bitcast(argument, _BYTE_POINTER)
            self.values[mlir_argument] = value
        place = self.lines.place(function) if self.lines is not None else None
        for block in blocks:
            builder = ll.IRBuilder(self.blocks[block])
            builder.debug_metadata = place
            for operation in block.operations:
                self.translate(builder, operation.operation)

    # ------------------------------------------------------------------ operations
    def translate(self, b: ll.IRBuilder, op: ir.Operation) -> None:
        operands = [self.values[operand] for operand in op.operands]
        result = self._operation(b, op, op.name, operands)
        if len(op.results):
            self.values[op.results[0]] = result

    def _operation(self, b: ll.IRBuilder, op: ir.Operation, name: str, operands: list[Any]) -> Any:
        if name in _BINARY:
            return getattr(b, _BINARY[name])(*operands)
        if name in _SREGS:
            return b.call(self._intrinsic(_SREGS[name], ll.IntType(32)), [])
        attributes = op.attributes
        match name:
            case "llvm.mlir.constant":
                kind = self.types.get(str(op.results[0].type))
                value = attributes["value"]
                if isinstance(kind, ll.FloatType):
                    return ll.Constant(kind, ir.FloatAttr(value).value)
                return ll.Constant(kind, ir.IntegerAttr(value).value)
            case "llvm.mlir.zero":
                return ll.Constant(self.types.get(str(op.results[0].type)), None)
            case "llvm.getelementptr":
                return self._gep(b, op, operands)
            case "llvm.load":
                kind = self.types.get(str(op.results[0].type))
                return b.load(self._cast(b, operands[0], kind), align=self._align(op))
            case "llvm.store":
                return b.store(operands[0], self._cast(b, operands[1], operands[0].type), align=self._align(op))
            case "llvm.alloca":
                slot: Any = b.alloca(self.types.get(str(ir.TypeAttr(attributes["elem_type"]).value)))
                slot.align = self._align(op)
                return b.bitcast(slot, _BYTE_POINTER)
            case "llvm.icmp":
                predicate = ir.IntegerAttr(attributes["predicate"]).value
                compare = b.icmp_unsigned if predicate >= 6 else b.icmp_signed
                return compare(_PREDICATES[predicate], *operands)
            case "llvm.zext" | "llvm.sext" | "llvm.trunc":
                return getattr(b, name.removeprefix("llvm."))(operands[0], self.types.get(str(op.results[0].type)))
            case "llvm.br":
                return b.branch(self.blocks[op.successors[0]])
            case "llvm.cond_br":
                return b.cbranch(operands[0], self.blocks[op.successors[0]], self.blocks[op.successors[1]])
            case "llvm.switch":
                switch = b.switch(operands[0], self.blocks[op.successors[0]])
                cases = ir.DenseIntElementsAttr(attributes["case_values"]) if "case_values" in attributes else None
                for index, block in enumerate(list(op.successors)[1:]):
                    assert cases is not None
                    switch.add_case(ll.Constant(operands[0].type, int(cases[index])), self.blocks[block])
                return switch
            case "llvm.return":
                return b.ret(operands[0]) if operands else b.ret_void()
            case "llvm.unreachable":
                return b.unreachable()
            case "llvm.call":
                callee = self.functions[ir.FlatSymbolRefAttr(attributes["callee"]).value]
                return b.call(callee, operands)
            case "llvm.inline_asm":
                results = [self.types.get(str(r.type)) for r in op.results]
                kind = ll.FunctionType(results[0] if results else ll.VoidType(), [o.type for o in operands])
                text = ir.StringAttr(attributes["asm_string"]).value.replace("\n", "\\0A")
                constraints = ir.StringAttr(attributes["constraints"]).value
                return b.asm(kind, text, constraints, operands, "has_side_effects" in attributes)
            case "nvvm.barrier":
                return b.call(self._intrinsic("llvm.nvvm.barrier0", ll.VoidType()), [])
            case _:
                raise error("internal-error", f"operation '{name}' has no NVVM IR translation", _location(op))

    def _intrinsic(self, name: str, result: ll.Type) -> ll.Function:
        if name not in self.functions:
            self.functions[name] = ll.Function(self.module, ll.FunctionType(result, []), name)
        return self.functions[name]

    def _cast(self, b: ll.IRBuilder, pointer: Any, element: ll.Type) -> Any:
        return pointer if element == ll.IntType(8) else b.bitcast(pointer, element.as_pointer())

    def _align(self, op: ir.Operation) -> int | None:
        return ir.IntegerAttr(op.attributes["alignment"]).value if "alignment" in op.attributes else None

    def _gep(self, b: ll.IRBuilder, op: ir.Operation, operands: list[Any]) -> Any:
        element = self.types.get(str(ir.TypeAttr(op.attributes["elem_type"]).value))
        dynamic = iter(operands[1:])
        i32 = ll.IntType(32)
        constants = ir.DenseI32ArrayAttr(op.attributes["rawConstantIndices"])
        indices = [next(dynamic) if index == -(2**31) else i32(int(index)) for index in constants]
        pointer = b.gep(self._cast(b, operands[0], element), indices, inbounds=True)
        return pointer if pointer.type == _BYTE_POINTER else b.bitcast(pointer, _BYTE_POINTER)

    # ------------------------------------------------------------------ text
    def finish(self) -> str:
        return describe(_flatten_byval(str(self.module)), self.kernels, first=len(self.module.metadata))


def _kernel(function: Any, op: ir.Operation) -> NvvmKernel:
    """What a kernel's attributes say; its only parameter, the block, is a grid constant."""
    attributes = op.attributes
    threads = ir.DenseI32ArrayAttr(attributes["nvvm.maxntid"])[0] if "nvvm.maxntid" in attributes else 0
    ctas = ir.IntegerAttr(attributes["nvvm.minctasm"]).value if "nvvm.minctasm" in attributes else 0
    return NvvmKernel(function.get_reference(), str(function.type), int(threads), int(ctas), grid_constants=(1,))


def _flatten_byval(text: str) -> str:
    """LLVM 7 has ``byval`` without a type; llvmlite prints ``byval(T)``, where T may hold parentheses."""
    out: list[str] = []
    at = 0
    while (found := text.find("byval(", at)) >= 0:
        out.append(text[at : found + len("byval")])
        depth, end = 0, found + len("byval")
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        at = end
    out.append(text[at:])
    return "".join(out)


def _location(op: ir.Operation) -> Location:
    return Location(str(op.location))


def translate(kernel: ir.Operation, lines: Location | None = None) -> str:
    """NVVM IR text of a fused kernel module; with line information that names ``lines``, if it is given."""
    name = ir.StringAttr(kernel.attributes["sym_name"]).value if "sym_name" in kernel.attributes else "kernel"
    translator = _Translator(name, lines)
    functions = [op.operation for op in kernel.regions[0].blocks[0].operations if op.operation.name == "llvm.func"]
    for function in functions:
        translator.declare(function)
    for function in functions:
        translator.define(function)
    return translator.finish()


def compile_entry(kernel: ir.Operation, arch: str, lines: Location | None = None) -> Entry:
    """Both forms of a fused kernel module; ``lines`` as for :func:`translate`."""
    text = translate(kernel, lines)
    return Entry(text, compile_ltoir(text, arch, lineinfo=lines is not None))
