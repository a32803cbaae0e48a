"""``swiglu_linear(x, w)``: ``silu(x gateᵀ) * (x upᵀ)`` in one kernel, as operator ``pipelink::swiglu_linear``.

The operator picks among the linked kernels of a folder by the device and the shape of each call, so that a compiled
graph with dynamic shapes holds one operator and still gets the right kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch  # pyright: ignore[reportMissingImports]

from pipelink.runtime import Kernel
from pipelink.support.diagnostics import error
from pipelink.torch.operators import built_kernel, launch, torch_type
from pipelink.torch.table import ENTRIES, Entry, choose

_TYPES = {torch_type(element): element for element in dict.fromkeys(entry.element for entry in ENTRIES)}


def swiglu_linear(x: Any, w: Any, folder: str | Path | None = None) -> Any:
    """``silu(x @ w[:N].T) * (x @ w[N:].T)`` for x [..., K] and w [2 N, K]: gate rows, then up rows, as stored.

    Returns [..., N] of x's type, rounded once.  K and N are multiples of 8.  ``folder`` holds the linked kernels; by
    default the one that ``python -m pipelink.torch build`` fills.  Raises LinkError ``argument-type``,
    ``argument-shape``, ``argument-dtype``, ``argument-device``, or ``no-image`` where no kernel fits the device."""
    return torch.ops.pipelink.swiglu_linear(x, w, str(folder or ""))


def _check(x: Any, w: Any) -> None:
    if x.dtype not in _TYPES or w.dtype != x.dtype:
        names = " or ".join(map(str, _TYPES))
        raise error("argument-dtype", f"swiglu_linear: expected x and w of {names}, given {x.dtype} and {w.dtype}")
    if x.dim() < 1 or w.dim() != 2 or x.shape[-1] != w.shape[1]:
        raise error(
            "argument-shape",
            f"swiglu_linear: expected x [..., K] and w [2 N, K], given {list(x.shape)} and {list(w.shape)}",
        )
    if w.shape[0] % 2:
        raise error("argument-shape", f"swiglu_linear: w has {w.shape[0]} rows, expected gate and up rows alike")
    if x.device != w.device:
        raise error("argument-device", f"swiglu_linear: x is on {x.device}, w on {w.device}")


def _empty(x: Any, w: Any) -> Any:
    return torch.empty((*x.shape[:-1], w.shape[0] // 2), dtype=x.dtype, device=x.device)


@lru_cache(maxsize=1024)
def _picked(folder: str, device: int, element: str, m: int, n: int, k: int) -> Kernel:
    """The kernel for a shape.  Raises LinkError ``no-image``."""

    def least(there: Sequence[Entry], capability: tuple[int, int], sms: int) -> Entry | None:
        return choose(there, capability, sms, element, m, n, k)

    return built_kernel("swiglu_linear", ENTRIES, folder, device, least)


def _run(x: Any, w: Any, folder: str) -> Any:
    _check(x, w)
    if x.device.type != "cuda":
        raise error("argument-device", f"swiglu_linear: expected a CUDA device, given {x.device}")
    out = _empty(x, w)
    rows = x.reshape(-1, x.shape[-1])
    if out.numel():
        kernel = _picked(folder, x.device.index, _TYPES[x.dtype], rows.shape[0], out.shape[-1], rows.shape[1])
        launch(kernel, {"a": rows, "b": w, "out": out.view(-1, out.shape[-1])})
    return out


def _fake(x: Any, w: Any, folder: str) -> Any:
    _check(x, w)
    return _empty(x, w)


_operator: Any = torch.library.custom_op(
    "pipelink::swiglu_linear", _run, mutates_args=(), schema="(Tensor x, Tensor w, str folder) -> Tensor"
)
_operator.register_fake(_fake)
