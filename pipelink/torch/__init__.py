"""Linked kernels in torch: operators that ``torch.compile``, CUDA graphs and the profiler know.

>>> op = pipelink.torch.register("mylib::gemm_relu", "gemm.plk", inputs=("a", "b", "bias"))
>>> y = op(a, b, bias)                  # also torch.ops.mylib.gemm_relu(a, b, bias)
>>> y = pipelink.torch.swiglu_linear(x, w)
>>> o = pipelink.torch.attention(q, k, v, causal=True)

``register`` makes an operator of any package.  ``swiglu_linear`` and ``attention`` pick a linked kernel for the device
and the shape, from a folder that ``python -m pipelink.torch build`` fills; one of ``attention`` that is not there is
linked when it is first used, where the compilers are.  ``BlockLists``, ``BlockPlan``, ``list_blocks`` and
``plan_blocks`` are for attention over lists of blocks, ``shared_buffers`` and ``shard_sequence`` for sequences that
several GPUs share.  Only this subpackage imports torch, and only when one of them is first used, so that the build
needs none.  docs/torch.md says what they accept.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipelink.torch.attention_operator import attention
    from pipelink.torch.block_mask import BlockLists, BlockPlan, list_blocks, plan_blocks
    from pipelink.torch.context import (
        ContextBuffers,
        buffers_of_devices,
        join_sequence,
        shard_sequence,
        shared_buffers,
    )
    from pipelink.torch.operators import register
    from pipelink.torch.swiglu import swiglu_linear

__all__ = [
    "BlockLists",
    "BlockPlan",
    "ContextBuffers",
    "attention",
    "buffers_of_devices",
    "join_sequence",
    "list_blocks",
    "plan_blocks",
    "register",
    "shard_sequence",
    "shared_buffers",
    "swiglu_linear",
]

# No module has the name of what it holds: once imported, the module would stand in its place here.
_HOMES = {
    "attention": "attention_operator",
    **dict.fromkeys(("BlockLists", "BlockPlan", "list_blocks", "plan_blocks"), "block_mask"),
    **dict.fromkeys(
        ("ContextBuffers", "buffers_of_devices", "join_sequence", "shard_sequence", "shared_buffers"), "context"
    ),
    "register": "operators",
    "swiglu_linear": "swiglu",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"pipelink.torch.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pipelink.torch' has no attribute '{name}'")
