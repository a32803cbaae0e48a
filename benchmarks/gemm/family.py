"""The sm_90a GEMMs of language models, plain and with SwiGLU, next to cuBLAS: every tile shape, in CUDA graphs.

``family.py build FOLDER``          links TILE.EPILOGUE.plk of every tile shape (no GPU)
``family.py time FOLDER OUT.json``  checks and times every package of the folder (GPU, torch, cuda-bindings), and merges
                                    a result for each shape and kernel into the file

Of every shape the tile in ``CHOICE`` is timed, or with ``--all`` every package.  Plain kernels stand next to cuBLAS's
product with N columns.  Gated ones stand next to cuBLAS's product with 2N columns alone (``product``), followed by the
activation compiled with torch.compile (``compiled``), and, with ``--tuned`` and for three shapes, to both as
max-autotune compiles them (``tuned``).  A round samples every kernel of a shape once, in random order; a ratio is the
reference's time / the kernel's in one round, so that above 1 is faster, and the median over the rounds is given with
its bootstrapped 95% interval.  A sample replays a graph of launches over several weights, which together are larger
than the L2 cache.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHAPES = tuple((m, n, k) for k, n in ((4096, 14336), (8192, 28672), (2048, 8192)) for m in (128, 512, 2048, 4096, 8192))
TILES = ("128x256x64", "256x128x64", "128x192x64", "128x128x64", "128x64x64", "64x256x64")
#: The tile for each shape, plain and gated, as measured (NOTES.md).
CHOICE = {
    (128, 14336, 4096): ("64x256x64", "128x256x64"),
    (512, 14336, 4096): ("128x256x64", "128x128x64"),
    (2048, 14336, 4096): ("128x256x64", "128x256x64"),
    (4096, 14336, 4096): ("128x256x64", "128x192x64"),
    (8192, 14336, 4096): ("128x192x64", "128x192x64"),
    (128, 28672, 8192): ("128x256x64", "128x256x64"),
    (512, 28672, 8192): ("128x128x64", "128x128x64"),
    (2048, 28672, 8192): ("128x256x64", "128x192x64"),
    (4096, 28672, 8192): ("64x256x64", "128x192x64"),
    (8192, 28672, 8192): ("128x192x64", "128x192x64"),
    (128, 8192, 2048): ("128x64x64", "128x64x64"),
    (512, 8192, 2048): ("128x128x64", "128x128x64"),
    (2048, 8192, 2048): ("128x128x64", "128x128x64"),
    (4096, 8192, 2048): ("128x128x64", "128x192x64"),
    (8192, 8192, 2048): ("128x192x64", "128x128x64"),
}
TUNED = ((512, 14336, 4096), (4096, 28672, 8192), (2048, 8192, 2048))  # also next to max-autotune
ERROR_LIMIT = 4e-3  # norm of the difference over norm of the f32 reference; bf16 rounding gives 1.7e-3
COLD_BYTES = 192 << 20  # of weights in a sample's rotation: well over the 50 MiB of L2
SAMPLE_MS = 3.0


def build(folder: Path, only: str) -> None:
    """Link the family."""
    import pipelink
    from pipelink.components import gemm

    folder.mkdir(parents=True, exist_ok=True)
    objects = gemm.Objects(folder)
    for tile in TILES:
        for epilogue in ("store", "swiglu", "store_tma", "swiglu_tma"):
            name = f"{tile}.{epilogue}"
            if only not in name:
                continue
            kernel = pipelink.Kernel("gemm", target="sm_90a")
            gemm.add_gemm(gemm.Composer(kernel, objects), gemm.MAINLOOPS[f"wgmma_{tile}"], epilogue, "grouped_tiles")
            linked = kernel.link()
            linked.save(folder / f"{name}.plk")
            print(name, linked.targets[0].audit.instructions, "instructions", flush=True)


class Case:
    """One shape: operands, kernels as graphs of launches, and what each is compared with."""

    def __init__(self, torch, packages: dict, m: int, n: int, k: int, activation, tuned=None) -> None:
        self.torch = torch
        self.graphs: dict[str, tuple] = {}
        self.errors: dict[str, float] = {}
        self.launches: dict[str, int] = {}
        copies = max(1, math.ceil(COLD_BYTES / (2 * 2 * n * k)))
        x = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        weights = [torch.randn(2 * n, k, device="cuda", dtype=torch.bfloat16) / k**0.5 for _ in range(copies)]
        out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        both = torch.empty(m, 2 * n, device="cuda", dtype=torch.bfloat16)
        product = x.float() @ weights[0].float().T
        expected = {
            "store": product[:, :n],
            "swiglu": torch.nn.functional.silu(product[:, :n]) * product[:, n:],
        }
        for name, package in packages.items():
            epilogue = name.split(".")[1].removesuffix("_tma")
            rows = n if epilogue == "store" else 2 * n
            out.fill_(float("nan"))
            package(a=x, b=weights[0][:rows], out=out)
            torch.cuda.synchronize()
            reference = expected[epilogue]
            self.errors[name] = ((out.float() - reference).norm() / reference.norm()).item()
            if not self.errors[name] < ERROR_LIMIT:
                print(f"{name} is WRONG at {m}x{n}x{k}: relative error {self.errors[name]}", flush=True)
            self.capture(name, lambda w, p=package, r=rows: p(a=x, b=w[:r], out=out), weights)
        del expected, product
        self.capture("cublas.store", lambda w: torch.matmul(x, w[:n].T, out=out), weights)
        self.capture("cublas.product", lambda w: torch.matmul(x, w.T, out=both), weights)

        def compiled(w) -> None:
            torch.matmul(x, w.T, out=both)
            activation(both, out)

        if activation:
            self.capture("cublas.compiled", compiled, weights)
        if tuned:
            self.capture("torch.tuned", lambda w: tuned(x, w), weights)

    def capture(self, name: str, launch: Callable, weights: list) -> None:
        torch = self.torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for weight in weights:
                launch(weight)
            stream.synchronize()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for weight in weights:
                launch(weight)
            end.record()
            stream.synchronize()
            repeats = max(1, math.ceil(SAMPLE_MS / begin.elapsed_time(end)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(repeats):
                for weight in weights:
                    launch(weight)
        self.graphs[name] = graph
        self.launches[name] = repeats * len(weights)

    def measure(self, rounds: int) -> dict[str, list[float]]:
        """Microseconds of a launch, one for each round."""
        torch, order = self.torch, random.Random(0)
        times: dict[str, list[float]] = {name: [] for name in self.graphs}
        for index in range(rounds + 1):
            names = list(self.graphs)
            order.shuffle(names)
            events = {}
            for name in names:
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                self.graphs[name].replay()
                end.record()
                events[name] = begin, end
            torch.cuda.synchronize()
            for name, (begin, end) in events.items():
                if index:  # the first round warms up
                    times[name].append(begin.elapsed_time(end) / self.launches[name] * 1e3)
        return times


def cublas_kernels(torch, case_shapes: list) -> dict[str, list[str]]:
    """The names of the kernels that cuBLAS picks for the plain and the double product."""
    found: dict[str, list[str]] = {}
    for m, n, k in case_shapes:
        x = torch.zeros(m, k, device="cuda", dtype=torch.bfloat16)
        w = torch.zeros(2 * n, k, device="cuda", dtype=torch.bfloat16)
        for rows in (n, 2 * n):
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
                torch.matmul(x, w[:rows].T)
                torch.cuda.synchronize()
            found[f"{m}x{rows}x{k}"] = [event.key for event in profile.key_averages()][:3]
    return found


def time(arguments: argparse.Namespace, shapes: Sequence[tuple[int, int, int]]) -> None:
    """Check and time the packages of the folder; print a table and write the JSON."""
    sys.path[:0] = [str(ROOT)]
    import torch

    from benchmarks import store, timing
    from benchmarks.machine_code import digest_of_package, manifest
    from pipelink import runtime

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.zeros(1, device="cuda")
    packages = {path.stem: runtime.load(path) for path in sorted(arguments.folder.glob("*.plk"))}
    packages = {name: package for name, package in packages.items() if arguments.only in name}

    def activation(both, out) -> None:
        gate, up = both.chunk(2, dim=-1)
        out.copy_(torch.nn.functional.silu(gate) * up)

    def product_and_activation(x, w):
        gate, up = (x @ w.T).chunk(2, dim=-1)
        return torch.nn.functional.silu(gate) * up

    whole = torch.compile(product_and_activation, dynamic=False, mode="max-autotune-no-cudagraphs")
    compiled = torch.compile(activation, dynamic=False) if not arguments.product_only else None
    torch._dynamo.config.cache_size_limit = 64
    facts = {**timing.machine(), "rounds": arguments.rounds, "date": store.now()}
    own: dict[str, dict] = {}  # what is a kernel's own: the digest of its machine code, and its toolkit
    for name in packages:
        path = arguments.folder / f"{name}.plk"
        toolkit = manifest(path)["targets"][0]["toolkit"]
        own[name] = {"linked": digest_of_package(path), "with": {**facts, "toolkit": toolkit}}
    found: dict[str, dict[str, dict]] = {}  # by shape and kernel
    for m, n, k in shapes:
        plain, gated = CHOICE[m, n, k]
        wanted = {f"{plain}.store", f"{gated}.swiglu"}
        chosen = {name: p for name, p in packages.items() if arguments.all or name.removesuffix("_tma") in wanted}
        case = Case(torch, chosen, m, n, k, compiled, whole if arguments.tuned and (m, n, k) in TUNED else None)
        times = case.measure(arguments.rounds)
        entry: dict = {name: {"us": round(statistics.median(values), 2)} for name, values in times.items()}
        for name, values in times.items():
            kind = name.split(".")[1].removesuffix("_tma")
            for reference in {"store": ("store",), "swiglu": ("product", "compiled", "tuned")}.get(kind, ()):
                base = "torch.tuned" if reference == "tuned" else f"cublas.{reference}"
                if name.startswith("cublas") or base not in times:
                    continue
                pairs = zip(times[base], values, strict=True)
                median, low, high = timing.interval([a / b for a, b in pairs], resamples=300)
                entry[name][reference] = [round(median, 4), round(low, 4), round(high, 4)]
            if name in case.errors:
                entry[name]["error"] = case.errors[name]
        found[f"{m}x{n}x{k}"] = entry
        timed = {f"{m}x{n}x{k}/{name}": {**values, **own.get(name, {"with": facts})} for name, values in entry.items()}
        store.add(arguments.out, "family_tuned" if arguments.tuned else "family", timed)
        print(f"{m}x{n}x{k}", {name.split(".", 1)[1]: entry[name]["us"] for name in entry if "cublas" in name})
        for kind, reference in (("store", "store"), ("swiglu", "product")):
            kernels = [name for name in times if reference in entry[name]]
            kernels = [name for name in kernels if name.split(".")[1].removesuffix("_tma") == kind]
            kernels.sort(key=lambda name: -entry[name][reference][0])
            for name in kernels:
                print(
                    "  ", name, *(f"{r} {entry[name][r]}" for r in (reference, "compiled", "tuned") if r in entry[name])
                )
        sys.stdout.flush()
        del case
        torch.cuda.empty_cache()
    if arguments.profile:
        for shape, names in cublas_kernels(torch, shapes).items():
            print(shape, names)
    for kind, reference in (("store", "store"), ("swiglu", "product"), ("swiglu", "compiled")):
        ratios = [
            [e[reference][0] for name, e in entry.items() if name.split(".")[1] == kind and reference in e]
            for entry in found.values()
        ]
        if best := [max(listed) for listed in ratios if listed]:
            mean = math.exp(statistics.mean(map(math.log, best)))
            print(f"{kind} / {reference}: geometric mean {mean:.4f}, least {min(best):.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "time"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path, nargs="?", help="[family.json, or family_tuned.json, in benchmarks/results]")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="packages whose name holds this")
    parser.add_argument("--shapes", default="", help="comma-separated MxNxK [all]")
    parser.add_argument("--all", action="store_true", help="every package, not the chosen tiles alone")
    parser.add_argument("--tuned", action="store_true", help="max-autotune, too, for three of the shapes")
    parser.add_argument("--product-only", action="store_true", help="leave out the compiled activation")
    parser.add_argument("--profile", action="store_true", help="print the kernels that cuBLAS picks")
    arguments = parser.parse_args()
    if arguments.what == "build":
        build(arguments.folder, arguments.only)
    else:
        name = "family_tuned" if arguments.tuned else "family"
        arguments.out = arguments.out or HERE.parent / "results" / f"{name}.json"
        shapes = [tuple(map(int, s.split("x"))) for s in arguments.shapes.split(",")] if arguments.shapes else SHAPES
        time(arguments, shapes)


if __name__ == "__main__":
    main()
