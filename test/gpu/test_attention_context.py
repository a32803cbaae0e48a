"""Attention over a sequence that several GPUs share: all ranks on one GPU, on two of one process, and in two processes;
launch after launch with other keys and values, which nobody waits for but the kernels themselves."""

import importlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pipelink import LinkError, runtime
from test.gpu.references import causal_pairs, error, operands, reference

SCRIPT = Path(__file__).with_name("context.py")
SHAPES = {  # B, H, HK, S
    2: [(1, 1, 1, 512), (1, 2, 2, 1536), (2, 4, 2, 1024), (1, 8, 1, 3072), (1, 16, 4, 8192)],
    4: [(1, 1, 1, 1024), (2, 4, 2, 2048), (1, 8, 4, 5120)],
}


@pytest.fixture
def context(torch: Any) -> Any:
    return importlib.import_module("pipelink.torch.context")


@pytest.fixture
def two_gpus(torch: Any) -> None:
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one device")


class Ranks:
    """A kernel for each rank, its stream, and what it is called with.  Several may share a device."""

    def __init__(self, torch: Any, context: Any, path: Path, devices: Sequence[int], shape: tuple[int, ...], d: int):
        b, h, hk, s = shape
        self.torch, self.context, self.gpus, self.devices = torch, context, len(devices), devices
        self.kernels = [runtime.load(path) for _ in devices]
        self.streams = [torch.cuda.Stream(device) for device in devices]
        rows = s // self.gpus
        self.buffers = context.buffers_of_devices((b, rows, hk, d), torch.bfloat16, devices)
        self.calls: list[dict[str, Any]] = []
        for buffers, device in zip(self.buffers, devices, strict=True):
            q, o = (torch.zeros(b, rows, h, d, dtype=torch.bfloat16, device=f"cuda:{device}") for _ in range(2))
            call = {**buffers.arguments(), "q": q, "o": o, "scale": d**-0.5}
            if "lse" in self.kernels[0].contract.tensors:
                call["lse"] = torch.zeros(b, h, rows, device=f"cuda:{device}")
            self.calls.append(call)

    def fill(self, q: Any, k: Any, v: Any) -> None:
        """The whole sequence's operands; results are poisoned."""
        for rank, call in enumerate(self.calls):
            for name, whole in (("q", q), ("k", k), ("v", v)):
                call[name].copy_(self.context.shard_sequence(whole, rank, self.gpus))
            for name in {"o", "lse", "far_k", "far_v"} & call.keys():
                call[name].fill_(float("nan"))

    def synchronize(self) -> None:
        for device in self.devices:
            self.torch.cuda.synchronize(device)

    def preload(self) -> None:
        for kernel, call, stream in zip(self.kernels, self.calls, self.streams, strict=True):
            kernel.preload(**call, stream=stream)
        self.synchronize()

    def launch(self) -> None:
        self.synchronize()
        for kernel, call, stream in zip(self.kernels, self.calls, self.streams, strict=True):
            kernel(**call, stream=stream)
        self.synchronize()

    def whole(self, name: str, dim: int = 1) -> Any:
        return self.context.join_sequence([call[name] for call in self.calls], dim)

    def close(self) -> None:
        for kernel in self.kernels:
            kernel.close()


def whole_operands(torch: Any, shape: tuple[int, ...], d: int) -> tuple[Any, Any, Any]:
    b, h, hk, s = shape
    return operands(torch, (b, h, hk, s, s), d)


def check(torch: Any, ranks: Ranks, q: Any, k: Any, v: Any, causal: bool) -> None:
    """O, and the logarithms where there are any, against float64 and as close as torch's own."""
    s, d = q.shape[1], q.shape[3]
    expected, sums = reference(torch, q, k, v, d**-0.5, causal_pairs(torch, s, s) if causal else None)
    turned = [x.transpose(1, 2) for x in (q, k, v)]
    options = {"is_causal": causal, "enable_gqa": q.shape[2] != k.shape[2]}
    peer = torch.nn.functional.scaled_dot_product_attention(*turned, **options).transpose(1, 2)
    o = ranks.whole("o")
    assert not o.isnan().any()
    assert error(o, expected) <= 1.1 * error(peer, expected) + 1e-4
    if "lse" in ranks.calls[0]:
        assert (ranks.whole("lse", 2).double() - sums).abs().max() < 2e-3


def replay(torch: Any, context: Any, ranks: Ranks, shape: tuple[int, ...], d: int, causal: bool, replays: int) -> None:
    """Graphs that rewrite K and V, launch, and compare; ranks' replays wait for nothing but each other's kernels."""
    sets = [whole_operands(torch, shape, d)]
    for shift in (1, 2):
        q, k, v = sets[0]
        sets.append((q, k.roll(shift, 1) * (1 + shift), v.roll(shift, 2) - shift))
    expected: list[list[Any]] = [[] for _ in ranks.calls]
    ranks.preload()
    for operands_of_set in sets:
        ranks.fill(*operands_of_set)
        ranks.launch()
        check(torch, ranks, *operands_of_set, causal)
        for found, call in zip(expected, ranks.calls, strict=True):
            found.append(call["o"].clone())
    graphs, wrong = [], []
    for rank, call in enumerate(ranks.calls):
        device = torch.device("cuda", ranks.devices[rank])

        def of_sets(which: int, rank: int = rank, device: Any = device) -> Any:
            shards = [context.shard_sequence(found[which], rank, ranks.gpus) for found in sets]
            return torch.stack(shards).to(device)

        keys, values, results = of_sets(1), of_sets(2), torch.stack(expected[rank])
        step = torch.zeros(1, dtype=torch.int64, device=device)
        bad = torch.zeros(1, dtype=torch.int64, device=device)
        with torch.cuda.device(device):
            ranks.kernels[rank].preload(**call)  # the capture needs memory of its own
            ranks.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=ranks.streams[rank]):
                call["k"].copy_(keys.index_select(0, step)[0])
                call["v"].copy_(values.index_select(0, step)[0])
                call["o"].fill_(float("nan"))
                ranks.kernels[rank](**call)
                bad += (call["o"] != results.index_select(0, step)[0]).any()
                step.add_(1).remainder_(len(sets))
        graphs.append((graph, device, ranks.streams[rank], keys, values, results, step))
        wrong.append(bad)
    ranks.synchronize()
    for _ in range(replays):
        for graph, device, stream, *_ in graphs:
            with torch.cuda.device(device), torch.cuda.stream(stream):
                graph.replay()
    ranks.synchronize()
    assert [int(bad) for bad in wrong] == [0] * len(wrong)
    assert all(int(step) == replays % len(sets) for *_, step in graphs)


@pytest.mark.parametrize("gpus", [2, 4])
def test_shards_are_chunks_from_both_ends(torch: Any, context: Any, gpus: int) -> None:
    x = torch.arange(2 * 3 * gpus * 256, device="cuda").reshape(2, -1, 3)
    shards = [context.shard_sequence(x, rank, gpus) for rank in range(gpus)]
    assert torch.equal(context.join_sequence(shards), x)
    assert torch.equal(shards[0], torch.cat((x[:, :128], x[:, -128:]), 1))
    with pytest.raises(LinkError, match=f"expected a length that {2 * gpus} times 128 divides, given {gpus * 256 - 2}"):
        context.shard_sequence(x[:, 2:], 0, gpus)


@pytest.mark.parametrize("dimension", [128, 64])
@pytest.mark.parametrize("variant", ["context", "context-causal"])
@pytest.mark.parametrize(
    ("gpus", "shape"),
    [(gpus, shape) for gpus, shapes in SHAPES.items() for shape in shapes],
    ids=lambda value: "x".join(map(str, value)) if isinstance(value, tuple) else f"g{value}",
)
def test_ranks_that_share_a_gpu(
    torch: Any, package: Any, context: Any, gpus: int, shape: tuple[int, ...], variant: str, dimension: int
) -> None:
    path = package(f"attention-{variant}-{dimension}-g{gpus}-shared-lse")
    ranks = Ranks(torch, context, path, [0] * gpus, shape, dimension)
    q, k, v = whole_operands(torch, shape, dimension)
    ranks.preload()
    for shift in range(3):  # each launch finds other keys, and other values
        q, k, v = q, k.roll(shift, 1), v.roll(shift, 2)
        ranks.fill(q, k, v)
        ranks.launch()
        check(torch, ranks, q, k, v, variant == "context-causal")
    ranks.close()


@pytest.mark.parametrize(("variant", "dimension"), [("context-causal", 128), ("context", 64)])
def test_a_thousand_replays_on_one_gpu(torch: Any, package: Any, context: Any, variant: str, dimension: int) -> None:
    shape = (1, 8, 2, 2048)
    path = package(f"attention-{variant}-{dimension}-g2-shared-lse")
    ranks = Ranks(torch, context, path, [0, 0], shape, dimension)
    replay(torch, context, ranks, shape, dimension, variant == "context-causal", 1000)
    ranks.close()


def test_a_length_that_is_no_whole_blocks_is_refused(torch: Any, package: Any, context: Any) -> None:
    path = package("attention-context-causal-128-g2-shared-lse")
    ranks = Ranks(torch, context, path, [0, 0], (1, 1, 1, 600), 128)
    with pytest.raises(LinkError) as caught:
        ranks.kernels[0].preload(**ranks.calls[0])
    assert caught.value.diagnostics[0].id == "argument-shape"
    assert "expected SQ / 256 * 256 = 256, given 300" in caught.value.diagnostics[0].message


def test_a_peer_that_is_missing_is_refused(torch: Any, package: Any, context: Any) -> None:
    path = package("attention-context-causal-128-g2-shared-lse")
    ranks = Ranks(torch, context, path, [0, 0], (1, 1, 1, 512), 128)
    with pytest.raises(LinkError) as caught:
        ranks.kernels[0].preload(**{**ranks.calls[0], "k_peers": ranks.calls[0]["k_peers"][:1]})
    assert caught.value.diagnostics[0].id == "argument-type"
    assert "'k_peers': expected a sequence of 2 tensors" in caught.value.diagnostics[0].message


def test_a_peer_that_does_not_launch_is_named(torch: Any, package: Any, context: Any) -> None:
    """By a debug link: the counter that is awaited has the peer's rank."""
    ranks = Ranks(torch, context, package("debug/lost_peer"), [0, 0], (1, 1, 1, 512), 128)
    ranks.preload()
    with pytest.raises(LinkError) as caught:
        ranks.kernels[0](**ranks.calls[0], stream=ranks.streams[0])
    (found,) = caught.value.diagnostics
    assert found.id == "kernel-hang"
    said = [found.message, *(note.message for note in found.notes)]
    print("\n".join(said))
    port = "'@attention_bring_2_128::@begun'"
    assert any(f"counter 1 of {port} to reach 1" in line or f"await of {port}, counter 1" in line for line in said)
    ranks.close()


@pytest.mark.parametrize("dimension", [128, 64])
@pytest.mark.parametrize("variant", ["context", "context-causal"])
def test_two_gpus(torch: Any, package: Any, context: Any, two_gpus: None, variant: str, dimension: int) -> None:
    """Against float64, and the kernel that has it all on one GPU."""
    shape, causal = (1, 16, 4, 8192), variant == "context-causal"
    ranks = Ranks(torch, context, package(f"attention-{variant}-{dimension}-g2"), [0, 1], shape, dimension)
    q, k, v = whole_operands(torch, shape, dimension)
    ranks.preload()
    for shift in range(20):
        k, v = k.roll(shift, 1), v.roll(shift, 2)
        ranks.fill(q, k, v)
        ranks.launch()
        if shift % 5 == 0:
            check(torch, ranks, q, k, v, causal)
        alone = torch.full_like(q, float("nan"))
        single = package(f"attention-{'causal' if causal else 'dense'}-{dimension}")
        runtime.load(single)(q=q, k=k, v=v, o=alone, scale=dimension**-0.5)
        assert error(ranks.whole("o"), alone.double()) < 6e-3  # both are rounded to bf16
    ranks.close()


@pytest.mark.parametrize(("variant", "dimension"), [("context-causal", 128), ("context", 128), ("context-causal", 64)])
def test_a_thousand_replays_on_two_gpus(
    torch: Any, package: Any, context: Any, two_gpus: None, variant: str, dimension: int
) -> None:
    shape = (1, 16, 4, 4096)
    ranks = Ranks(torch, context, package(f"attention-{variant}-{dimension}-g2"), [0, 1], shape, dimension)
    replay(torch, context, ranks, shape, dimension, variant == "context-causal", 1000)
    ranks.close()


@pytest.mark.parametrize(("variant", "dimension"), [("context-causal", 128), ("context", 128)])
def test_two_processes(package: Any, two_gpus: None, variant: str, dimension: int) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(SCRIPT)]
    path = package(f"attention-{variant}-{dimension}-g2")
    run = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    assert run.stdout.count("right") == 2, run.stdout
