"""Programmatic launches: results are those of launches one after the other."""

from typing import Any


def test_what_the_kernel_in_front_wrote_is_there(torch: Any, load: Any) -> None:
    """A thousand launches, each of which adds to what the one in front of it wrote, on more CTAs than fit at once."""
    add = load("add_early")
    for count in (1, 128, 1_000_000):
        w = torch.arange(count, device="cuda", dtype=torch.float32) % 7
        buffers = [torch.zeros(count, device="cuda"), torch.full((count,), float("nan"), device="cuda")]
        for step in range(1000):
            add(x=buffers[step % 2], w=w, y=buffers[1 - step % 2])
        torch.cuda.synchronize()
        assert torch.equal(buffers[0], 1000 * w), count


def test_two_gemms_in_a_row(torch: Any, load: Any) -> None:
    """The second multiplies what the first stores, whose buffers the next round overwrites."""
    plain, early = load("gemm-wgmma_128x256x64-store-grouped_tiles"), load("gemm_programmatic")
    a, b = (torch.randn(2048, 2048, device="cuda").to(torch.bfloat16) for _ in range(2))
    results: list[Any] = []
    for kernel in (plain, early):
        middle, out = (torch.zeros(2048, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        for _ in range(50):
            kernel(a=a, b=b, out=middle)
            kernel(a=middle, b=b, out=out)
            kernel(a=out, b=a, out=middle)
        torch.cuda.synchronize()
        results.append((middle.clone(), out.clone()))
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])


def test_in_a_graph(torch: Any, load: Any) -> None:
    add = load("add_early")
    w = torch.ones(1000, device="cuda")
    x, y = torch.zeros(1000, device="cuda"), torch.zeros(1000, device="cuda")
    add.preload(x=x, w=w, y=y)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(10):
            add(x=x, w=w, y=y)
            add(x=y, w=w, y=x)
    for _ in range(5):
        graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(x, torch.full((1000,), 100.0, device="cuda"))
