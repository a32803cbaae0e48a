"""``attention(q, k, v)``: softmax(scale · q kᵀ) v in one kernel, as operator ``pipelink::attention``.

The operator picks among the linked kernels of a folder by the device, the head dimension and whether it is causal.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch  # pyright: ignore[reportMissingImports]

from pipelink.runtime import Kernel
from pipelink.support.diagnostics import error
from pipelink.torch.operators import built_kernel, launch
from pipelink.torch.table import ATTENTION, AttentionEntry


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    scale: float | None = None,
    return_lse: bool = False,
    folder: str | Path | None = None,
) -> Any:
    """``softmax(scale * q @ k.T) @ v`` by head, for q [B, SQ, H, D] and k, v [B, SK, HK, D] in bf16; D is 64 or 128, H
    a multiple of HK: that many query heads share one of keys and values.

    ``causal``: query r looks at the keys up to r + SK - SQ, so the last query at all of them.  ``scale``: 1 / sqrt(D)
    where it is None.  Returns o [B, SQ, H, D], 0 for a query that looks at no key; with ``return_lse`` also the natural
    logarithms of the rows' sums, f32 [B, H, SQ].  Raises LinkError ``argument-type``, ``argument-shape``,
    ``argument-dtype``, ``argument-device``, ``argument-range``, or ``no-image`` where no kernel fits the device."""
    scale = q.shape[-1] ** -0.5 if scale is None else float(scale)
    o, lse = torch.ops.pipelink.attention(q, k, v, causal, scale, str(folder or ""))
    return (o, lse) if return_lse else o


def _check(q: Any, k: Any, v: Any, scale: float) -> None:
    given = f"given q {list(q.shape)}, k {list(k.shape)}, v {list(v.shape)}"
    if {q.dtype, k.dtype, v.dtype} != {torch.bfloat16}:
        types = f"{q.dtype}, {k.dtype} and {v.dtype}"
        raise error("argument-dtype", f"attention: expected q, k and v of torch.bfloat16, given {types}")
    if q.dim() != 4 or k.dim() != 4 or v.shape != k.shape:
        raise error("argument-shape", f"attention: expected q [B, SQ, H, D] and k, v [B, SK, HK, D], {given}")
    if q.shape[0] != k.shape[0] or q.shape[3] != k.shape[3]:
        raise error("argument-shape", f"attention: q and k have other batches or head dimensions, {given}")
    if k.shape[2] < 1 or q.shape[2] % k.shape[2]:
        raise error("argument-shape", f"attention: the heads of q are no multiple of those of k, {given}")
    if not q.device == k.device == v.device:
        raise error("argument-device", f"attention: q is on {q.device}, k on {k.device}, v on {v.device}")
    if not 0 < scale < float("inf"):
        raise error("argument-range", f"attention: expected a scale above 0, given {scale}")


def _empty(q: Any) -> tuple[Any, Any]:
    b, sq, h, _ = q.shape
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    return o, torch.empty((b, h, sq), dtype=torch.float32, device=q.device)


@lru_cache(maxsize=256)
def _picked(folder: str, device: int, causal: bool, dimension: int) -> Kernel:
    """The kernel for a head dimension.  Raises LinkError ``no-image`` and ``argument-shape``."""
    variant = "causal" if causal else "dense"
    entries = [entry for entry in ATTENTION if entry.variant == variant]
    fitting = [entry for entry in entries if entry.dimension == dimension]
    if not fitting:
        dimensions = " or ".join(str(entry.dimension) for entry in entries)
        raise error("argument-shape", f"attention: expected heads of {dimensions}, given {dimension}")

    def first(there: Sequence[AttentionEntry], capability: tuple[int, int], _sms: int) -> AttentionEntry | None:
        return next((entry for entry in there if entry.runs_on(capability)), None)

    return built_kernel("attention", fitting, folder, device, first)


def _run(q: Any, k: Any, v: Any, causal: bool, scale: float, folder: str) -> tuple[Any, Any]:
    _check(q, k, v, scale)
    if q.device.type != "cuda":
        raise error("argument-device", f"attention: expected a CUDA device, given {q.device}")
    kernel = _picked(folder, q.device.index, causal, q.shape[3])
    o, lse = _empty(q)
    if not k.numel():
        o.zero_()
        lse.fill_(-float("inf"))
    elif o.numel():
        launch(kernel, {"q": q, "k": k, "v": v, "o": o, "lse": lse, "scale": scale})
    return o, lse


def _fake(q: Any, k: Any, v: Any, causal: bool, scale: float, folder: str) -> tuple[Any, Any]:
    _check(q, k, v, scale)
    return _empty(q)


_operator: Any = torch.library.custom_op(
    "pipelink::attention",
    _run,
    mutates_args=(),
    schema="(Tensor q, Tensor k, Tensor v, bool causal, float scale, str folder) -> (Tensor, Tensor)",
)
_operator.register_fake(_fake)
