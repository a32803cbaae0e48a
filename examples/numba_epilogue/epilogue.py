"""An epilogue written as a Python function: out = x * sigmoid(x), compiled by numba-cuda to LTO-IR, without a GPU.

The contract is stated here in Python, too: what is answered, which parameters are read, and what the launch binds them
to.  ``component()`` returns an object that links like any other.
"""

import math

import numba.cuda
from device import bf16_pair, field, parameter
from numba import cuda, types

from pipelink.objects import Contract, Object, from_ltoir

CONTRACT = (
    Contract("example::python_silu", file="epilogue.py")
    .answers("store", "void(fragment<f32,32>&, i32, i32)")
    .param("out", "bf16*")
    .param("rows", "i32")
    .param("cols", "i32")
    .param("out_stride", "i32")
    .tensor("out", "bf16", ["M", "N"], "write")
    .bind("rows", "M")
    .bind("cols", "N")
    .bind("out_stride", "stride(out, 0)")
)

FLOATS = types.CPointer(types.float32)
out = parameter(CONTRACT, "out", types.CPointer(types.uint16))
rows = parameter(CONTRACT, "rows", types.int32)
cols = parameter(CONTRACT, "cols", types.int32)
out_stride = parameter(CONTRACT, "out_stride", types.int32)


def store(instance, frame, pack):
    """Finish one warp's chunk of 16 rows x 64 columns: value 4g + 2h + e of a lane is row lane / 4 + 8h, column
    8g + 2 (lane % 4) + e."""
    values = field(pack, 0, FLOATS)
    lane = cuda.threadIdx.x & 31
    row = field(pack, 8, types.int32) + (lane >> 2)
    col = field(pack, 12, types.int32) + (lane & 3) * 2
    data, stride = out(instance, frame)[0], out_stride(instance, frame)[0]
    height, width = rows(instance, frame)[0], cols(instance, frame)[0]
    for j in range(0, 32, 2):
        y, x = row + (j % 4) // 2 * 8, col + j // 4 * 8
        word = bf16_pair(silu(values[j]), silu(values[j + 1]))
        at = types.int64(y) * stride + x
        if y < height and x < width:
            data[at] = types.uint16(word)
        if y < height and x + 1 < width:
            data[at + 1] = types.uint16(word >> 16)


@cuda.jit(device=True, inline="always")
def silu(x):
    """x * sigmoid(x)."""
    return x / (types.float32(1) + math.exp(-x))


def component() -> Object:
    """The component.  Its code is for sm_80, which links into every later architecture."""
    signature = types.void(types.int32, types.voidptr, types.voidptr)
    code, _ = numba.cuda.compile(
        store,
        signature,
        device=True,
        abi="c",
        abi_info={"abi_name": CONTRACT.symbol("store", "pl_answer")},
        cc=(8, 0),
        fastmath=True,
        output="ltoir",
    )
    return from_ltoir({"sm_80": code}, CONTRACT, name="epilogue.py")
