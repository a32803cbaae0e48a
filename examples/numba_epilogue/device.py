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

from pipelink.objects import Contract

WORD = ir.IntType(32)


def parameter(contract: Contract, name: str, element: types.Type) -> Callable[[int, Any], Any]:
    """A device function ``(id, frame) -> pointer to element`` for the parameter's place in the frame."""
    signature = types.CPointer(element)(types.int32, types.voidptr)
    return cuda.declare_device(contract.symbol(name, "pl_address"), signature, abi="c")


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
