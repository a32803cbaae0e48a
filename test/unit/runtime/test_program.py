"""Instructions are packed as the interpreter reads them, and a program's arrays are those that its controller takes."""

from __future__ import annotations

import ctypes
import io
import random
import struct
from typing import Any

import pytest

from pipelink import runtime
from pipelink.package import PackageImage, package_bytes
from pipelink.runtime.operations import Operand, Operation
from pipelink.runtime.program import Program
from pipelink.support.diagnostics import LinkError
from pipelink.support.launch import SCALARS
from test.unit.runtime.test_package import LAUNCH

MATVEC: dict[str, Any] = {
    "name": "matvec",
    "opcode": 3,
    "bytes": 28,
    "operands": [
        {"name": "first", "type": "i32", "offset": 0},
        {"name": "weights", "type": "u64", "offset": 8},
        {"name": "epilogue.factor", "type": "f32", "offset": 16},
        {"name": "small", "type": "i8", "offset": 20},
        {"name": "half", "type": "f16", "offset": 22},
        {"name": "on", "type": "bool", "offset": 24},
    ],
}
NOTHING: dict[str, Any] = {"name": "nothing", "opcode": 2**32 - 1, "bytes": 0, "operands": []}


class Packed(ctypes.LittleEndianStructure):
    """The instruction of :data:`MATVEC` as a C compiler lays it out."""

    _fields_ = [
        ("opcode", ctypes.c_int), ("unused", ctypes.c_int * 3), ("first", ctypes.c_int), ("weights", ctypes.c_uint64),
        ("factor", ctypes.c_float), ("small", ctypes.c_int8), ("half", ctypes.c_uint16), ("on", ctypes.c_bool),
    ]  # fmt: skip


def kernel(*operations: dict[str, Any]) -> runtime.Kernel:
    launch = {**LAUNCH, "operations": list(operations)}
    return runtime.load(package_bytes("fill", [PackageImage("sm_90a", b"code", launch, 32, "13.0")]))


def operands(**changes: Any) -> dict[str, Any]:
    given = {"first": -7, "weights": 2**63 + 5, "epilogue.factor": 0.5, "small": -1, "half": 1.5, "on": True}
    return {**given, **changes}


def test_operands_lie_where_a_compiler_puts_them() -> None:
    loaded = kernel(MATVEC, NOTHING)
    program = Program(loaded, 2)
    program.add(1, "matvec", **operands())
    program.add(1, "nothing")
    array, lengths = program.instructions(), program.lengths()
    assert (array.shape, array.format, lengths.shape, lengths.format) == ((2, 2, 32), "i", (2,), "i")
    assert lengths.tolist() == [0, 2]
    found = Packed.from_buffer_copy(array.cast("B")[256 : 256 + 48])
    assert (found.opcode, list(found.unused), found.first, found.weights) == (3, [0, 0, 0], -7, 2**63 + 5)
    assert (found.factor, found.small, found.half, found.on) == (0.5, -1, 0x3E00, True)
    assert array[1, 1, 0] == -1
    assert bytes(array.cast("B")[: 2 * 128]) == bytes(256)
    assert bytes(array.cast("B")[256 + 16 + 28 : 256 + 128]) == bytes(128 - 44)
    assert loaded.operations["matvec"].pack(**operands()) == bytes(array.cast("B")[256 + 16 : 256 + 44])
    assert io.BytesIO(bytes(512)).readinto(array) == 512  # it is writable, and one piece: torch.frombuffer takes it


def test_any_layout_is_what_its_offsets_say() -> None:
    generator = random.Random(1)
    for _ in range(200):
        types, end = generator.choices(sorted(SCALARS), k=generator.randrange(1, 8)), 0
        given: list[Operand] = []
        for number, type_ in enumerate(types):
            size = struct.calcsize(SCALARS[type_])
            at = -(-(end + generator.randrange(3)) // size) * size
            given.append(Operand(f"x{number}", type_, at))
            end = at + size
        generator.shuffle(given)
        operation = Operation("any", 0, end + generator.randrange(4), tuple(given))
        values = {operand.name: generator.randrange(2) for operand in given}
        data = operation.pack(**values)
        assert len(data) == operation.bytes
        for operand in given:
            assert struct.unpack_from(f"<{SCALARS[operand.type]}", data, operand.offset) == (values[operand.name],)


@pytest.mark.parametrize(
    ("changes", "id_", "message"),
    [
        ({"first": 2**31}, "argument-range", "operand 'first' of 'matvec': expected i32, given 2147483648, which it"),
        ({"weights": -1}, "argument-range", "operand 'weights' of 'matvec': expected u64, given -1, which it cannot"),
        ({"half": 1e6}, "argument-range", "operand 'half' of 'matvec': expected f16, given 1000000.0, which it"),
        ({"first": 1.0}, "argument-type", "operand 'first' of 'matvec': expected i32, given float 1.0"),
        ({"epilogue.factor": "1"}, "argument-type", "operand 'epilogue.factor' of 'matvec': expected f32, given str"),
        ({"frist": 1}, "unknown-argument", "operation 'matvec' has no operand 'frist'; it is matvec(first: i32, w"),
    ],
)
def test_operands_that_do_not_fit(changes: dict[str, Any], id_: str, message: str) -> None:
    with pytest.raises(LinkError) as caught:
        kernel(MATVEC).operations["matvec"].pack(**operands(**changes))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.id == id_
    assert diagnostic.message.startswith(message)


def test_an_operand_that_is_missing() -> None:
    with pytest.raises(LinkError, match=r"operation 'matvec' needs 'first', 'on'; it is .*\[missing-argument\]"):
        kernel(MATVEC).operations["matvec"].pack(**{k: v for k, v in operands().items() if k not in ("first", "on")})


def test_instructions_that_a_program_does_not_take() -> None:
    program = Program(kernel(MATVEC), 4)
    with pytest.raises(LinkError, match=r"the kernel has no operation 'matvex'.*\[unknown-name\]"):
        program.add(0, "matvex", **operands())
    with pytest.raises(LinkError, match=r"CTA 4: the program is for 4 \[argument-range\]"):
        program.add(4, "matvec", **operands())
    short = Program(kernel(MATVEC), 1, header=4, size=16)
    with pytest.raises(LinkError, match=r"take 28 bytes from 4 on, an instruction has 16 \[argument-range\]"):
        short.add(0, "matvec", **operands())
    for wrong in ({"ctas": 0}, {"header": 0}, {"size": 8}, {"size": 130}):
        with pytest.raises(LinkError, match=r"there is no such \[argument-range\]"):
            Program(kernel(), **{"ctas": 1, **wrong})


def test_a_program_of_another_interpreter() -> None:
    program = Program(kernel(MATVEC), 1, header=8, size=64)
    program.add(0, "matvec", **operands())
    array = program.instructions()
    assert array.shape == (1, 1, 16)
    assert (array[0, 0, 0], array[0, 0, 2]) == (3, -7)


def test_a_program_without_instructions() -> None:
    program = Program(kernel(), 3)
    assert program.instructions().shape == (3, 1, 32)
    assert program.lengths().tolist() == [0, 0, 0]
