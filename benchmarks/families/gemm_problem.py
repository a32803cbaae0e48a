"""Operands, reference results and peers of a GEMM on one shape, in torch on a GPU.

Operands are random; B is scaled so that outputs are about one.  The output lies in a larger buffer of NaN, so that what
is not written, and what is written outside, shows.  References are float32.  A *peer* is what a torch user would run
instead: cuBLAS for the product, and the product followed by the activation as ``torch.compile`` makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F

from benchmarks.families.base import Launch, Shape
from pipelink.components.gemm import EPILOGUES

if TYPE_CHECKING:
    from benchmarks.families.gemm import Gemm

GUARD_ROWS, GUARD_COLUMNS = 3, 16  # around a guarded output
DEVICE = "cuda"
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "e4m3": torch.float8_e4m3fn}
BLOCK = 128  # elements of K, and columns of B, that share a scale
ROUNDING = 2.0**-8  # of bf16 and what float32 arithmetic adds to it, relative to the value
# Error of a product of about one, from the order of its sum.  The tensor cores' fp8 sums keep 14 bits.
SUMMING = {"bf16": 4e-3, "f16": 4e-3, "e4m3": 5e-2}
RELATIVE = {"bf16": 4e-3, "f16": 4e-3, "e4m3": 5e-3}  # norm of the error / norm of the reference

RATE = 650.0  # TFLOP/s, about what the kernels reach; samples are made as long as that takes
COLD_BYTES = 192 << 20  # of weights that launches go through in turn; an H200 has 50 MiB of L2

Activation = Callable[..., torch.Tensor]


def _gated(x: torch.Tensor, function: Activation) -> torch.Tensor:
    gate, up = x.chunk(2, dim=-1)
    return function(gate) * up


#: Epilogue -> what it computes from the product and the further operands.
ACTIVATIONS: dict[str, Activation] = {
    "store": lambda x: x,
    "bias_relu": lambda x, bias: F.relu(x + bias),
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "residual_add": lambda x, residual: x + residual,
    "swiglu": lambda x: _gated(x, F.silu),
    "geglu": lambda x: _gated(x, lambda gate: F.gelu(gate, approximate="tanh")),
}


def stem_of(epilogue: str) -> str:
    """``swiglu_f16`` computes what ``swiglu`` does."""
    return next(name for name in ACTIVATIONS if epilogue == name or epilogue.startswith(f"{name}_"))


def _ceildiv(a: int, b: int) -> int:
    return -(-a // b)


class GemmProblem:
    """Operands of one configuration on M, N, K.  ``guarded`` puts the output inside a larger buffer."""

    def __init__(self, configuration: Gemm, shape: Shape, *, guarded: bool = True) -> None:
        m, n, k = shape
        self.configuration = configuration
        self.generator = torch.Generator(device=DEVICE).manual_seed(7 * m + 3 * n + k)
        self.element = configuration.parts.element
        self.epilogue = stem_of(configuration.epilogue)
        self.activation = ACTIVATIONS[self.epilogue]
        self.output_type = TYPES[EPILOGUES[configuration.epilogue].element]
        self.rows = n * (2 if configuration.gated else 1)  # of B
        self.scales: dict[str, torch.Tensor] = {}
        a, b = self._random(m, k), self._random(self.rows, k) / k**0.5
        if self.element == "e4m3":
            self._quantise(a, b, configuration.mainloop.startswith("fp8_block"))
        else:
            self.a, self.b = a.to(TYPES[self.element]), b.to(TYPES[self.element])
        self.extra = {
            "bias_relu": lambda: {"bias": self._random(n).to(self.output_type)},
            "residual_add": lambda: {"residual": self._random(m, n).to(self.output_type)},
        }.get(self.epilogue, dict)()
        rows, columns = (GUARD_ROWS, GUARD_COLUMNS) if guarded else (0, 0)
        self.buffer = torch.empty(m + 2 * rows, n + 2 * columns, device=DEVICE, dtype=self.output_type)
        self.out = self.buffer[rows : rows + m, columns : columns + n]
        self.poison()

    def _random(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=self.generator, device=DEVICE)

    def _quantise(self, a: torch.Tensor, b: torch.Tensor, blocks: bool) -> None:
        """e4m3 operands with a scale for each tensor, or for 1 x 128 of A and 128 x 128 of B (of each half of it)."""
        most, halves = float(torch.finfo(torch.float8_e4m3fn).max), 2 if self.configuration.gated else 1
        if blocks:
            (m, k), (rows, _) = a.shape, b.shape
            steps, per_half = _ceildiv(k, BLOCK), _ceildiv(rows // halves, BLOCK)
            a_scale = torch.empty(steps, _ceildiv(m, 4) * 4, device=DEVICE)[:, :m]  # rows start at 16 bytes
            a_scale.copy_(torch.rand(steps, m, generator=self.generator, device=DEVICE) / 64 + 1 / 64)
            b_scale = (torch.rand(halves * per_half, steps, generator=self.generator, device=DEVICE) + 1) / 64 / k**0.5
            self.a_full = a_scale.T.repeat_interleave(BLOCK, 1)[:, :k]
            each = [part.repeat_interleave(BLOCK, 0)[: rows // halves] for part in b_scale.split(per_half)]
            self.b_full = torch.cat(each).repeat_interleave(BLOCK, 1)[:, :k]
        else:
            self.a_full, self.b_full = (x.abs().amax().view(1) / most for x in (a, b))
            a_scale, b_scale = self.a_full, self.b_full
        self.scales = {"a_scale": a_scale, "b_scale": b_scale}
        self.a, self.b = ((x / full).to(torch.float8_e4m3fn) for x, full in ((a, self.a_full), (b, self.b_full)))

    def poison(self) -> None:
        self.buffer.fill_(float("nan"))

    def arguments(self) -> dict[str, Any]:
        """What a linked kernel takes."""
        return {"a": self.a, "b": self.b, "out": self.out, **self.scales, **self.extra}

    @property
    def work(self) -> float:
        """TFLOP."""
        return 2e-12 * self.a.shape[0] * self.rows * self.a.shape[1]

    @property
    def expected_ms(self) -> float:
        return self.work / RATE * 1e3

    # -------------------------------------------------------------------------------------------------- correctness
    def check(self, most_rows: int = 512) -> float:
        """The relative error of ``out``, over at most so many rows.  Raises AssertionError where it is wrong."""
        count = self.a.shape[0]
        rows = torch.arange(count, device=DEVICE)
        if count > most_rows:
            rows = torch.randperm(count, generator=self.generator, device=DEVICE)[:most_rows]
        left, right = self.a[rows].float(), self.b.float()
        if self.scales:
            left *= self.a_full if self.a_full.numel() == 1 else self.a_full[rows]
            right *= self.b_full
        product = left @ right.T
        extra = [value[rows] if value.dim() == 2 else value for value in self.extra.values()]
        expected = self.activation(product, *[value.float() for value in extra])
        found = self.out[rows].float()
        # gate * up: an error of one counts as much as the other is large
        weight = 1 + sum(half.abs() for half in product.chunk(2, dim=-1)) if self.configuration.gated else 1
        wrong = ~(
            (found - expected).abs() <= ROUNDING * expected.abs() + SUMMING[self.element] * weight
        )  # true for NaN
        error = float((found - expected).norm() / expected.norm().clamp_min(1e-30))
        assert not wrong.any(), f"{int(wrong.sum())} of {wrong.numel()} wrong, first at {wrong.nonzero()[0].tolist()}"
        assert not bool(self.out.isnan().any()), "a part of the output was not written"
        outside = self.buffer.numel() - self.out.numel()
        assert int(self.buffer.isnan().sum()) == outside, "something was written outside the output"
        assert error <= RELATIVE[self.element], f"relative error {error:.2g}"
        return error

    def outputs(self) -> list[torch.Tensor]:
        return [self.out.clone()]

    # -------------------------------------------------------------------------------------------------------- peers
    def rotation(self, most: int) -> Sequence[dict[str, Any]]:
        """Arguments with B and with copies of it, at most so many, which together do not fit into the L2 cache: every
        launch finds its weight in memory, as a layer of a model does."""
        count = min(_ceildiv(COLD_BYTES, self.b.numel() * self.b.element_size()), most)
        arguments = self.arguments()
        return [arguments, *({**arguments, "b": self.b.clone()} for _ in range(count - 1))]

    def peers(self, *, autotuned: bool = False) -> dict[str, Launch]:
        """``product``: cuBLAS's product alone, ``torch._scaled_mm`` for e4m3.  ``compiled``: the same and the
        activation that ``torch.compile`` makes, where there is one."""
        if autotuned:
            return {"autotuned": self._autotuned()}
        product = self._product()
        peers: dict[str, Launch] = {"product": product}
        if self.epilogue != "store":
            activation, extra = torch.compile(self.activation, dynamic=False), list(self.extra.values())
            peers["compiled"] = lambda arguments: activation(product(arguments), *extra)
        return peers

    def _product(self) -> Callable[..., torch.Tensor]:
        kind = self.output_type if self.element == "e4m3" else self.a.dtype
        result = torch.empty(self.a.shape[0], self.rows, device=DEVICE, dtype=kind)
        if self.element == "e4m3":
            # scales for tensors, also where ours are for blocks
            a_scale, b_scale = (full.flatten()[0] for full in (self.a_full, self.b_full))
            return lambda arguments: torch._scaled_mm(
                self.a, arguments["b"].T, a_scale, b_scale, out_dtype=kind, use_fast_accum=True, out=result
            )
        return lambda arguments: torch.matmul(self.a, arguments["b"].T, out=result)

    def _autotuned(self) -> Launch:
        whole = torch.compile(
            lambda a, b, *extra: self.activation(a @ b.T, *extra), mode="max-autotune-no-cudagraphs", dynamic=False
        )
        return lambda arguments: whole(self.a, arguments["b"], *self.extra.values())
