"""What a Python device function needs to be a PipeLink component: reading the pack of a call port, and parameters.

A call port's answer is ``void pl_answer(int id, void* frame, char* pack)``; the pack holds the arguments one after the
other, each at its natural alignment, a reference as a pointer.  A parameter's accessor is a device function that the
linker defines: ``const void* pl_address(int id, void* frame)``.  Both are ordinary LTO-IR symbols, so numba-cuda can
define the one and call the other without anything of PipeLink's.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import cuda, types
from numba.cuda.extending import intrinsic

WORD = ir.IntType(32)


def mangle(path: str, arguments: str) -> str:
    """The Itanium name of a function such as ``acme::store_port::pl_answer``, given its arguments' codes."""
    return "_ZN" + "".join(f"{len(part)}{part}" for part in path.split("::")) + "E" + arguments


def answer_symbol(component: str, port: str) -> str:
    """The name under which the linker looks for ``component``'s answer on ``port``."""
    return mangle(f"{component}::{port}_port::pl_answer", "iPvPc")


def parameter(component: str, name: str, element: types.Type) -> Callable[[int, Any], Any]:
    """A device function ``(id, frame) -> pointer to element`` for the parameter's place in the frame."""
    signature = types.CPointer(element)(types.int32, types.voidptr)
    return cuda.declare_device(mangle(f"{component}::{name}_param::pl_address", "iPv"), signature, abi="c")


@intrinsic
def field(typing_context, pack, offset, element):
    """The value of type ``element`` at byte ``offset`` of the pack."""
    result = element.instance_type if isinstance(element, types.TypeRef) else element.dtype

    def generate(context, builder, signature, arguments):
        place = builder.gep(arguments[0], [arguments[1]])
        return builder.load(builder.bitcast(place, context.get_value_type(result).as_pointer()))

    return result(types.voidptr, types.int64, element), generate


@intrinsic
def bf16_pair(typing_context, low, high):
    """Two f32 rounded to bf16 in one word, the first in the low half."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(WORD, [ir.FloatType(), ir.FloatType()])
        convert = ir.InlineAsm(kind, "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f")
        return builder.call(convert, [arguments[1], arguments[0]])

    return types.uint32(types.float32, types.float32), generate
