"""A mask written as a Python function, compiled by numba-cuda without a GPU: a query looks at its own chunk.

It answers ``score``, which the core of attention asks about every block of keys.  ``mask`` is asked only about blocks
that the walker does not call full; here the causal one answers it.
"""

import sys
from pathlib import Path

import numba.cuda
import numpy as np
from numba import cuda, types

from pipelink.objects import Contract, Object, from_ltoir

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "numba_epilogue"))

from device import field, parameter

# The pack of a score's arguments: a pointer to the scores, a plc::attention_tile, the first query, the first key.
TILE_BYTES = 60
QUERIES, KEYS, ROW, COLUMN = 8 + 5 * 4, 8 + 6 * 4, 8 + TILE_BYTES, 12 + TILE_BYTES

CONTRACT = (
    Contract("example::python_mask", file="mask.py")
    .answers("score", f"void(fragment<f32,64>&, plc::attention_tile<{TILE_BYTES},4>, i32, i32)")
    .param("chunk", "i32")
)

FLOATS = types.CPointer(types.float32)
MINUS_INFINITY = np.float32(-np.inf)
chunk = parameter(CONTRACT, "chunk", types.int32)


def score(instance, frame, pack):
    """Change one warp's scores of 16 queries x 128 keys: value 4g + 2h + e of a lane is query lane / 4 + 8h, key
    8g + 2 (lane % 4) + e.  The last query stands at the last key."""
    values = field(pack, 0, FLOATS)
    lane = cuda.threadIdx.x & 31
    last = field(pack, KEYS, types.int32) - field(pack, QUERIES, types.int32)
    query = field(pack, ROW, types.int32) + (lane >> 2) + last
    key = field(pack, COLUMN, types.int32) + (lane & 3) * 2
    extent = chunk(instance, frame)[0]
    begin = query - query % extent - key
    begin_8 = query + 8 - (query + 8) % extent - key
    for g in range(16):
        for e in range(2):
            if 8 * g + e < begin:
                values[4 * g + e] = MINUS_INFINITY
            if 8 * g + e < begin_8:
                values[4 * g + 2 + e] = MINUS_INFINITY


def component() -> Object:
    """The component.  Its code is for sm_80, which links into every later architecture."""
    signature = types.void(types.int32, types.voidptr, types.voidptr)
    code, _ = numba.cuda.compile(
        score,
        signature,
        device=True,
        abi="c",
        abi_info={"abi_name": CONTRACT.symbol("score", "pl_answer")},
        cc=(8, 0),
        output="ltoir",
    )
    return from_ltoir({"sm_80": code}, CONTRACT, name="mask.py")
