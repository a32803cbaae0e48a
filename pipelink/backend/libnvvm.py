"""libNVVM: NVVM IR text to LTO-IR, and what such text needs besides code.

Apart from the translation of kernels (``nvvm``), so that whoever writes a few lines of text needs neither MLIR nor
llvmlite.  Source: NVVM IR specification 2.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pipelink.backend import libraries
from pipelink.support.diagnostics import Note, error

DATA_LAYOUT: Final = (
    "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64"
    "-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
)
TRIPLE: Final = "nvptx64-nvidia-cuda"
HEADER: Final = f'target datalayout = "{DATA_LAYOUT}"\ntarget triple = "{TRIPLE}"'
NVVM_IR_VERSION: Final = (2, 0, 3, 1)  # IR 2.0, debug info 3.1: what CUDA 12 and 13 accept

ERROR_IF_DIFFERENT: Final = 1  # behaviour of a module flag
_FIRST_WITHOUT_LLVM_7: Final = 100  # libNVVM reads LLVM 7 text below it (nvvmLLVMVersion)
_NEWEST_WITH_LLVM_7: Final = "compute_90"


@dataclass(frozen=True)
class NvvmKernel:
    """What libNVVM is told of a kernel: its ``name`` and the ``type`` of a pointer to it as text has them
    (``@entry``, ``void (i32, i8*)*``), launch bounds and the limit of registers a thread (0: none is stated), and the
    numbers, from 1, of the parameters that are grid constants."""

    name: str
    type: str
    max_threads: int = 0
    min_ctas: int = 0
    max_registers: int = 0
    grid_constants: tuple[int, ...] = ()


def describe(text: str, kernels: Sequence[NvvmKernel], first: int = 0) -> str:
    """A module's text with what is not code: the version of NVVM IR, the kernels' annotations, and that LTO keeps
    kernels although nobody calls them.  ``first`` is the number of the first metadata node that is free."""
    nodes: list[str] = []

    def node(content: str) -> str:
        nodes.append(content)
        return f"!{first + len(nodes) - 1}"

    annotations: list[str] = []
    for kernel in kernels:
        pointer = f"{kernel.type} {kernel.name}"
        stated = {"maxntidx": kernel.max_threads, "minctasm": kernel.min_ctas, "maxnreg": kernel.max_registers}
        values = {"kernel": "i32 1", **{key: f"i32 {value}" for key, value in stated.items() if value}}
        if kernel.grid_constants:
            values["grid_constant"] = node(", ".join(f"i32 {number}" for number in kernel.grid_constants))
        annotations += [node(f'{pointer}, !"{key}", {value}') for key, value in values.items()]
    version = node(", ".join(f"i32 {number}" for number in NVVM_IR_VERSION))
    used = ", ".join(f"i8* bitcast ({kernel.type} {kernel.name} to i8*)" for kernel in kernels)
    lines = [
        text,
        f'@"llvm.used" = appending global [{len(kernels)} x i8*] [{used}], section "llvm.metadata"',
        f"!nvvmir.version = !{{{version}}}",
        f"!nvvm.annotations = !{{{', '.join(annotations)}}}",
        *(f"!{number} = !{{{content}}}" for number, content in enumerate(nodes, first)),
    ]
    return "\n".join(lines) + "\n"


class TextLines:
    """Debug information of functions that are written as text: each is line 1 of a file that nobody has."""

    _SHARED: Final = (
        "distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, isOptimized: true, runtimeVersion: 0,"
        " emissionKind: DebugDirectivesOnly)",
        '!DIFile(filename: "generated", directory: "")', "!DISubroutineType(types: !3)", "!{}",
        f'!{{i32 {ERROR_IF_DIFFERENT}, !"Debug Info Version", i32 3}}',
    )  # fmt: skip

    def __init__(self) -> None:
        self._own: list[str] = []

    @property
    def first_free(self) -> int:
        """The number of the first node that is not taken."""
        return len(self._SHARED) + len(self._own) if self._own else 0

    def function(self, name: str) -> tuple[str, str]:
        """What goes behind a function's head, and behind each of its instructions."""
        number = len(self._SHARED) + len(self._own)
        self._own.append(
            f'distinct !DISubprogram(name: "{name}", scope: !1, file: !1, line: 1, type: !2, isLocal: false,'
            " isDefinition: true, scopeLine: 1, isOptimized: true, unit: !0)"
        )
        self._own.append(f"!DILocation(line: 1, column: 1, scope: !{number})")
        return f" !dbg !{number}", f", !dbg !{number + 1}"

    def nodes(self) -> list[str]:
        """The lines of the module that define all this."""
        found = ["!llvm.dbg.cu = !{!0}", "!llvm.module.flags = !{!4}"]
        return found + [f"!{number} = {node}" for number, node in enumerate((*self._SHARED, *self._own))]


def compile_ltoir(text: str, arch: str, name: str = "entry", *, lineinfo: bool = False) -> bytes:
    """LTO-IR of NVVM IR text for ``arch`` (``sm_90a``).  Raises LinkError ``nvvm-failed`` with libNVVM's log."""
    nvvm = libraries.load("nvvm")
    program = nvvm.create_program()
    try:
        data = text.encode()
        nvvm.add_module_to_program(program, data, len(data), name)
        options = [f"-arch={_virtual_arch(arch)}", "-gen-lto"]
        if lineinfo:
            options.append("-generate-line-info")
        try:
            nvvm.compile_program(program, len(options), options)
        except nvvm.nvvmError as problem:
            size = nvvm.get_program_log_size(program)
            log = bytearray(size)
            nvvm.get_program_log(program, log)
            message = log.decode(errors="replace").strip("\0\n ")
            raise error(
                "nvvm-failed", f"libNVVM refused the generated code: {problem}", notes=[Note(message)]
            ) from None
        size = nvvm.get_compiled_result_size(program)
        result = bytearray(size)
        nvvm.get_compiled_result(program, result)
        return bytes(result)
    finally:
        nvvm.destroy_program(program)


def _virtual_arch(arch: str) -> str:
    """The architecture to compile generated text for.  From compute_100 libNVVM expects a newer LLVM, whose text
    differs; LTO-IR of an older architecture links into newer ones, and the text holds nothing that depends on it."""
    virtual = arch.replace("sm_", "compute_")
    number = int(re.sub(r"\D", "", virtual))
    return virtual if number < _FIRST_WITHOUT_LLVM_7 else _NEWEST_WITH_LLVM_7
