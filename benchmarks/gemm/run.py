"""Linked GEMM, its monolith, a GEMM written by hand, and cuBLAS: paired, interleaved timing on one GPU.

``run.py build FOLDER``          compiles and links (no GPU): linked.plk, monolith.plk, hand.cubin
``run.py time FOLDER OUT.json``  checks and times them (GPU, torch, cuda-bindings; no compiler) and merges into the
                                 file: of each shape ratios with bootstrapped 95% intervals, GPU, driver, toolkit and
                                 the digest of the linked machine code

A ratio is time of the reference / time of the kernel: above 1 means that the kernel is faster.  The composition is
tma_loader and wgmma_mainloop (128 x 256 x 64), store, grouped_tiles; the monolith is the same as one unit.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
OBJECTS = ("tma_loader", "wgmma_mainloop", "store", "grouped_tiles")
HAND_SMEM = 4 * (128 + 256) * 64 * 2 + 4 * 16  # bytes: four stages of A and B in bf16, and their mbarriers
ERROR_LIMIT = 3e-3  # norm of the difference over norm of the f32 reference; bf16 rounding gives 1.7e-3


def build(folder: Path) -> None:
    """Compile the components, link them, and build both references."""
    import pipelink
    from pipelink import components as library
    from pipelink.backend import toolchain
    from pipelink.package import PackageImage, package_bytes
    from pipelink.tools import pl_cc

    folder.mkdir(parents=True, exist_ok=True)
    sources = library.FOLDER
    files = {name: folder / f"{name}.o" for name in OBJECTS}
    for name in OBJECTS:
        arch = library.SOURCES[name]
        if pl_cc.main([str(sources / f"{name}.cu"), "--arch", arch, "-o", str(files[name])]):
            sys.exit(1)
    kernel = pipelink.Kernel("gemm", target="sm_90a")
    load = kernel.add(files["tma_loader"], "tma_loader_128x256x64", name="load")
    mma = kernel.add(files["wgmma_mainloop"], "wgmma_mainloop_128x256x64", name="mma")
    epilogue = kernel.add(files["store"], name="epilogue")
    schedule = kernel.add(files["grouped_tiles"], name="schedule")
    kernel.connect(load.ab, mma.ab)
    kernel.connect(load.work, schedule.next)
    kernel.connect(mma.work, schedule.next)
    kernel.connect(mma.store, epilogue.store)
    linked = kernel.link()
    linked.save(folder / "linked.plk")

    cubin = toolchain.compile_cubin(
        kernel.monolith([sources]), "monolith.cu", "sm_90a", include_dirs=[sources, toolchain.transfer_dir()]
    )
    target = linked["sm_90a"]
    image = PackageImage("sm_90a", cubin, target.launch, target.registers, toolchain.toolkit_version())
    (folder / "monolith.plk").write_bytes(package_bytes("gemm", [image]))
    hand = HERE / "hand.cu"
    (folder / "hand.cubin").write_bytes(toolchain.compile_cubin(hand.read_text(), str(hand), "sm_90a"))


def time(folder: Path, out: Path, rounds: int) -> None:
    """Check and time the kernels of the folder; print a table and write the JSON."""
    sys.path.insert(0, str(HERE.parents[1]))
    import torch

    from benchmarks import store, timing
    from benchmarks.machine_code import digest_of_package, manifest
    from pipelink import runtime

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.zeros(1, device="cuda")  # makes the context that the driver calls below use
    device = torch.cuda.get_device_properties(0)
    packages = {name: runtime.load(folder / f"{name}.plk") for name in ("linked", "monolith")}
    hand = timing.load_function(folder / "hand.cubin", "gemm", HAND_SMEM)
    linked = {"linked": digest_of_package(folder / "linked.plk")}
    facts = {
        **timing.machine(),
        "toolkit": manifest(folder / "linked.plk")["targets"][0]["toolkit"],
        "pairs": rounds,
        "date": store.now(),
    }
    shapes: dict[str, dict] = {}
    for m, n, k in timing.SHAPES:
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
        c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        maps = [timing.tensor_map(a, 128, 64), timing.tensor_map(b, 256, 64), timing.tensor_map(c, 16, 64)]
        sizes = [ctypes.c_int(m), ctypes.c_int(n), ctypes.c_int(k)]
        arguments = timing.Arguments([*maps, ctypes.c_uint64(c.data_ptr()), *sizes])
        grid = min(math.ceil(m / 128) * math.ceil(n / 256), device.multi_processor_count)
        kernels: dict[str, Callable[[], object]] = {
            "hand": timing.launcher(hand, grid, 384, HAND_SMEM, arguments),
            **{name: lambda p=p, a=a, b=b, c=c: p(a=a, b=b, out=c) for name, p in packages.items()},
            "cublas": lambda a=a, b=b, c=c: torch.matmul(a, b.T, out=c),
        }
        expected = a.float() @ b.float().T
        errors: dict[str, float] = {}
        for name, kernel in kernels.items():
            c.fill_(float("nan"))
            kernel()
            torch.cuda.synchronize()
            errors[name] = ((c.float() - expected).norm() / expected.norm()).item()
            if not errors[name] < ERROR_LIMIT:
                sys.exit(f"{name} is wrong at {m}x{n}x{k}: relative error {errors[name]}")
        del expected
        pairs = {
            "linked/cublas": ("cublas", "linked"),
            "hand/cublas": ("cublas", "hand"),
            "linked/hand": ("hand", "linked"),
            "linked/monolith": ("monolith", "linked"),
        }
        work = 2 * m * n * k / 1e9  # TFLOP per second = work / milliseconds
        launches = max(3, round(8 / (work / 700)))  # samples of about 8 ms
        times = timing.paired({p: (kernels[r], kernels[s]) for p, (r, s) in pairs.items()}, rounds, launches)
        entry: dict = {**linked, "relative_error": errors, "tflops": {}, "ratio": {}, "with": facts}
        for name, (reference, kernel) in pairs.items():
            median, low, high = timing.interval([x / y for x, y in zip(*times[name], strict=True)])
            entry["ratio"][name] = {"median": median, "low": low, "high": high}
            entry["tflops"].setdefault(reference, round(work / statistics.median(times[name][0]), 1))
            entry["tflops"].setdefault(kernel, round(work / statistics.median(times[name][1]), 1))
            print(f"{m}x{n}x{k} {name:16} {median:.4f} [{low:.4f}, {high:.4f}]", flush=True)
        shapes[f"{m}x{n}x{k}"] = entry
        store.add(out, "gemm", {f"{m}x{n}x{k}": entry})
    means = {
        name: math.exp(statistics.mean(math.log(s["ratio"][name]["median"]) for s in shapes.values()))
        for name in ("linked/cublas", "hand/cublas", "linked/hand", "linked/monolith")
    }
    print("geometric means:", ", ".join(f"{name} {value:.4f}" for name, value in means.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "time"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path, nargs="?", default=HERE.parent / "results" / "gemm.json")
    parser.add_argument("--rounds", type=int, default=40)
    arguments = parser.parse_args()
    if arguments.what == "build":
        build(arguments.folder)
    else:
        time(arguments.folder, arguments.out, arguments.rounds)


if __name__ == "__main__":
    main()
