"""How many registers a role needs, measured: its code compiled alone, down to machine code.

Every accessor is defined by a stub that costs what the placed one does at least: constants for what the linker makes
constant (addresses, barrier ids, depths), %clock for what nobody knows (a slot, an answer), a volatile store for what
leaves the role.  Calls are not made: the stub of a call takes each argument apart, value by value, so that fragments
stay in registers as they do in a link; what the answering code needs comes on top there.  So the count is a lower
bound of what the role needs in any kernel, and code that spills alone at the most that its range allows spills
everywhere.  ``ptxas`` says both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pipelink.audit.claims import Claims, Code, threads_of
from pipelink.audit.report import Problem, Row
from pipelink.backend import cubin, libnvvm, nvjitlink
from pipelink.contract.abi import NVVM, RESOURCES, Function
from pipelink.objects.model import Image, Record
from pipelink.support.diagnostics import LinkError

_KERNEL: Final = "pl_role"
_MOST: Final = 255  # registers a thread, whatever its range says
_SPILL: Final = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_OPAQUE: Final = 'call i32 asm sideeffect "mov.u32 $0, %clock;", "=r,~{memory}"()'
_SINK: Final = 'call void asm sideeffect "st.volatile.shared.u32 [$0], $1;", "r,r,~{memory}"(i32 1024, i32 %V)'
_MEETING: Final = 'call void asm sideeffect "", "~{memory}"()'
_LARGEST_COPY: Final = 256  # bytes of a parameter that its role keeps in registers
_STAGES: Final = 4
_SMEM: Final = 2048  # where a stub's buffers lie
_SIZES: Final = {
    "i8": 1, "u8": 1, "bool": 1, "i16": 2, "u16": 2, "bf16": 2, "f16": 2, "e4m3": 1, "e5m2": 1, "i32": 4, "u32": 4,
    "f32": 4, "i64": 8, "u64": 8, "f64": 8,
}  # fmt: skip


@dataclass(frozen=True)
class Need:
    """What ptxas made of a role alone: registers without a limit; bytes that it spilled at each limit that was tried.
    ``problem`` is why nothing could be measured."""

    registers: int
    spilled: dict[int, int]
    problem: str = ""


def row(claims: Claims, code: Code, images: Sequence[Image], arch: str) -> Row | None:
    """The table's row about a role's registers; None for answers, which have as many as their caller."""
    role = claims.role(code)
    if role is None:
        return None
    declared = role.values.get("registers")
    limits = [n for n in declared if isinstance(n, int)] if isinstance(declared, list) else []
    need = measure(claims, code, images, arch, limits)
    shown = f"{limits[0]} to {limits[1]}" if len(limits) == 2 else "any number"
    if need.problem:
        return Row(claims.name, code.title, "registers", shown, "not measured")
    found = f"{need.registers}"
    problems: list[Problem] = []
    what = f"{code.title} of '{claims.name}'"
    if len(limits) == 2:
        least, most = limits
        if spilled := need.spilled.get(most, 0):
            found += f", {spilled} bytes spilled at {most}"
            message = f"{what} needs {need.registers} registers alone and spills at the {most} that its range ends with"
            problems.append(Problem("error", "register-need", message, role.location, "allow it more registers"))
        elif spilled := need.spilled.get(least, 0):
            found += f", {spilled} bytes spilled at {least}"
            message = f"{what} needs {need.registers} registers alone and spills at {least}, where its range begins"
            problems.append(Problem("warning", "register-minimum", message, role.location, "begin the range higher"))
    return Row(claims.name, code.title, "registers", shown, found, tuple(problems))


def measure(claims: Claims, code: Code, images: Sequence[Image], arch: str, limits: Sequence[int] = ()) -> Need:
    """Compile a role alone: without a limit, and at each of ``limits`` that is below what it then takes."""
    role = claims.role(code)
    assert role is not None
    try:
        arch = re.sub(r"f$", "a", arch)  # there is no machine code for a family
        objects = [nvjitlink.Image(f"object#{n}", image.data) for n, image in enumerate(images)]

        def compiled(limit: int) -> nvjitlink.Linked:
            stubs = libnvvm.compile_ltoir(_module(claims, code, role, limit), arch, "stubs")
            return nvjitlink.link([nvjitlink.Image("stubs", stubs), *objects], arch)

        free = compiled(0)
        registers = cubin.facts(free.data, _KERNEL).registers
        spilled = {
            limit: _spilled(compiled(limit).log)
            for limit in (min(limit, _MOST) for limit in limits)
            if limit < registers or _spilled(free.log)
        }
    except LinkError as problem:
        return Need(0, {}, str(problem))
    return Need(registers, {limit: spilled.get(min(limit, _MOST), 0) for limit in limits})


def _spilled(log: str) -> int:
    return max((int(found[1]) for found in _SPILL.finditer(log)), default=0)


# ------------------------------------------------------------------------------------------------------------ stubs
class _Text:
    """NVVM text under construction: one function at a time."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._next = 0

    def value(self, expression: str) -> str:
        """A new value."""
        self._next += 1
        self.lines.append(f"  %v{self._next} = {expression}")
        return f"%v{self._next}"

    def do(self, statement: str) -> None:
        self.lines.append(f"  {statement}")

    def opaque(self) -> str:
        return self.value(_OPAQUE)

    def sink(self, value: str) -> None:
        self.do(_SINK.replace("%V", value))

    def pointer(self, base: str, offset: int, type_: str) -> str:
        at = self.value(f"getelementptr i8, i8* {base}, i64 {offset}")
        return at if type_ == "i8" else self.value(f"bitcast i8* {at} to {type_}*")

    def words(self, base: str, size: int) -> Iterator[tuple[str, str]]:
        """Pointers to the words of ``size`` bytes, with their type."""
        for offset in range(0, size - size % 4, 4):
            yield self.pointer(base, offset, "i32"), "i32"
        for offset in range(size - size % 4, size):
            yield self.pointer(base, offset, "i8"), "i8"

    def fill(self, base: str, size: int) -> None:
        """Write values that nobody knows."""
        for pointer, type_ in self.words(base, size):
            new = self.opaque()
            if type_ == "i8":
                new = self.value(f"trunc i32 {new} to i8")
            self.do(f"store {type_} {new}, {type_}* {pointer}")

    def take(self, base: str, size: int) -> None:
        """Read everything."""
        for pointer, type_ in self.words(base, size):
            old = self.value(f"load {type_}, {type_}* {pointer}")
            self.sink(self.value(f"zext i8 {old} to i32") if type_ == "i8" else old)


def _module(claims: Claims, code: Code, role: Record, limit: int) -> str:
    """The stubs and a kernel that runs the role, with ``limit`` registers a thread unless it is 0."""
    text = _Text()
    text.lines += [libnvvm.HEADER, "attributes #0 = { alwaysinline }"]
    offsets, frame = _frame(claims)
    for resource, (kind, record) in claims.resources.items():
        for function in RESOURCES[kind].functions.values():
            if function.definer == "linker":
                _stub(text, claims, (resource, kind, function), record, offsets)
    symbol = claims.symbol(code)
    text.lines += [f"declare void @{symbol}(i32, i8*)", f"define void @{_KERNEL}() {{"]
    text.do(f"%frame = alloca [{frame} x i8], align 16")
    base = text.value(f"bitcast [{frame} x i8]* %frame to i8*")
    for resource, offset in offsets.items():
        kind, record = claims.resources[resource]
        if kind == "param":
            text.fill(text.pointer(base, offset, "i8"), _bytes(record))
    text.lines += [f"  call void @{symbol}(i32 0, i8* {base})", "  ret void", "}"]
    kernel = libnvvm.NvvmKernel(f"@{_KERNEL}", "void ()*", threads_of(role) or 32, max_registers=limit)
    return libnvvm.describe("\n".join(text.lines), [kernel])


def _frame(claims: Claims) -> tuple[dict[str, int], int]:
    """Where states and small parameters lie in the frame, and its size."""
    offsets: dict[str, int] = {}
    size = 0
    for resource, (kind, record) in claims.resources.items():
        small = kind == "param" and record.values.get("type") != "tensor_map" and _bytes(record) <= _LARGEST_COPY
        if kind == "state" or small:
            offsets[resource] = size
            size += -(-_bytes(record) // 16) * 16
    return offsets, max(size, 16)


def _bytes(record: Record) -> int:
    size = record.values.get("bytes")
    return size if isinstance(size, int) else 4


def _stub(
    text: _Text, claims: Claims, what: tuple[str, str, Function], record: Record, offsets: dict[str, int]
) -> None:
    resource, kind, function = what
    types = [NVVM[kind] for kind in function.types]
    result = NVVM[function.returns]
    given = ", ".join(f"{type_} %a{n}" for n, type_ in enumerate(types))
    text.lines.append(f"define {result} @{function.symbol(f'{claims.name}::{resource}')}({given}) #0 {{")
    value = ""
    match kind, function.name.removeprefix("pl_"):
        case "state" | "param", _:
            at = offsets.get(resource)
            value = text.pointer("%a1", at, "i8") if at is not None else text.value("inttoptr i64 65536 to i8*")
        case "smem", _:
            value = str(_SMEM)
        case "tmem", _:
            value = "0"
        case "barrier", "threads":
            value = str(record.values.get("threads", 32))
        case _, "id":
            value = "1"
        case _, "first_thread":
            value = "128"
        case _, "stages":
            value = str(_STAGES)
        case _, "address":
            at = text.value("mul i32 %a2, 16384")
            value = text.value(f"add i32 {at}, {_SMEM}")
        case _, "acquire" | "wait" | "ended" if result != "void":
            value = text.opaque()
        case _, "call":
            _call(text, str(record.values.get("signature", "")))
        case _:
            text.do(_MEETING)
            for number, type_ in enumerate(types[2:], 2):
                if type_ == "i32":
                    text.sink(f"%a{number}")
    text.lines += [f"  ret {result} {value}".rstrip(), "}"]


def _call(text: _Text, signature: str) -> None:
    """Take a call's pack apart: read every argument, write what references refer to, and the result."""
    found = re.fullmatch(r"(.*?)\((.*)\)", signature)
    if found is None:
        return
    result, arguments = found[1].strip(), _arguments(found[2])
    at = 0
    returned = layout(result)
    if returned[0]:
        text.fill(text.pointer("%a2", 0, "i8"), returned[0])
    offsets, alignment = pack_offsets([layout(argument) for argument in arguments])
    if returned[0]:
        alignment = max(alignment, 1)
        at = -(-returned[0] // alignment) * alignment
    for argument, offset in zip(arguments, offsets, strict=True):
        if not argument.endswith("&"):
            text.take(text.pointer("%a2", at + offset, "i8"), layout(argument)[0])
            continue
        place = text.pointer("%a2", at + offset, "i8*")
        target = text.value(f"load i8*, i8** {place}")
        size = layout(argument.removesuffix("&"))[0]
        text.take(target, size)
        if not argument.startswith("const "):
            text.fill(target, size)


def pack_offsets(layouts: Sequence[tuple[int, int]]) -> tuple[list[int], int]:
    """Offsets of a pack's members, each in a struct with the pack of those after it, and the pack's alignment."""
    size, alignment = 1, 1  # an empty struct
    tails: list[int] = []  # offset of each tail in its pack, last first
    for head, align in reversed(layouts):
        tail = -(-head // alignment) * alignment
        alignment = max(alignment, align)
        size = -(-(tail + size) // alignment) * alignment
        tails.append(tail)
    offsets: list[int] = []
    at = 0
    for tail in reversed(tails):
        offsets.append(at)
        at += tail
    return offsets, alignment


def _arguments(text: str) -> list[str]:
    """The types between commas that are not inside angle brackets."""
    found: list[str] = []
    depth, current = 0, ""
    for character in text:
        depth += (character == "<") - (character == ">")
        if character == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += character
    return [*found, current.strip()] if current.strip() else found


def layout(type_: str) -> tuple[int, int]:
    """Size and alignment of a type as signatures spell it; (0, 1) of ``void``."""
    type_ = type_.removeprefix("const ").strip()
    if type_ in ("", "void"):
        return 0, 1
    if type_.endswith(("&", "*")):
        return 8, 8
    if type_ == "tile_coord":
        return 12, 4
    if extent := re.fullmatch(r"(.*)\[(\d{1,6})\]", type_):
        size, align = layout(extent[1])
        return size * int(extent[2]), align
    if fragment := re.fullmatch(r"fragment<(.*),(\d{1,6})>", type_):
        size, align = layout(fragment[1])
        return size * int(fragment[2]), align
    if struct := re.fullmatch(r".*<(\d{1,9}),(\d{1,4})>", type_):
        return int(struct[1]), max(1, int(struct[2]))
    size = _SIZES.get(type_, 4)
    return size, size
