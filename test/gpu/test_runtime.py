"""Launching: arguments, streams, graphs, workspaces, residency, clusters, and what is refused."""

import threading
import time
from typing import Any

import pytest

from pipelink.support.diagnostics import LinkError

GEMM = "gemm-wgmma_128x256x64-store-static_tiles"


class Bare:
    """A tensor behind DLPack alone."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self._tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()


class Array:
    """A tensor behind the CUDA array interface alone."""

    def __init__(self, tensor: Any) -> None:
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


def operands(torch: Any, m: int = 256, n: int = 512, k: int = 128) -> dict[str, Any]:
    def make(*shape: int) -> Any:
        return torch.randint(-2, 3, shape, device="cuda").to(torch.bfloat16)

    return {"a": make(m, k), "b": make(n, k), "out": torch.full((m, n), float("nan"), device="cuda").bfloat16()}


def product(given: dict[str, Any]) -> Any:
    return (given["a"].double() @ given["b"].double().T).to(given["out"].dtype)


# --------------------------------------------------------------------------------------------------------- arguments
def test_dlpack_and_array_interface(torch: Any, load: Any) -> None:
    given = operands(torch)
    load(GEMM)(**{name: Bare(tensor) for name, tensor in given.items()})
    torch.cuda.synchronize()
    assert torch.equal(given["out"], product(given))
    out = torch.zeros(300, device="cuda")
    load("affine")(out=Array(out), alpha=2.0, beta=1)
    torch.cuda.synchronize()
    assert torch.equal(out, torch.arange(300, device="cuda") * 2.0 + 1)


def test_tensors_that_require_gradients(torch: Any, load: Any) -> None:
    given = operands(torch)
    expected = product(given)
    given["a"].requires_grad_()
    load(GEMM)(**given)
    torch.cuda.synchronize()
    assert torch.equal(given["out"], expected)


def test_scalars_change_between_calls(torch: Any, load: Any) -> None:
    kernel = load("affine")
    out = torch.zeros(1000, device="cuda")
    for step in range(700):  # more than the plans that are kept
        kernel(out=out, alpha=0.5 * step, beta=-step)
    torch.cuda.synchronize()
    assert torch.equal(out, torch.arange(1000, device="cuda") * 349.5 - 699)


def test_refused_arguments(torch: Any, load: Any) -> None:
    kernel = load(GEMM)
    good = operands(torch)

    def refused(id: str, message: str, **changed: Any) -> None:
        with pytest.raises(LinkError, match=message) as caught:
            kernel(**{**good, **changed})
        assert caught.value.diagnostics[0].id == id

    refused("argument-dtype", "tensor 'a': expected bf16, given f16", a=good["a"].half())
    refused("argument-shape", "expected rank 2, given 3", a=good["a"][None])
    refused("argument-shape", r"expected K = (128, given 64|64, given 128)", b=good["b"][:, :64])
    refused("argument-device", "expected a CUDA device, given cpu", a=good["a"].cpu())
    refused("argument-stride", "last dimension with stride 1", a=good["a"].T.contiguous().T)
    refused(
        "argument-alignment",
        "multiple of 16",
        a=torch.zeros(256 * 128 + 1, device="cuda").bfloat16()[1:].view(256, 128),
    )
    odd = torch.zeros(256, 132, device="cuda").bfloat16()[:, :128]
    refused("argument-stride", "positive multiple of 16 B, given 264 B", a=odd)
    refused("argument-type", "given list", a=[1, 2])
    refused("unknown-argument", "has no argument 'c'", c=good["a"])
    with pytest.raises(LinkError, match="needs 'out'"):
        kernel(a=good["a"], b=good["b"])
    empty = operands(torch, k=0)
    with pytest.raises(LinkError, match="TMA cannot address an empty tensor"):
        kernel(**empty)


# ----------------------------------------------------------------------------------------------------------- streams
def test_the_current_stream_is_used(torch: Any, load: Any) -> None:
    kernel = load("affine")
    out = torch.zeros(1 << 20, device="cuda")
    kernel(out=out, alpha=0.0, beta=1)
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)  # about 0.1 s: a launch on another stream would come before the fill
        out.fill_(7.0)
        kernel(out=out, alpha=0.0, beta=2)
        after = out.clone()
    side.synchronize()
    assert bool((after == 2).all())


def test_a_given_stream_is_used(torch: Any, load: Any) -> None:
    kernel = load("affine")
    out = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    for form in (lambda s: s, lambda s: s.cuda_stream):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            torch.cuda._sleep(200_000_000)
            out.fill_(7.0)
        kernel(out=out, alpha=0.0, beta=3, stream=form(side))
        side.synchronize()
        assert bool((out == 3).all())


def test_several_threads_and_streams(torch: Any, load: Any) -> None:
    kernel = load("tickets")
    outs = [torch.zeros(500, dtype=torch.int32, device="cuda") for _ in range(8)]
    torch.cuda.synchronize()

    def work(out: Any) -> None:
        stream = torch.cuda.Stream()
        for _ in range(100):
            kernel(out=out, stream=stream)
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(out,)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for out in outs:
        assert sorted(out.tolist()) == list(range(500))


# ------------------------------------------------------------------------------------------------------------ graphs
def test_graph_capture_after_preload(torch: Any, load: Any) -> None:
    kernel = load("tickets")  # has a workspace, which must be zero in every replay
    out = torch.zeros(400, dtype=torch.int32, device="cuda")
    kernel.preload(out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(out=out)
    for _ in range(3):
        out.fill_(-1)
        graph.replay()
        torch.cuda.synchronize()
        assert sorted(out.tolist()) == list(range(400))


def test_graph_capture_of_a_gemm(torch: Any, load: Any) -> None:
    kernel = load(GEMM)
    given = operands(torch)
    kernel.preload(**given)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(**given)
    given["a"].copy_(operands(torch)["a"])
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(given["out"], product(given))


@pytest.mark.parametrize("warm", [False, True])
def test_a_capture_that_would_load_or_allocate_is_refused(torch: Any, load: Any, warm: bool) -> None:
    from pipelink.runtime import driver

    kernel = load("tickets")
    out = torch.zeros(4, dtype=torch.int32, device="cuda")
    if warm:
        kernel.preload()  # the code, but no workspace
    cuda = driver.cuda()
    stream = torch.cuda.Stream()
    relaxed = cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    driver.call("cuStreamBeginCapture", stream.cuda_stream, relaxed)
    try:
        with pytest.raises(LinkError, match="preload-needed") as caught:
            kernel(out=out, stream=stream)
    finally:
        driver.call("cuStreamEndCapture", stream.cuda_stream)
    assert caught.value.diagnostics[0].hint == "call preload() with the same arguments before the capture"


def test_a_captured_graph_keeps_its_workspace_to_itself(torch: Any, load: Any) -> None:
    """Replays on one stream run beside launches on another: they must not count on one counter."""
    kernel = load("tickets")
    captured, eager = (torch.zeros(2000, dtype=torch.int32, device="cuda") for _ in range(2))
    kernel.preload(out=captured)
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=side):
        kernel(out=captured)
    for _ in range(50):
        graph.replay()
        kernel(out=eager, stream=side)
    torch.cuda.synchronize()
    for out in (captured, eager):
        assert sorted(out.tolist()) == list(range(2000))


# --------------------------------------------------------------------------------- workspaces, residency and clusters
def test_workspaces_are_zero_before_every_launch(torch: Any, load: Any) -> None:
    kernel = load("tickets")
    for count in (10, 1000, 10):
        out = torch.full((count,), -1, dtype=torch.int32, device="cuda")
        for _ in range(3):
            kernel(out=out)
            torch.cuda.synchronize()
            assert sorted(out.tolist()) == list(range(count))


def test_a_resident_grid_meets_and_a_larger_one_is_refused(torch: Any, load: Any) -> None:
    kernel = load("meeting")
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    out = torch.zeros(sms, dtype=torch.int32, device="cuda")
    kernel(out=out)
    torch.cuda.synchronize()
    assert out.tolist() == [2 * sms] * sms
    with pytest.raises(LinkError, match="synchronises its whole grid") as caught:
        kernel(out=torch.zeros(sms * 64, dtype=torch.int32, device="cuda"))
    assert caught.value.diagnostics[0].id == "grid-not-resident"


def test_clusters(torch: Any, load: Any) -> None:
    kernel = load("ranks")
    out = torch.full((64,), -1, dtype=torch.int32, device="cuda")
    kernel(out=out)
    torch.cuda.synchronize()
    assert out.tolist() == [0, 1] * 32
    with pytest.raises(LinkError, match="a multiple of the cluster's 2"):
        kernel(out=torch.zeros(3, dtype=torch.int32, device="cuda"))


def test_a_persistent_grid_fills_the_device(torch: Any, load: Any) -> None:
    kernel = load("persistent")
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    kernel(out=out)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    assert kernel.resolved(out=out).grid == (int(out[0]), 1, 1)
    assert int(out[0]) % sms == 0


# ----------------------------------------------------------------------------------------------------------- devices
def test_a_second_device(torch: Any, load: Any) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one device")
    kernel = load(GEMM)
    first = operands(torch)
    second = {name: tensor.to("cuda:1") for name, tensor in first.items()}
    torch.cuda.synchronize(0)
    torch.cuda.synchronize(1)
    for given in (second, first, second):  # device 0 is torch's current one throughout
        given["out"].fill_(float("nan"))
        kernel(**given)
        torch.cuda.synchronize(given["a"].device)
        assert torch.equal(given["out"], product(given))
    assert torch.cuda.current_device() == 0
    with pytest.raises(LinkError, match=r"tensor '[ab]': expected device [01], given device [01]") as caught:
        kernel(**{**first, "a": second["a"]})
    assert caught.value.diagnostics[0].id == "argument-device"
    with torch.cuda.device(1):
        kernel(**first)
    torch.cuda.synchronize(0)
    assert torch.equal(first["out"], product(first))


# ---------------------------------------------------------------------------------------------------------- overhead
def test_a_repeated_launch_is_cheap(torch: Any, load: Any) -> None:
    kernel = load("affine")
    out = torch.zeros(128, device="cuda")
    for _ in range(100):
        kernel(out=out, alpha=1.0, beta=1)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(2000):
        kernel(out=out, alpha=1.0, beta=1)
    per_call = (time.perf_counter() - start) / 2000
    torch.cuda.synchronize()
    print(f"\n{per_call * 1e6:.1f} us a launch")
    assert per_call < 50e-6
