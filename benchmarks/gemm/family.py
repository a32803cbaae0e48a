"""The sm_90a GEMMs of language models, plain and with SwiGLU, next to cuBLAS: every tile shape, in CUDA graphs.

``family.py build FOLDER``          links TILE.EPILOGUE.plk of every tile shape (no GPU)
``family.py time FOLDER OUT.json``  checks and times every package of the folder (GPU, torch, cuda-bindings)

Plain kernels stand next to cuBLAS's product with N columns.  Gated ones stand next to cuBLAS's product with 2N columns
alone (``product``), and followed by the activation compiled with torch.compile (``compiled``).  A round samples every
kernel of a shape once, in random order; a ratio is the reference's time / the kernel's in one round, so that above 1 is
faster, and the median over the rounds is given with its bootstrapped 95% interval.  A sample replays a graph of
launches over several weights, which together are larger than the L2 cache.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHAPES = tuple((m, n, k) for k, n in ((4096, 14336), (8192, 28672), (2048, 8192)) for m in (128, 512, 2048, 4096, 8192))
TILES = ("128x256x64", "256x128x64", "128x192x64", "128x128x64", "128x64x64", "64x256x64")
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
        for epilogue in ("store", "swiglu"):
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

    def __init__(self, torch, packages: dict, m: int, n: int, k: int, activation) -> None:
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
            epilogue = name.split(".")[1]
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


def time(folder: Path, out: Path, rounds: int, only: str, shapes: list, profile: bool, activate: bool) -> None:
    """Check and time the packages of the folder; print a table and write the JSON."""
    sys.path[:0] = [str(ROOT)]
    import torch

    from benchmarks import timing
    from pipelink import runtime

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.zeros(1, device="cuda")
    packages = {path.stem: runtime.load(path) for path in sorted(folder.glob("*.plk")) if only in path.stem}

    def activation(both, out) -> None:
        gate, up = both.chunk(2, dim=-1)
        out.copy_(torch.nn.functional.silu(gate) * up)

    compiled = torch.compile(activation, dynamic=False) if activate else None
    torch._dynamo.config.cache_size_limit = 64
    result: dict = {"gpu": torch.cuda.get_device_name(0), "driver": timing.driver_version(), "torch": torch.__version__}
    result |= {"rounds": rounds, "shapes": {}}
    for m, n, k in shapes:
        case = Case(torch, packages, m, n, k, compiled)
        times = case.measure(rounds)
        entry: dict = {name: {"us": round(statistics.median(values), 2)} for name, values in times.items()}
        for name, values in times.items():
            kind = name.split(".")[1]
            for reference in {"store": ("store",), "swiglu": ("product", "compiled")}.get(kind, ()):
                if name.startswith("cublas") or f"cublas.{reference}" not in times:
                    continue
                pairs = zip(times[f"cublas.{reference}"], values, strict=True)
                median, low, high = timing.interval([a / b for a, b in pairs], resamples=300)
                entry[name][reference] = [round(median, 4), round(low, 4), round(high, 4)]
            if name in case.errors:
                entry[name]["error"] = case.errors[name]
        result["shapes"][f"{m}x{n}x{k}"] = entry
        print(f"{m}x{n}x{k}", {name.split(".", 1)[1]: entry[name]["us"] for name in entry if "cublas" in name})
        for kind, reference in (("store", "store"), ("swiglu", "product")):
            kernels = [name for name in times if name.split(".")[1] == kind and not name.startswith("cublas")]
            kernels.sort(key=lambda name: -entry[name][reference][0])
            print(
                "  ",
                kind,
                ", ".join(f"{name.replace('.' + kind, '')} {entry[name][reference][0]:.3f}" for name in kernels),
            )
        sys.stdout.flush()
        out.write_text(json.dumps(result, indent=1) + "\n")
        del case
        torch.cuda.empty_cache()
    if profile:
        for shape, names in cublas_kernels(torch, shapes).items():
            print(shape, names)
    for kind, reference in (("store", "store"), ("swiglu", "product"), ("swiglu", "compiled")):
        ratios = [
            [e[reference][0] for name, e in entry.items() if name.split(".")[1] == kind and reference in e]
            for entry in result["shapes"].values()
        ]
        if best := [max(found) for found in ratios if found]:
            mean = math.exp(statistics.mean(map(math.log, best)))
            result[f"best {kind}/{reference}"] = mean
            print(f"{kind} / {reference}: geometric mean {mean:.4f}, least {min(best):.4f}")
    out.write_text(json.dumps(result, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "time"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path, nargs="?", default=HERE.parent / "results" / "family.json")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="packages whose name holds this")
    parser.add_argument("--shapes", default="", help="comma-separated MxNxK [all]")
    parser.add_argument("--product-only", action="store_true", help="leave out the compiled activation")
    parser.add_argument("--profile", action="store_true", help="print the kernels that cuBLAS picks")
    arguments = parser.parse_args()
    if arguments.what == "build":
        build(arguments.folder, arguments.only)
    else:
        shapes = [tuple(map(int, s.split("x"))) for s in arguments.shapes.split(",")] if arguments.shapes else SHAPES
        time(
            arguments.folder,
            arguments.out,
            arguments.rounds,
            arguments.only,
            list(shapes),
            arguments.profile,
            not arguments.product_only,
        )


if __name__ == "__main__":
    main()
