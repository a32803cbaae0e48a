"""The monolith: the same composition as one CUDA C++ file, the reference that a link is compared with.

Input: a placed kernel, its components, and the text of their sources.  Output: one translation unit with the component
sources, the transfers' sources, the definitions of every port function and accessor, and the kernel function.  It is
compiled by NVRTC or nvcc without LTO; a link is right when its machine code is the same.

NVRTC translates through another LLVM from compute_100 on, which orders instructions differently.  Where a link consists
of images made for older architectures, :func:`compile_monolith` compiles for the newest of those and then links for the
target, so that both pass through the same stages; otherwise NVRTC makes the cubin.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from pipelink.analysis.bind import bind
from pipelink.backend import nvjitlink, toolchain
from pipelink.contract.abi import prototype
from pipelink.ir.views import Component, Kernel
from pipelink.model.binding import (
    DRAIN,
    Arg,
    Binding,
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
    Region,
    Result,
    Return,
    RoleEntry,
    RoleThread,
    Select,
    SharedAddress,
    Statement,
    TensorMemory,
    Value,
)
from pipelink.support.diagnostics import Diagnostics, error
from pipelink.target import WARP_THREADS, parse_arch

_NEW_FRONT_END: Final = 100  # compute capability from which NVRTC and libNVVM use a newer LLVM (nvvmLLVMVersion)
_SCALARS: Final = {
    "i8": "signed char", "u8": "unsigned char", "bool": "bool", "i16": "short", "u16": "unsigned short",
    "bf16": "unsigned short", "f16": "unsigned short", "i32": "int", "u32": "unsigned", "f32": "float",
    "i64": "long long", "u64": "unsigned long long", "f64": "double", "pointer": "void*",
}  # fmt: skip


def _value(value: Value) -> str:
    match value:
        case Const(value=number):
            return f"{number}u"
        case SharedAddress(address=address):
            return f"plg::shared(frame, {address}u)"
        case Arg(name=name) | Result(name=name):
            return name
        case FieldPointer(name=name):
            return f"reinterpret_cast<char*>(&static_cast<plg::frame*>(frame)->{name})"
        case CursorPointer(index=index):
            return f"reinterpret_cast<char*>(&static_cast<plg::frame*>(frame)->cursors[{index}])"
        case ParameterPointer(offset=offset):
            return f"static_cast<plg::frame*>(frame)->params + {offset}"
        case Linear(base=base, stride=stride, argument=argument):
            return f"{argument} * {stride}u + plg::shared(frame, {base}u)"
        case TensorMemory(base=base, stride=stride, argument=argument):
            offset = f"{argument} * {stride}u + {base}u" if argument else f"{base}u"
            return f"{offset} + static_cast<plg::frame*>(frame)->tensor_memory"
        case RoleThread(first=first):
            return f"threadIdx.x - {first}u"


_Maps = frozenset[str]  # the arguments of a function that are tensor maps, which C++ functions take as bytes


def _argument(value: Value, maps: _Maps) -> str:
    is_map = isinstance(value, Arg) and value.name in maps
    return f"static_cast<const char*>({_value(value)})" if is_map else _value(value)


def _statement(statement: Statement, maps: _Maps) -> str:
    match statement:
        case Instruction(text=text):
            return f'asm volatile("{text}" ::: "memory");'
        case Invoke(function=function, arguments=arguments, result=result, member=member):
            if member is not None:
                function = f"{member[0]}::{member[1]}"
            text = ", ".join(_argument(argument, maps) for argument in arguments)
            return f"unsigned {result} = {function}({text});" if result else f"{function}({text});"
        case Return(value=None):
            return "return;"
        case Return(value=value):
            assert value is not None
            return f"return {_value(value)};"
        case Choose(on=on, bodies=bodies):
            cases = " ".join(f"case {i}: {{ {_body(b, maps)} }}" for i, b in enumerate(bodies))
            return f"switch ({on}) {{ {cases} }} __builtin_unreachable();"
        case Load(field=name, pointer=pointer, offset=offset, type=kind):
            value = f"*reinterpret_cast<{_SCALARS[kind]} const*>(static_cast<const char*>({pointer}) + {offset})"
            return f"static_cast<plg::frame*>(frame)->{name} = {value};"
        case Select(on=on, cases=cases):
            text = " ".join(f"case {number}: {{ {_body(b, maps)} break; }}" for number, b in cases)
            return f"switch ({on}) {{ {text} default: break; }}"


def _body(body: Body, maps: _Maps) -> str:
    return " ".join(_statement(statement, maps) for statement in body)


def _definition(definition: Definition) -> str:
    maps = frozenset(name for name, kind in definition.arguments if kind == "map")
    declared = prototype(definition.path, definition.name, definition.arguments, definition.returns)
    head = f"__device__ __forceinline__ {declared}"
    if len(definition.bodies) == 1:
        return f"{head} {{ {_body(next(iter(definition.bodies.values())), maps)} }}"
    cases = "\n".join(f"    case {i}: {{ {_body(b, maps)} }}" for i, b in definition.bodies.items())
    return f"{head} {{\n  switch (id) {{\n{cases}\n  }}\n  __builtin_unreachable();\n}}"


def _frame(frame: Frame) -> str:
    members: list[str] = []
    for state in frame.states:
        unit = {8: "unsigned long long", 4: "unsigned", 2: "unsigned short", 1: "unsigned char"}[state.unit]
        members.append(f"alignas({state.align}) {unit} {state.name}[{state.words}];")
    members.append("const char* params;")
    members += [f"{_SCALARS[scalar.type]} {scalar.name};" for scalar in frame.scalars]
    if frame.window:
        members.append("unsigned window;")
    if frame.tensor_memory:
        members.append("unsigned tensor_memory;")
    members.append(f"cursor cursors[{max(1, len(frame.parities))}];")
    text = "\n  ".join(members)
    return (
        "namespace plg {\nstruct cursor { unsigned stage, parity; };\n"
        f"struct alignas({frame.align}) frame {{\n  {text}\n}};\n"
        "__device__ __forceinline__ unsigned shared([[maybe_unused]] void* f, unsigned address) { return "
        f"{'static_cast<frame*>(f)->window | ' if frame.window else ''}address; }}\n"
    )


def _fill(frame: Frame) -> str:
    lines = ["f.params = reinterpret_cast<const char*>(&params);"]
    lines += [f"f.{state.name}[{word}] = 0;" for state in frame.states for word in range(state.words)]
    for scalar in frame.scalars:
        kind = _SCALARS[scalar.type]
        if scalar.operand:
            continue
        if scalar.constant is not None:
            lines.append(f"f.{scalar.name} = static_cast<{kind}>({scalar.constant!r});")
        else:
            lines.append(f"f.{scalar.name} = *reinterpret_cast<{kind} const*>(f.params + {scalar.offset});")
    if frame.window:
        lines.append("f.window = window;")
    if frame.tensor_memory:
        lines.append("f.tensor_memory = tensor_memory;")
    lines += [f"f.cursors[{index}] = {{0u, {parity}u}};" for index, parity in enumerate(frame.parities)]
    return "\n    ".join(lines)


def _role(role: RoleEntry, frame: Frame) -> str:
    lines = ["plg::frame f;", _fill(frame)]
    for number, call in enumerate(role.calls):
        if number:
            lines += [_statement(statement, frozenset()) for statement in role.meeting]
        condition = f"if ({_among(role.first, 1 if call.one_thread else call.threads)}) " if role.narrower(call) else ""
        before = [_statement(statement, frozenset()) for statement in call.before]
        after = [_statement(statement, frozenset()) for statement in call.after]
        enter = f"{call.path}::pl_enter({call.instance}, &f);"
        if before or after:
            enter = f"{{ void* frame = &f; {' '.join([*before, enter, *after])} }}"
        lines.append(f"{condition}{enter}")
    return "".join(f"    {line}\n" for line in lines)


def _among(first: int, threads: int) -> str:
    """Whether the thread is one of ``threads`` from ``first`` on."""
    if threads == 1:
        return f"threadIdx.x == {first}"
    return f"threadIdx.x{f' - {first}u' if first else ''} < {threads}u"


def _region(region: Region, binding: Binding) -> str:
    text = ""
    if region.registers is not None and region.registers != binding.entry.entry_registers:
        change = "dec" if region.registers < binding.entry.entry_registers else "inc"
        text += f'    asm volatile("setmaxnreg.{change}.sync.aligned.u32 {region.registers};");\n'
    for index, role in enumerate(region.roles):
        body = _role(role, binding.frame)
        condition = _among(role.first, 1 if role.one_thread else role.threads)
        if role.one_thread:
            if index + 1 < len(region.roles):  # by warps first, as in the entry
                body = f"    if ({condition}) {{\n{body}    }}\n"
                condition = f"threadIdx.x < {role.first + role.threads}u"
        elif (role.first, role.first + role.threads) == (region.first, region.end):
            text += body
            continue
        text += f"    {'else ' if index else ''}if ({condition}) {{\n{body}    }}\n"
    return text


def _kernel(binding: Binding) -> str:
    plan = binding.entry
    lines = [
        f'extern "C" __global__ void __launch_bounds__({plan.threads}, {plan.min_ctas}) '
        f"{plan.kernel}(const __grid_constant__ plg::block params) {{"
    ]
    memory = plan.tensor_memory
    window = "window | " if binding.frame.window else ""
    if window:
        lines.append("  const unsigned window = pl_cluster_window();")
    if plan.mbarriers or plan.words or memory:
        lines.append("  if (threadIdx.x == 0) {")
        for group in plan.mbarriers:
            lines += [
                f'    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"({window}{group.address + 8 * i}u), '
                f'"r"({group.arrivals}u) : "memory");'
                for i in range(group.count)
            ]
        for words in plan.words:
            lines += [
                f'    asm volatile("st.shared.b32 [%0], %1;" ::"r"({window}{words.address + 4 * i}u), '
                f'"r"({words.value}u) : "memory");'
                for i in range(words.count)
            ]
        if plan.mbarriers:
            lines.append('    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");')
            lines.append('    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");')
        lines.append("  }")
        if memory is not None:
            allocate, operands = memory.functions[0], f"{window}{memory.word}u, {memory.columns}u"
            lines.append(f"  if ({_among(memory.first, WARP_THREADS)}) {allocate}({operands});")
        lines.append(f"  {'pl_cluster_meet' if plan.paired else '__syncthreads'}();")
        if memory is not None:
            lines.append(f"  const unsigned tensor_memory = pl_tmem_base({window}{memory.word}u);")
    for index, region in enumerate(plan.regions):
        last = index + 1 == len(plan.regions)
        condition = "" if last else f"if (threadIdx.x < {region.end}) "
        lines.append(f"  {'else ' if index else ''}{condition}{{\n{_region(region, binding)}  }}")
    if plan.drain:
        lines.append(f'  asm volatile("{DRAIN}" ::: "memory");')
    if plan.paired:
        lines.append("  pl_cluster_leave();")
    elif memory is not None:
        lines.append("  pl_tmem_leave();")
    if memory is not None:
        lines.append(
            f"  if ({_among(memory.first, WARP_THREADS)}) {memory.functions[1]}(tensor_memory, {memory.columns}u);"
        )
    lines.append("}")
    return "\n".join(lines)


def find_sources(components: Iterable[Component], directories: Iterable[Path]) -> list[Path]:
    """The ``.cu`` files that the components' records name, searched in ``directories``, each once, in order.
    Raises LinkError ``source-not-found``."""
    searched = list(directories)
    found: dict[Path, None] = {}
    for component in components:
        name = component.location.file
        match = next((d / Path(name).name for d in searched if name and os.path.isfile(d / Path(name).name)), None)
        if match is None:
            raise error(
                "source-not-found",
                f"source '{name}' of component '{component.name}' is in none of: {', '.join(map(str, searched))}",
                component.location,
                hint="name its folder with --source",
            )
        found[match] = None
    return list(found)


def generate(kernel: Kernel, components: Mapping[str, Component], sources: Iterable[Path]) -> str:
    """The monolith of a placed kernel as CUDA C++.  ``sources`` are included by path; compile with the include
    folders of the components and PipeLink's own."""
    diagnostics = Diagnostics()
    binding = bind(kernel, components, diagnostics)
    parts = ["// Generated: the composition as one translation unit.", "#define PL_MONOLITH 1"]
    parts += [f'#include "{path}"' for path in sources]
    for name in binding.transfer_sources:
        parts.append(f'#include "{toolchain.transfer_dir() / name}"')
    parts.append(_frame(binding.frame))
    parts.append(
        f"struct alignas({binding.entry.parameter_align}) block {{ "
        f"char bytes[{max(binding.entry.parameter_bytes, 1)}]; }};\n}}"
    )
    parts += [_definition(definition) for definition in (*binding.accessors, *binding.ports)]
    parts.append(_kernel(binding))
    return "\n".join(parts) + "\n"


def compile_monolith(
    source: str,
    name: str,
    target: str,
    image_arch: str,
    *,
    include_dirs: Sequence[Path] = (),
    options: Sequence[str] = (),
) -> bytes:
    """The cubin of a monolith for ``target`` (``sm_120a``); ``image_arch`` is the newest architecture among the images
    of the link that it is compared with.  Raises LinkError ``compile-error`` or what ``nvjitlink.link`` raises."""
    if _is_new(target) == _is_new(image_arch):
        return toolchain.compile_cubin(source, name, target, include_dirs=include_dirs, options=options)
    code = toolchain.compile_ltoir(source, name, image_arch, include_dirs=include_dirs, options=options)
    return nvjitlink.link([nvjitlink.Image(name, code)], target).data


def _is_new(arch: str) -> bool:
    return (parse_arch(arch) or (0, ""))[0] >= _NEW_FRONT_END
