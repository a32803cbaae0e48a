"""Decoding: one query a sequence over all keys that there are, in graphs, beside what else does it on a Hopper GPU.

    python benchmarks/attention/decode.py --link FOLDER        where the compilers are
    python benchmarks/attention/decode.py FOLDER [--output benchmarks/results/decode.json]

Peers are cuDNN and FlashAttention 2, through torch.  Keys and values lie as [B, HK, S, D] for all of them.  Each is
measured twice: over the same keys in every replay, which stay in the L2 cache where they fit, and over copies in turn
of more than 200 MB.  Samples of the linked kernels and of the peers are taken in turn; a ratio is cuDNN's time over the
linked kernel's of one turn, and a mean that of all points.  Beside the kernel with the library's core stand the one
with the core of 16 rows written with CuTe and the one that reads pages in random order, where their packages are there;
beside that one, where it is installed (``flashinfer-python``), FlashInfer, which reads the same pages.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.attention.paged import in_pages, planned, shuffled  # noqa: E402
from benchmarks.command import arguments  # noqa: E402
from pipelink import runtime  # noqa: E402

POINTS = ((1, 1024), (1, 8192), (1, 32768), (1, 131072), (8, 8192), (64, 2048), (64, 8192))  # sequences, keys
HEADS, KV_HEADS, DIMENSION = 32, 8, 128
PAGE = 64  # keys
#: By what they are called: with the library's core, whose ratio is kept, with that written with CuTe, and with pages.
KERNELS = {
    "linked": "attention-split-128-p4",
    "cute": "attention-cute-split-128-p4",
    "paged": f"attention-split-lengths-128-p4-page{PAGE}",
}
ROTATED_BYTES = 200e6
Maker = Callable[[int], Callable[[], Any]]  # a call that reads the copy of this number
TURNS, SAMPLE_MS = 21, 3.0


def link(folder: Path) -> None:
    """The packages that are measured."""
    import pipelink
    from pipelink.components.attention import add_attention
    from pipelink.components.gemm import Composer
    from test.compositions import Objects, compose

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        objects = Objects(Path(made))
        for name in ("linked", "cute"):
            compose(KERNELS[name], objects).link().save(folder / f"{KERNELS[name]}.plk")
        paged = pipelink.Kernel("attention", target="sm_90a")
        add_attention(Composer(paged, objects), "split-lengths", DIMENSION, pack=HEADS // KV_HEADS, page=PAGE)
        paged.link().save(folder / f"{KERNELS['paged']}.plk")


def graph(torch: Any, calls: list[Callable[[], Any]], prepare: Callable[[], None]) -> Any:
    """A graph of the calls, one after the other; ``prepare`` is called right before."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in calls:
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    prepare()
    made = torch.cuda.CUDAGraph()
    with torch.cuda.graph(made):
        for call in calls:
            call()
    return made


def measure(folder: Path, batch: int, length: int) -> dict[str, Any]:
    """One point: medians in microseconds of a step, and the ratios of cuDNN to the linked kernel."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    from benchmarks import timing

    bytes_ = 4 * batch * KV_HEADS * length * DIMENSION
    copies = 1 + int(ROTATED_BYTES // bytes_)
    q = torch.randn(batch, HEADS, 1, DIMENSION, device="cuda", dtype=torch.bfloat16)
    k, v = (
        torch.randn(copies, batch, KV_HEADS, length, DIMENSION, device="cuda", dtype=torch.bfloat16) for _ in range(2)
    )
    o = torch.full((batch, 1, HEADS, DIMENSION), float("nan"), device="cuda", dtype=torch.bfloat16)
    packages = {name: folder / f"{kernel}.plk" for name, kernel in KERNELS.items()}
    kernels = {name: runtime.load(path) for name, path in packages.items() if path.is_file() or name == "linked"}
    scale = DIMENSION**-0.5

    table = shuffled(torch, batch, length, PAGE)
    paged = [
        [in_pages(torch, x[copy].transpose(1, 2), table, PAGE) for copy in range(copies) if "paged" in kernels]
        for x in (k, v)
    ]
    lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)

    def given(name: str, copy: int) -> dict[str, Any]:
        own = {"k": k[copy].transpose(1, 2), "v": v[copy].transpose(1, 2)}
        if name == "paged":
            own = {"k": paged[0][copy], "v": paged[1][copy], "block_table": table, "seqused_k": lengths}
        return {"q": q.transpose(1, 2), "o": o, "scale": scale, **own}

    def linked(name: str) -> Maker:
        return lambda copy: lambda: kernels[name](**given(name, copy))

    def peer(backend: Any) -> Maker:
        def at(copy: int) -> Callable[[], Any]:
            def call() -> Any:
                with sdpa_kernel(backend):
                    return torch.nn.functional.scaled_dot_product_attention(q, k[copy], v[copy], enable_gqa=True)

            return call

        return at

    makers: dict[str, Maker] = {
        **{name: linked(name) for name in kernels},
        "cuDNN": peer(SDPBackend.CUDNN_ATTENTION),
        "FlashAttention 2": peer(SDPBackend.FLASH_ATTENTION),
    }
    expected = makers["cuDNN"](0)().transpose(1, 2).float()
    pages = planned(torch, table, PAGE, HEADS, KV_HEADS, prompts=False) if "paged" in kernels else None
    if pages is not None:
        makers["FlashInfer"] = lambda copy: lambda: pages.run(q[:, :, 0], (paged[0][copy], paged[1][copy]), out=o[:, 0])
    for name in (name for name in makers if name in (*kernels, "FlashInfer")):  # those that write into ``o``
        o.fill_(float("nan"))
        makers[name](0)()
        if not (o.float() - expected).norm() < 6e-3 * expected.norm():  # of both, in bf16
            raise SystemExit(f"{batch} x {length}, {name}: not what cuDNN computes")

    def prepare() -> None:
        for name, kernel in kernels.items():
            kernel.preload(**given(name, 0))

    def sample(made: Any, launches: int) -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        made.replay()
        begin.record()
        for _ in range(launches):
            made.replay()
        end.record()
        torch.cuda.synchronize()
        return float(begin.elapsed_time(end)) * 1e3 / launches

    found: dict[str, Any] = {"copies": copies, "turns": TURNS, "bytes": bytes_}
    for state, used in (("same", range(1)), ("rotated", range(copies))):
        graphs = {name: graph(torch, [maker(copy) for copy in used], prepare) for name, maker in makers.items()}
        launches = {name: max(1, int(SAMPLE_MS * 1e3 / sample(made, 2))) for name, made in graphs.items()}
        times: dict[str, list[float]] = {name: [] for name in graphs}
        for number in range(TURNS):
            for name in list(graphs)[:: 1 if number % 2 else -1]:
                times[name].append(sample(graphs[name], launches[name]) / len(used))
        ratio = timing.interval([p / q for p, q in zip(times["cuDNN"], times["linked"], strict=True)])
        us = {name: round(statistics.median(taken), 2) for name, taken in times.items()}
        found[state] = {"us": us, "ratio": [round(value, 4) for value in ratio]}
        if "FlashInfer" in times:
            ratio = timing.interval([p / q for p, q in zip(times["FlashInfer"], times["paged"], strict=True)])
            found[state]["pages"] = [round(value, 4) for value in ratio]
    found["with"] = {**timing.machine(), "toolkit": kernels["linked"].package.manifest["targets"][0]["toolkit"]}
    return found


def main() -> int:
    given = arguments(__doc__, "FOLDER")
    if given.link:
        link(given.path)
        return 0
    from benchmarks import store

    ratios: dict[str, list[float]] = {"same": [], "rotated": []}
    for batch, length in POINTS:
        found = measure(given.path, batch, length)
        for state, taken in ratios.items():
            taken.append(found[state]["ratio"][0])
            rate = found["bytes"] / found[state]["us"]["linked"] * 1e-6
            print(
                f"{batch} x {length}, {state}: {found[state]['us']}, {rate:.2f} TB/s, "
                f"ratio {found[state]['ratio'][0]:.3f}",
                flush=True,
            )
        if given.output:
            name = f"{batch}x{length}"
            store.add(given.output, "decode", {name: {**found, "with": {**found["with"], "date": store.now()}}})
    for state, taken in ratios.items():
        print(f"{state}: geometric mean {statistics.geometric_mean(taken):.3f} of cuDNN")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
