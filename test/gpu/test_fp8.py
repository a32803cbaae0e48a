"""GEMMs on e4m3 operands against the float64 product of what they stand for: scales for a tensor or for blocks, tails,
views, poisoned outputs."""

from typing import Any

import pytest

BLOCK = 128  # elements of K, and columns of B, that share a scale
MOST = 448.0  # the largest e4m3
TENSOR = ("fp8_128x256x128", "fp8_128x128x128")
BLOCKS = ("fp8_block_128x128x128",)
EPILOGUES = {
    "fp8_128x256x128": ("store", "bias_relu", "swiglu"),
    "fp8_128x128x128": ("store", "swiglu"),
    "fp8_block_128x128x128": ("store", "gelu", "swiglu"),
}
NAMES = [f"gemm-{mainloop}-{epilogue}-grouped_tiles" for mainloop, found in EPILOGUES.items() for epilogue in found]
SHAPES = [  # M, N, K; rows of e4m3 start at multiples of 16 bytes, rows of the output at multiples of 8 elements
    (128, 256, 128),
    (1, 8, 16),
    (127, 248, 144),
    (300, 40, 1024),
    (513, 264, 272),
    (1000, 1224, 528),
    (64, 8192, 256),
    (132, 512, 8192),
    (2048, 4096, 2048),
]
GUARD_ROWS, GUARD_COLUMNS = 3, 16


def ceildiv(a: int, b: int) -> int:
    return -(-a // b)


def blocks_of(torch: Any, values: Any, height: int, width: int) -> Any:
    """The largest magnitude of each block of height x width."""
    rows, columns = ceildiv(values.shape[0], height), ceildiv(values.shape[1], width)
    padded = torch.zeros(rows * height, columns * width, device="cuda", dtype=values.dtype)
    padded[: values.shape[0], : values.shape[1]] = values.abs()
    return padded.view(rows, height, columns, width).amax((1, 3))


def spread(scales: Any, shape: tuple[int, int], height: int, width: int) -> Any:
    """Scales of blocks, one for each element of a matrix of the given shape."""
    full = scales.repeat_interleave(height, 0).repeat_interleave(width, 1)
    return full[: shape[0], : shape[1]]


class Problem:
    """Quantised operands, an output inside a larger poisoned buffer, and the reference in float64."""

    def __init__(self, torch: Any, name: str, m: int, n: int, k: int, *, whole: bool = False) -> None:
        self.torch, (self.mainloop, self.epilogue) = torch, name.split("-")[1:3]
        self.block, self.gated = self.mainloop in BLOCKS, self.epilogue in ("swiglu", "geglu")
        generator = torch.Generator(device="cuda").manual_seed(m * 7 + n * 3 + k)
        rows = 2 * n if self.gated else n

        def random(*shape: int) -> Any:
            if whole:
                return torch.randint(-2, 3, shape, generator=generator, device="cuda").float()
            # rows and columns of different size, so that scales matter
            size = torch.rand(shape[0], 1, generator=generator, device="cuda") * 2 + 0.1
            return torch.randn(*shape, generator=generator, device="cuda") * size

        a, b = random(m, k), random(rows, k) / (1 if whole else k**0.5)
        if whole:
            self.a_full = self.b_full = torch.ones(1, 1, device="cuda")
            self.a_scale, self.b_scale = self.stored(torch.ones(m, ceildiv(k, BLOCK), device="cuda"), (rows, k))
        elif self.block:
            scale_a = blocks_of(torch, a, 1, BLOCK).clamp_min(1e-6) / MOST
            halves = b.split(n)  # gate and up have blocks of their own
            scale_b = torch.cat([blocks_of(torch, half, BLOCK, BLOCK).clamp_min(1e-6) / MOST for half in halves])
            each = scale_b.split(ceildiv(n, BLOCK))
            self.a_full = spread(scale_a, (m, k), 1, BLOCK)
            self.b_full = torch.cat([spread(part, (n, k), BLOCK, BLOCK) for part in each])
            self.a_scale, self.b_scale = self.stored(scale_a, (rows, k))[0], scale_b
        else:
            self.a_full, self.b_full = (x.abs().amax().view(1, 1) / MOST for x in (a, b))
            self.a_scale, self.b_scale = self.a_full.view(1).clone(), self.b_full.view(1).clone()
        self.a = (a / self.a_full).to(torch.float8_e4m3fn)
        self.b = (b / self.b_full).to(torch.float8_e4m3fn)
        self.bias = torch.randn(n, generator=generator, device="cuda").to(torch.bfloat16)
        self.buffer = torch.full(
            (m + 2 * GUARD_ROWS, n + 2 * GUARD_COLUMNS), float("nan"), device="cuda", dtype=torch.bfloat16
        )
        self.out = self.buffer[GUARD_ROWS : GUARD_ROWS + m, GUARD_COLUMNS : GUARD_COLUMNS + n]

    def stored(self, scales: Any, weight: tuple[int, int]) -> tuple[Any, Any]:
        """A's scales as they are passed, [blocks of K, M] behind a stride of whole 16 bytes, and ones for B's."""
        torch, (m, blocks) = self.torch, scales.shape
        if not self.block:
            one = torch.ones(1, device="cuda")
            return one, one.clone()
        padded = torch.full((blocks, ceildiv(m, 4) * 4), float("nan"), device="cuda")
        padded[:, :m] = scales.T
        halves = 2 if self.gated else 1
        return padded[:, :m], torch.ones(halves * ceildiv(weight[0] // halves, BLOCK), blocks, device="cuda")

    def arguments(self) -> dict[str, Any]:
        extra = {"bias": self.bias} if self.epilogue == "bias_relu" else {}
        return {"a": self.a, "b": self.b, "a_scale": self.a_scale, "b_scale": self.b_scale, "out": self.out, **extra}

    def product(self) -> Any:
        return (self.a.double() * self.a_full.double()) @ (self.b.double() * self.b_full.double()).T

    def expected(self) -> Any:
        product, functional = self.product(), self.torch.nn.functional
        match self.epilogue:
            case "bias_relu":
                return functional.relu(product + self.bias.double())
            case "gelu":
                return functional.gelu(product, approximate="tanh")
            case "swiglu":
                gate, up = product.chunk(2, 1)
                return functional.silu(gate) * up
            case _:
                return product

    def check(self) -> None:
        """Within bf16 rounding and what the tensor cores lose: they keep about 14 bits of a sum, over all of K with
        one scale, over 128 of it with scales for blocks.  Nothing is written outside."""
        self.torch.cuda.synchronize()
        found, expected = self.out.double(), self.expected()
        # a sum of n instructions' results loses at most n units of 2^-13 of its size, which is that of the product of
        # two random vectors as long as the operands' rows
        steps, k = 4 if self.block else ceildiv(self.a.shape[1], 32), self.a.shape[1]
        left, right = ((x.double() * f).norm(dim=1) for x, f in ((self.a, self.a_full), (self.b, self.b_full)))
        size = left[:, None] * right[None, :] / k**0.5
        if self.gated:  # d(silu(g) u) = silu'(g) u dg + silu(g) du
            gate, up = self.product().abs().chunk(2, 1)
            gate_size, up_size = size.chunk(2, 1)
            size = 1.1 * (up + up_size) * gate_size + gate * up_size
        # partial sums of a million outputs stray to five times their standard deviation
        limit = 2.0**-8 * expected.abs() + 1e-5 + size * 2.0**-9 * (1 + 5 * steps / 16)
        wrong = ~((found - expected).abs() <= limit)  # also true for NaN
        self.relative_error = float((found - expected).norm() / expected.norm().clamp_min(1e-30))
        assert not wrong.any(), (
            f"{int(wrong.sum())} of {wrong.numel()} wrong, first at {wrong.nonzero()[0].tolist()}, "
            f"relative error {self.relative_error}"
        )
        assert self.relative_error <= 2.0**-7, self.relative_error
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


@pytest.mark.parametrize("name", [name for name in NAMES if name.split("-")[2] in ("store", "bias_relu")])
def test_whole_numbers_are_exact(torch: Any, load: Any, name: str) -> None:
    """Sums of small whole numbers stay exact, so the output is the rounded reference, bit for bit."""
    kernel = load(name)
    for shape in [(129, 264, 208), (640, 512, 512)]:
        problem = Problem(torch, name, *shape, whole=True)
        kernel(**problem.arguments())
        torch.cuda.synchronize()
        assert torch.equal(problem.out, problem.expected().to(torch.bfloat16))
        problem.check_guard()


@pytest.mark.parametrize("name", [name for name in NAMES if "store" in name])
def test_repeated_launches_agree(torch: Any, load: Any, name: str) -> None:
    """A race shows as a difference between runs."""
    kernel = load(name)
    problem = Problem(torch, name, 1536, 2304, 1536)
    kernel(**problem.arguments())
    first = problem.out.clone()
    for _ in range(50):
        problem.out.fill_(float("nan"))
        kernel(**problem.arguments())
        assert torch.equal(problem.out, first)


@pytest.mark.parametrize("name", [name for name in NAMES if "store" in name])
def test_padded_and_offset_views(torch: Any, load: Any, name: str) -> None:
    kernel = load(name)
    problem = Problem(torch, name, 200, 264, 141)  # a K that only its stride makes a multiple of 16
    for operand in ("a", "b"):
        tensor = getattr(problem, operand)
        rows, columns = tensor.shape
        padded = torch.full((rows + 4, 192), float("nan"), device="cuda").to(torch.float8_e4m3fn)
        inside = padded[2 : 2 + rows, 16 : 16 + columns]
        inside.copy_(tensor)
        setattr(problem, operand, inside)
    kernel(**problem.arguments())
    problem.check()


def test_what_is_refused(torch: Any, load: Any) -> None:
    from pipelink.support.diagnostics import LinkError

    name = "gemm-fp8_block_128x128x128-store-grouped_tiles"
    kernel = load(name)
    problem = Problem(torch, name, 128, 256, 256)
    for change, id in (
        ({"a": problem.a.to(torch.bfloat16)}, "argument-dtype"),
        ({"a": problem.a.view(torch.float8_e5m2)}, "argument-dtype"),
        ({"a_scale": problem.a_scale[:1]}, "argument-shape"),
        ({"b_scale": problem.b_scale[:, :1].contiguous()}, "argument-shape"),
    ):
        with pytest.raises(LinkError) as caught:
            kernel(**(problem.arguments() | change))
        assert caught.value.diagnostics[0].id == id
