"""Linked kernels as torch operators: right, checked by torch's own opcheck, compiled whole, captured, on its stream."""

import importlib
from functools import partial
from pathlib import Path
from typing import Any

import pytest

GEMM = "gemm-wgmma_128x256x64-bias_relu-grouped_tiles"
TOLERANCE = {"rtol": 2.0**-8, "atol": 4e-3}
SHAPES = [(128, 256, 64), (1, 8, 8), (300, 40, 1024), (1000, 1224, 520)]


@pytest.fixture(scope="module")
def op(package: Any) -> Any:
    pytest.importorskip("torch")
    register = importlib.import_module("pipelink.torch").register
    return register("pipelink_gpu_test::gemm_relu", package(GEMM), inputs=("a", "b", "bias"))


@pytest.fixture(scope="module")
def swiglu_linear(operator_kernels: Any) -> Any:
    folder = operator_kernels("swiglu-*.plk")
    return partial(importlib.import_module("pipelink.torch").swiglu_linear, folder=folder)


def operands(torch: Any, m: int, n: int, k: int, device: str = "cuda") -> tuple[Any, Any, Any]:
    generator = torch.Generator(device=device).manual_seed(m + n + k)

    def random(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator, device=device)

    return random(m, k).bfloat16(), (random(n, k) / k**0.5).bfloat16(), random(n).bfloat16()


def expected(torch: Any, a: Any, b: Any, bias: Any) -> Any:
    return torch.relu(a.double() @ b.double().T + bias.double())


def gated(torch: Any, x: Any, w: Any) -> Any:
    gate, up = (x.double() @ w.double().T).chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_operator_is_right(torch: Any, op: Any, shape: tuple[int, int, int]) -> None:
    given = operands(torch, *shape)
    out = op(*given)
    assert out.shape == shape[:2]
    torch.testing.assert_close(out.double(), expected(torch, *given), **TOLERANCE)


def test_opcheck(torch: Any, op: Any) -> None:
    torch.library.opcheck(op, operands(torch, 128, 256, 64))


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_without_a_graph_break(torch: Any, op: Any, dynamic: bool) -> None:
    function = torch.compile(lambda a, b, bias: op(a, b, bias) * 2, fullgraph=True, dynamic=dynamic)
    for shape in ((256, 512, 128), (384, 264, 192)):
        given = operands(torch, *shape)
        torch.testing.assert_close(function(*given).double(), 2 * expected(torch, *given), rtol=2.0**-7, atol=8e-3)


def test_cuda_graph(torch: Any, op: Any) -> None:
    given = operands(torch, 256, 512, 128)
    op(*given)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = op(*given)
    given[0].mul_(-1)
    graph.replay()
    torch.testing.assert_close(out.double(), expected(torch, *given), **TOLERANCE)


def test_reduce_overhead(torch: Any, op: Any) -> None:
    """torch.compile's own CUDA graphs hold the operator."""
    function = torch.compile(lambda a, b, bias: op(a, b, bias) + 1, fullgraph=True, mode="reduce-overhead")
    for seed in range(4):
        a, b, bias = operands(torch, 256, 512, 128)
        a = a * (seed + 1)
        torch.testing.assert_close(
            function(a, b, bias).double(), expected(torch, a, b, bias) + 1, rtol=2.0**-7, atol=3e-2
        )


def test_the_callers_stream(torch: Any, op: Any) -> None:
    """The launch waits for what is before it on the current stream, and for nothing else."""
    a, b, bias = operands(torch, 512, 512, 512)
    op(a, b, bias)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        changed = a * 2
        out = op(changed, b, bias)
        done = stream.record_event()
    assert not done.query()
    stream.synchronize()
    torch.testing.assert_close(out.double(), expected(torch, a * 2, b, bias), **TOLERANCE)


def test_second_device(torch: Any, op: Any) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one CUDA device")
    given = operands(torch, 128, 256, 64, "cuda:1")
    out = op(*given)
    assert out.device == given[0].device
    torch.testing.assert_close(out.double(), expected(torch, *given), **TOLERANCE)


def test_errors_name_the_argument(torch: Any, op: Any) -> None:
    runtime = importlib.import_module("pipelink.runtime")
    a, b, bias = operands(torch, 128, 256, 64)
    for arguments, message in (
        ((a.float(), b, bias), "tensor 'a': expected torch.bfloat16"),
        ((a, b[:, :32], bias), "expected K = 64, given 32"),
        ((a, b, bias.cpu()), "tensor 'bias': expected a CUDA device"),
        ((a, b.T.contiguous().T, bias), "tensor 'b'"),
    ):
        with pytest.raises(runtime.LinkError, match=message):
            op(*arguments)


def test_backward_says_that_there_is_none(torch: Any, op: Any) -> None:
    a, b, bias = operands(torch, 128, 256, 64)
    with pytest.raises(RuntimeError, match="no autograd formula"):
        op(a.requires_grad_(), b, bias).sum().backward()


@pytest.mark.parametrize("shape", [(1, 8, 64), (16, 512, 256), (300, 1224, 520), (4096, 1024, 512)], ids=str)
def test_swiglu_linear(torch: Any, swiglu_linear: Any, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    x, w, _ = operands(torch, m, 2 * n, k)
    torch.testing.assert_close(swiglu_linear(x, w).double(), gated(torch, x, w), **TOLERANCE)


def test_swiglu_linear_keeps_leading_dimensions(torch: Any, swiglu_linear: Any) -> None:
    x, w, _ = operands(torch, 24, 256, 64)
    out = swiglu_linear(x.view(2, 3, 4, 64), w)
    assert out.shape == (2, 3, 4, 128)
    torch.testing.assert_close(out.view(24, 128).double(), gated(torch, x, w), **TOLERANCE)
    assert swiglu_linear(x[:0], w).shape == (0, 128)


def test_swiglu_linear_compiled_and_captured(torch: Any, swiglu_linear: Any) -> None:
    function = torch.compile(lambda x, w: swiglu_linear(x, w) + 1, fullgraph=True, dynamic=True)
    for m in (64, 640):
        x, w, _ = operands(torch, m, 512, 128)
        torch.testing.assert_close(function(x, w).double(), gated(torch, x, w) + 1, rtol=2.0**-7, atol=1e-2)
    swiglu_linear(x, w)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = swiglu_linear(x, w)
    x.mul_(-1)
    graph.replay()
    torch.testing.assert_close(out.double(), gated(torch, x, w), **TOLERANCE)


def test_swiglu_linear_says_where_it_looked(torch: Any, tmp_path: Path) -> None:
    runtime = importlib.import_module("pipelink.runtime")
    x, w, _ = operands(torch, 16, 256, 64)
    with pytest.raises(runtime.LinkError, match="no kernel in ") as caught:
        importlib.import_module("pipelink.torch").swiglu_linear(x, w, tmp_path)
    assert "python -m pipelink.torch build" in caught.value.diagnostics[0].hint
