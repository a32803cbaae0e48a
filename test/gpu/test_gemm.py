"""Every GEMM of the component library against references, tails, views and poisoned outputs included."""

import itertools
from typing import Any

import pytest

MAINLOOPS = ("wgmma_128x256x64", "wgmma_128x128x64", "cp_async")
EPILOGUES = ("store", "bias_relu", "gelu", "residual_add")
SCHEDULERS = ("static_tiles", "grouped_tiles")
SHAPED = ("wgmma_256x128x64", "wgmma_128x192x64", "wgmma_128x64x64", "wgmma_64x256x64")
OTHERS = [
    *itertools.product(MAINLOOPS, ("swiglu", "geglu")),
    *itertools.product(SHAPED, ("store", "swiglu")),
    *(("wgmma_128x256x64", f"{epilogue}_tma{suffix}") for epilogue in ("store", "swiglu") for suffix in ("", "_f16")),
    ("cp_async", "store_tma"),
    *(("wgmma_128x256x64", f"{epilogue}_f16") for epilogue in (*EPILOGUES, "swiglu", "geglu")),
]
NAMES = [f"gemm-{m}-{e}-{s}" for m, e, s in itertools.product(MAINLOOPS, EPILOGUES, SCHEDULERS)]
NAMES += [f"gemm-{m}-{e}-grouped_tiles" for m, e in OTHERS]
SHAPES = [  # M, N, K; the last dimensions of matrices are multiples of 8 elements, which TMA and the epilogues need
    (128, 256, 64),
    (1, 8, 8),
    (127, 248, 72),
    (300, 40, 1024),
    (513, 264, 136),
    (1000, 1224, 520),
    (8192, 128, 64),
    (64, 8192, 256),
    (2048, 4096, 2048),
]
GUARD_ROWS, GUARD_COLUMNS = 3, 16


class Problem:
    """Operands on the device, an output inside a larger poisoned buffer, and the reference in float64."""

    def __init__(self, torch: Any, name: str, m: int, n: int, k: int, *, whole: bool = False) -> None:
        self.torch, epilogue = torch, name.split("-")[2]
        self.epilogue = epilogue.removesuffix("_f16").removesuffix("_tma")
        self.element = torch.float16 if epilogue.endswith("_f16") else torch.bfloat16
        generator = torch.Generator(device="cuda").manual_seed(m * 7 + n * 3 + k)

        def random(*shape: int) -> Any:
            if whole:
                values = torch.randint(-2, 3, shape, generator=generator, device="cuda")
                return values.to(torch.bfloat16)
            return torch.randn(*shape, generator=generator, device="cuda").to(torch.bfloat16)

        self.a, self.b = random(m, k), random(2 * n if self.epilogue in ("swiglu", "geglu") else n, k)
        if not whole:
            self.b = (self.b.float() / max(k, 1) ** 0.5).to(torch.bfloat16)
        self.bias, self.residual = random(n).to(self.element), random(m, n).to(self.element)
        self.buffer = torch.full(
            (m + 2 * GUARD_ROWS, n + 2 * GUARD_COLUMNS), float("nan"), device="cuda", dtype=self.element
        )
        self.out = self.buffer[GUARD_ROWS : GUARD_ROWS + m, GUARD_COLUMNS : GUARD_COLUMNS + n]

    def arguments(self) -> dict[str, Any]:
        extra = {"bias_relu": {"bias": self.bias}, "residual_add": {"residual": self.residual}}
        return {"a": self.a, "b": self.b, "out": self.out, **extra.get(self.epilogue, {})}

    def expected(self) -> Any:
        product = self.a.double() @ self.b.double().T
        if self.epilogue == "bias_relu":
            return self.torch.relu(product + self.bias.double())
        if self.epilogue == "gelu":
            return self.torch.nn.functional.gelu(product, approximate="tanh")
        if self.epilogue == "residual_add":
            return product + self.residual.double()
        if self.epilogue in ("swiglu", "geglu"):
            gate, up = product.chunk(2, dim=1)
            functional = self.torch.nn.functional
            return up * (
                functional.silu(gate) if self.epilogue == "swiglu" else functional.gelu(gate, approximate="tanh")
            )
        return product

    def check(self) -> None:
        """Within bf16 rounding of the reference (and of the epilogue's own float32 arithmetic), and nothing written
        outside."""
        self.torch.cuda.synchronize()
        found, expected = self.out.double(), self.expected()
        error = (found - expected).abs()
        limit = 2.0 ** (-8 if self.element is self.torch.bfloat16 else -10) * expected.abs() + 2e-3
        wrong = ~(error <= limit)  # also true for NaN
        self.relative_error = float((found - expected).norm() / expected.norm().clamp_min(1e-30))
        assert not wrong.any(), f"{int(wrong.sum())} of {wrong.numel()} wrong, first at {wrong.nonzero()[0].tolist()}"
        self.check_guard()

    def check_guard(self) -> None:
        guard = self.buffer.clone()
        rows, columns = self.out.shape
        guard[GUARD_ROWS : GUARD_ROWS + rows, GUARD_COLUMNS : GUARD_COLUMNS + columns] = float("nan")
        assert bool(guard.isnan().all()), "something was written outside the output"


@pytest.mark.parametrize("name", NAMES)
def test_shapes(torch: Any, load: Any, record: Any, name: str) -> None:
    kernel = load(name)
    errors: dict[str, float] = {}
    for shape in SHAPES:
        problem = Problem(torch, name, *shape)
        kernel(**problem.arguments())
        problem.check()
        errors["x".join(map(str, shape))] = problem.relative_error
    record(name, errors)


@pytest.mark.parametrize("name", [name for name in NAMES if not any(e in name for e in ("gelu", "swiglu", "geglu"))])
def test_whole_numbers_are_exact(torch: Any, load: Any, name: str) -> None:
    """Sums of small whole numbers are exact in float32, so the output is the rounded reference, bit for bit."""
    kernel = load(name)
    for shape in [(129, 264, 200), (640, 512, 512)]:
        problem = Problem(torch, name, *shape, whole=True)
        kernel(**problem.arguments())
        torch.cuda.synchronize()
        assert torch.equal(problem.out, problem.expected().to(problem.element))
        problem.check_guard()


@pytest.mark.parametrize("mainloop", MAINLOOPS)
def test_repeated_launches_agree(torch: Any, load: Any, mainloop: str) -> None:
    """A race shows as a difference between runs."""
    kernel = load(f"gemm-{mainloop}-store-grouped_tiles")
    problem = Problem(torch, f"gemm-{mainloop}-store", 1536, 2304, 768)
    kernel(**problem.arguments())
    first = problem.out.clone()
    for _ in range(50):
        problem.out.fill_(float("nan"))
        kernel(**problem.arguments())
        assert torch.equal(problem.out, first)


@pytest.mark.parametrize("mainloop", MAINLOOPS)
def test_padded_and_offset_views(torch: Any, load: Any, mainloop: str) -> None:
    name = f"gemm-{mainloop}-store-static_tiles"
    kernel = load(name)
    problem = Problem(torch, name, 200, 264, 144)
    for operand in ("a", "b"):
        tensor = getattr(problem, operand)
        rows, columns = tensor.shape
        padded = torch.full((rows + 4, columns + 24), float("nan"), device="cuda", dtype=torch.bfloat16)
        inside = padded[2 : 2 + rows, 8 : 8 + columns]
        inside.copy_(tensor)
        setattr(problem, operand, inside)
    kernel(**problem.arguments())
    problem.check()


def test_k_that_is_no_multiple_of_eight_behind_a_padded_stride(torch: Any, load: Any) -> None:
    """TMA reads exactly K columns: what pads the rows is not multiplied."""
    name = "gemm-wgmma_128x256x64-store-static_tiles"
    kernel = load(name)
    problem = Problem(torch, name, 130, 264, 77)
    for operand in ("a", "b"):
        tensor = getattr(problem, operand)
        padded = torch.full((tensor.shape[0], 80), float("nan"), device="cuda", dtype=torch.bfloat16)
        padded[:, :77] = tensor
        setattr(problem, operand, padded[:, :77])
    kernel(**problem.arguments())
    problem.check()


def test_empty_outputs_launch_nothing(torch: Any, load: Any) -> None:
    for mainloop in MAINLOOPS:
        name = f"gemm-{mainloop}-store-static_tiles"
        kernel = load(name)
        for shape in [(0, 64, 64), (64, 0, 64)]:
            problem = Problem(torch, name, *shape)
            kernel(**problem.arguments())
            torch.cuda.synchronize()
            problem.check_guard()
