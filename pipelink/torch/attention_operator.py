"""``attention(q, k, v)``: softmax(scale · q kᵀ) v in one kernel, as operator ``pipelink::attention``.

The operator picks a linked kernel by its arguments; the choice is made when it runs, so that a graph with dynamic
shapes holds one operator.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import torch  # pyright: ignore[reportMissingImports]

from pipelink.runtime import Kernel
from pipelink.torch.attention_call import Call, problem
from pipelink.torch.block_mask import BlockLists, BlockPlan, plan_blocks
from pipelink.torch.operators import launch, linked_kernel
from pipelink.torch.table import AttentionEntry

_PLANS = "_pipelink_plans"  # of a BlockMask, by B, H and D


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: tuple[int, int] | None = None,
    block_mask: Any = None,
    cu_seqlens: Any = None,
    seqused_k: Any = None,
    block_table: Any = None,
    softcap: float | None = None,
    alibi_slopes: Any = None,
    bias: Any = None,
    sinks: Any = None,
    scale: float | None = None,
    return_lse: bool = False,
    folder: str | Path | None = None,
) -> Any:
    """``softmax(scale * q @ k.T) @ v`` by head, for q [B, SQ, H, D] and k, v [B, SK, HK, D], all bf16 or all f16; D is
    64, 128 or 256, H a multiple of HK: that many query heads share one of keys and values.

    Which keys query r looks at: ``causal``: those up to r + SK - SQ.  ``window``: (left, right) of that one, below 0
    without a limit.  ``block_mask``: a FlexAttention ``BlockMask``, a ``BlockPlan``, or ``BlockLists``.
    ``cu_seqlens``: int32 [N + 1], where sequences that stand one behind another begin, or a pair, of q [TQ, H, D] and
    of k, v [TK, HK, D].  ``seqused_k``: int32 [B], how many keys of each sequence count.  ``block_table``: int32
    [B, most pages], the pages of each, where k and v are [pages, 16, 64 or 256, HK, D]; ``cu_seqlens`` is q's then.

    What becomes of scores: ``softcap``, above 0; ``alibi_slopes``, f32 [H] or [B, H]; ``bias``, f32, bf16 or f16, which
    broadcasts to [B, H, SQ, SK].  ``sinks``: [H], join the rows' sums.  ``scale``: 1 / sqrt(D) where it is None.

    Returns o like q, 0 for a query that looks at no key; with ``return_lse`` also the natural logarithms of the rows'
    sums, f32 [B, H, SQ].  Raises LinkError ``argument-combination``, ``argument-type``, ``argument-shape``,
    ``argument-dtype``, ``argument-stride``, ``argument-device``, ``argument-range``, or ``no-image`` where there is no
    kernel and none can be linked; docs/torch.md says what goes together."""
    begins_q, begins_k = _begins(cu_seqlens, block_table is not None)
    _check_types({"q": q, "k": k, "v": v}, torch.Tensor, "a tensor")
    optional = {"seqused_k": seqused_k, "block_table": block_table, "alibi_slopes": alibi_slopes}
    optional |= {"bias": bias, "sinks": sinks, "cu_seqlens": begins_q}
    _check_types(optional, (torch.Tensor, type(None)), "a tensor")
    _check_types({"causal": causal, "return_lse": return_lse}, bool, "a bool")
    _check_types({"softcap": softcap, "scale": scale}, (int, float, type(None)), "a number")
    flat = begins_q is not None and q.dim() == 3
    if flat:
        q, k, v = (x.unsqueeze(0) if x.dim() == 3 else x for x in (q, k, v))
    lists, made_for = _lists(block_mask, causal, q)
    o, lse = torch.ops.pipelink.attention(
        q, k, v, causal, _window(window), lists, made_for, begins_q, begins_k, seqused_k,
        block_table, softcap or None, alibi_slopes, bias, sinks, scale, str(folder or ""),
    )  # fmt: skip
    if flat:
        o, lse = o.squeeze(0), lse.squeeze(0)
    return (o, lse) if return_lse else o


def _check_types(values: dict[str, Any], expected: type | tuple[type, ...], name: str) -> None:
    for argument, value in values.items():
        if not isinstance(value, expected):
            raise problem("argument-type", f"{argument}: expected {name}, given {type(value).__name__}")


def _begins(cu_seqlens: Any, paged: bool) -> tuple[Any, Any]:
    """``cu_seqlens`` of q and of k."""
    if not isinstance(cu_seqlens, (tuple, list)):
        return cu_seqlens, cu_seqlens
    pair = cast(list[Any], cu_seqlens)
    if paged:
        raise problem("argument-type", "cu_seqlens: expected those of q alone, since block_table says where k is")
    if len(pair) != 2 or not all(isinstance(x, torch.Tensor) for x in pair):
        raise problem("argument-type", "cu_seqlens: expected a tensor, or one of q and one of k")
    return pair[0], pair[1]


def _window(window: Any) -> list[int] | None:
    if window is None:
        return None
    if not isinstance(window, (tuple, list)) or [type(x) for x in cast(list[Any], window)] != [int, int]:
        raise problem("argument-type", f"window: expected (left, right), two integers, given {window!r}")
    left, right = cast(list[int], window)
    return None if left < 0 and right < 0 else [left, right]


def _lists(mask: Any, causal: bool, q: Any) -> tuple[list[Any], list[int]]:
    """``lists`` and ``made_for`` of a call."""
    if mask is None:
        return [], []
    if isinstance(mask, BlockLists):
        tensors = [mask.kv_num_blocks, mask.kv_indices, mask.full_kv_num_blocks, mask.full_kv_indices]
        return tensors, [*mask.block, *mask.lengths]
    if not isinstance(mask, BlockPlan):
        mask = _plan_of(mask, q)
    if causal and mask.masked:
        message = "there are no parts for causal together with a function that says which pairs count"
        raise problem("argument-combination", f"{message}; BlockLists.of(block_mask) are the lists without it")
    return [mask.list_order, mask.list_ends, mask.list_entries, mask.mask_bits], [*mask.made_for]


def _plan_of(mask: Any, q: Any) -> BlockPlan:
    """The plan of a BlockMask, which keeps it."""
    if not hasattr(mask, "kv_num_blocks") or not hasattr(mask, "mask_mod"):
        message = "expected a BlockMask, a BlockPlan or BlockLists"
        raise problem("argument-type", f"block_mask: {message}, given {type(mask).__name__}")
    if q.dim() != 4:
        raise problem("argument-shape", f"expected q [B, SQ, H, D], given {list(q.shape)}")
    plans, key = getattr(mask, _PLANS, None), (q.shape[0], q.shape[2], q.shape[3])
    plan = None if plans is None else plans.get(key)
    if plan is not None:
        return plan
    if torch.compiler.is_compiling():
        message = "block_mask: a plan cannot be made under torch.compile"
        raise problem("argument-type", f"{message}; call attention with it and these shapes before, or pass a plan")
    device = mask.kv_num_blocks.device
    ctas = torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1
    plan = plan_blocks(BlockLists.of(mask), *key, ctas, mask.mask_mod)
    setattr(mask, _PLANS, {**(plans or {}), key: plan})
    return plan


def _empty(q: Any) -> tuple[Any, Any]:
    b, sq, h, _ = q.shape
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    return o, torch.empty((b, h, sq), dtype=torch.float32, device=q.device)


@lru_cache(maxsize=1024)
def _picked(folder: str, device: int, entries: tuple[AttentionEntry, ...]) -> Kernel:
    """Raises LinkError ``no-image``."""
    return linked_kernel("attention", entries, folder, device)


def _run(q: Any, *arguments: Any) -> tuple[Any, Any]:
    call, folder = Call(q, *arguments[:-1]), arguments[-1]
    call.check()
    if q.device.type != "cuda":
        raise problem("argument-device", f"expected a CUDA device, given {q.device}")
    kernel = _picked(folder, q.device.index, call.entries())
    o, lse = _empty(q)
    if not call.k.numel():
        o.zero_()
        lse.copy_(torch.full_like(lse, -float("inf")) if call.sinks is None else call.sinks[:, None].expand_as(lse))
    elif o.numel():
        launch(kernel, {**call.values(), "o": o, "lse": lse})
    return o, lse


def _fake(q: Any, *arguments: Any) -> tuple[Any, Any]:
    Call(q, *arguments[:-1]).check()
    return _empty(q)


_operator: Any = torch.library.custom_op(
    "pipelink::attention",
    _run,
    mutates_args=(),
    schema="(Tensor q, Tensor k, Tensor v, bool causal, int[]? window, Tensor[] lists, int[] made_for, "
    "Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, Tensor? seqused_k, Tensor? block_table, float? softcap, "
    "Tensor? alibi_slopes, Tensor? bias, Tensor? sinks, float? scale, str folder) -> (Tensor, Tensor)",
)
_operator.register_fake(_fake)
