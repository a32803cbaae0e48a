"""GEMMs on e4m3, alone and with SwiGLU, beside torch's: paired, interleaved timing of CUDA graphs on one GPU.

``fp8.py build FOLDER``          links the kernels (no GPU)
``fp8.py time FOLDER OUT.json``  checks and times them (GPU, torch, cuda-bindings; no compiler), and merges a result for
                                 each shape and kernel into the file

A ratio is time of torch / time of the kernel: above 1 means that the kernel is faster.  Torch multiplies with
``torch._scaled_mm`` (fast accumulation, which is the faster of its two), bf16 out; its SwiGLU is the product, then a
compiled ``silu(gate) * up``.  Scales are for whole tensors, or for 1 x 128 of A and 128 x 128 of B.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).parent
MAINLOOPS = ("fp8_128x256x128", "fp8_128x128x128", "fp8_block_128x128x128")
EPILOGUES = ("store", "swiglu")
SHAPES = tuple((m, 14336, 4096) for m in (512, 4096, 8192))  # M, N, K; the weight has 2 N rows
MOST = 448.0  # the largest e4m3
ERROR_LIMIT = {"tensor": 1e-2, "block": 4e-3}  # of the norm; bf16 rounding gives 1.7e-3, short sums the rest
LAUNCHES = 4  # in a graph


def build(folder: Path) -> None:
    """Link every mainloop with every epilogue."""
    import tempfile

    import pipelink
    from pipelink.components import gemm

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as objects:
        made = gemm.Objects(Path(objects))
        for mainloop in MAINLOOPS:
            for epilogue in EPILOGUES:
                kernel = pipelink.Kernel("gemm", target="sm_90a")
                gemm.add_gemm(gemm.Composer(kernel, made), gemm.MAINLOOPS[mainloop], epilogue, "grouped_tiles")
                kernel.link().save(folder / f"{mainloop}-{epilogue}.plk")


def time(folder: Path, out: Path, rounds: int) -> None:
    """Check and time the kernels of the folder; print a table and write the JSON."""
    sys.path.insert(0, str(HERE.parents[1]))
    import torch

    from benchmarks import store, timing
    from benchmarks.machine_code import digest_of_package, manifest
    from pipelink import runtime

    torch.backends.cuda.matmul.allow_tf32 = False
    kernels = {path.stem: runtime.load(path) for path in sorted(folder.glob("fp8*.plk"))}

    @torch.compile(dynamic=False)
    def activate(x):
        gate, up = x.chunk(2, dim=-1)
        return torch.nn.functional.silu(gate) * up

    def graph(launch):
        for _ in range(2):
            launch()
        torch.cuda.synchronize()
        made = torch.cuda.CUDAGraph()
        with torch.cuda.graph(made):
            for _ in range(LAUNCHES):
                launch()
        return made

    toolkits = {name: manifest(folder / f"{name}.plk")["targets"][0]["toolkit"] for name in kernels}
    facts = {
        **timing.machine(),
        "toolkit": ", ".join(sorted(set(toolkits.values()))),
        "pairs": rounds,
        "date": store.now(),
    }
    ratios: dict[tuple[str, str], dict[str, float]] = {}  # of each shape and epilogue, by kernel
    for m, n, k in SHAPES:
        shape, errors = f"{m}x{n}x{k}", {}
        graphs, pairs, problems, alive = {}, {}, {}, []  # a graph does not keep what it uses
        x, w = torch.randn(m, k, device="cuda"), torch.randn(2 * n, k, device="cuda") / k**0.5
        product = torch.empty(m, 2 * n, device="cuda", dtype=torch.bfloat16)
        half = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        for scales in ("tensor", "block"):
            if scales == "tensor":
                a_scale, b_scale = (v.abs().amax().view(1) / MOST for v in (x, w))
                a_full, b_full = a_scale, b_scale
                mm_scales = (a_scale.view(1, 1), b_scale.view(1, 1))
            else:
                blocks = x.view(m, k // 128, 128).abs().amax(2) / MOST
                a_full, a_scale = blocks.repeat_interleave(128, 1), blocks.T.contiguous()
                b_scale = w.view(2 * n // 128, 128, k // 128, 128).abs().amax((1, 3)) / MOST
                b_full = b_scale.repeat_interleave(128, 0).repeat_interleave(128, 1)
                mm_scales = (a_scale.T, b_scale.T)
            a, b = (x / a_full).to(torch.float8_e4m3fn), (w / b_full).to(torch.float8_e4m3fn)
            expected = (a.float() * a_full) @ (b.float() * b_full).T
            gate, up = expected.chunk(2, 1)
            wanted = {"store": expected, "swiglu": torch.nn.functional.silu(gate) * up}

            def multiply(a=a, b=b, given=mm_scales, fast=scales == "tensor"):
                return torch._scaled_mm(a, b.T, *given, out_dtype=torch.bfloat16, use_fast_accum=fast)

            peers = {"store": multiply, "swiglu": lambda multiply=multiply: activate(multiply())}
            arguments = {"a": a, "b": b, "a_scale": a_scale, "b_scale": b_scale}
            alive += [arguments, mm_scales]
            for epilogue in EPILOGUES:
                reference = f"torch-{scales}-{epilogue}"
                try:
                    error = _error(peers[epilogue](), wanted[epilogue])
                    graphs[reference] = graph(peers[epilogue])
                    errors[reference] = error
                except RuntimeError as problem:
                    problems[reference] = str(problem).splitlines()[0]
                for name, kernel in kernels.items():
                    if not name.endswith(epilogue) or ("block" in name) != (scales == "block"):
                        continue
                    target = product if epilogue == "store" else half
                    target.fill_(float("nan"))
                    launch = lambda kernel=kernel, arguments=arguments, out=target: kernel(**arguments, out=out)  # noqa: E731
                    launch()
                    torch.cuda.synchronize()
                    error = errors[name] = _error(target, wanted[epilogue])
                    if not error < ERROR_LIMIT[scales]:
                        sys.exit(f"{name} is wrong at {shape}: relative error {error}")
                    graphs[name] = graph(launch)
                    pairs[name] = (reference if reference in graphs else f"torch-tensor-{epilogue}", name)
            del expected, gate, up, wanted
        work = 2 * m * 2 * n * k / 1e9  # TFLOP per second = work / milliseconds
        replays = max(1, round(5 / (work / 1000) / LAUNCHES))  # samples of about 5 ms
        times = timing.paired({p: (graphs[r].replay, graphs[s].replay) for p, (r, s) in pairs.items()}, rounds, replays)
        for name, (reference, _) in pairs.items():
            median, low, high = timing.interval([r / s for r, s in zip(*times[name], strict=True)])
            rates = [round(work * LAUNCHES / statistics.median(taken), 1) for taken in times[name]]
            entry = {
                "linked": digest_of_package(folder / f"{name}.plk"),
                "relative_error": errors[name],
                "of": reference,
                "ratio": {"median": median, "low": low, "high": high},
                "tflops": {"linked": rates[1], "of": rates[0]},
                "with": facts,
            }
            store.add(out, "fp8", {f"{shape}/{name}": entry})
            ratios.setdefault((shape, name.rpartition("-")[2]), {})[name] = median
            print(
                f"{shape} {name:32} / {reference:20} {median:.4f} [{low:.4f}, {high:.4f}] {rates[1]:7} {rates[0]:7} "
                f"error {errors[name]:.2e}",
                flush=True,
            )
        if problems:
            print(problems)
    for epilogue in EPILOGUES:
        tensor = [
            {n: r for n, r in found.items() if "block" not in n} for (_, e), found in ratios.items() if e == epilogue
        ]
        if best := [max(found.values()) for found in tensor if found]:
            print(f"geometric mean of {epilogue}, best tile: {math.exp(statistics.mean(map(math.log, best))):.4f}")


def _error(found, expected) -> float:
    """Norm of the difference over norm of the reference."""
    return ((found.float() - expected).norm() / expected.norm()).item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "time"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path, nargs="?", default=HERE.parent / "results" / "fp8.json")
    parser.add_argument("--rounds", type=int, default=24)
    arguments = parser.parse_args()
    if arguments.what == "build":
        build(arguments.folder)
    else:
        time(arguments.folder, arguments.out, arguments.rounds)


if __name__ == "__main__":
    main()
