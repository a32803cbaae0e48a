"""Compare variants of hand.cu: `tune.py build DIR` compiles them with nvcc, `tune.py time DIR OUT.json [NAME...]` runs
them on the GPU next to cuBLAS (correctness first) and prints cuBLAS time / kernel time for every shape.
"""

from __future__ import annotations

import ctypes
import json
import math
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# name -> macros of hand.cu (capitals) and launch choices (lower case: promotion in bytes, grid "tiles")
VARIANTS: dict[str, dict] = {
    "base": {},
    "late": {"NEXT_EARLY": 0},
    "prototype": {"EPILOGUE": 0, "GROUP": 8, "NEXT_EARLY": 0},
    "e0": {"EPILOGUE": 0},
    "e0.lead2": {"EPILOGUE": 0, "LEAD": 2},
    "lead1": {"LEAD": 1},
    "lead2": {"LEAD": 2},
    "lead3": {"LEAD": 3},
    "lead2.first": {"LEAD": 2, "LEAD_EACH": 0},
    "lead1.first": {"LEAD": 1, "LEAD_EACH": 0},
    "e2": {"EPILOGUE": 2},
    "e2.lead1": {"EPILOGUE": 2, "LEAD": 1},
    "e2.lead2": {"EPILOGUE": 2, "LEAD": 2},
    "gelu": {"GELU": 1},
    "gelu.lead1": {"GELU": 1, "LEAD": 1},
    "gelu.lead2": {"GELU": 1, "LEAD": 2},
    "gelu.lead1.first": {"GELU": 1, "LEAD": 1, "LEAD_EACH": 0},
    "gelu.lead2.first": {"GELU": 1, "LEAD": 2, "LEAD_EACH": 0},
    "group4": {"GROUP": 4},
    "group8": {"GROUP": 8},
    "group12": {"GROUP": 12},
    "group24": {"GROUP": 24},
    "group32": {"GROUP": 32},
    "promote128": {"promotion": 128},
    "promote0": {"promotion": 0},
    "store.cs": {"STORE_HINT": '".cs"'},
    "store.na": {"STORE_HINT": '".L1::no_allocate"'},
    "load.last": {"LOAD_HINT": "0x14F0000000000000ull"},
    "load.first": {"LOAD_HINT": "0x12F0000000000000ull"},
    "stages3": {"STAGES": 3},
    "onewave": {"grid": "tiles"},
    "256x128": {"TILE_M": 256, "TILE_N": 128, "GROUP": 8},
    "256x128.lead2": {"TILE_M": 256, "TILE_N": 128, "GROUP": 8, "LEAD": 2},
    "128x128": {"TILE_N": 128, "STAGES": 6},
    "128x128.lead2": {"TILE_N": 128, "STAGES": 6, "LEAD": 2},
}


def build(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).with_name("hand.cu")

    def compile_one(name: str) -> None:
        macros = [f"-D{key}={value}" for key, value in VARIANTS[name].items() if key.isupper()]
        command = [
            "nvcc",
            "-std=c++17",
            "-O3",
            "-gencode=arch=compute_90a,code=sm_90a",
            "-cubin",
            "-Xptxas=-v",
            *macros,
        ]
        result = subprocess.run(
            [*command, str(source), "-o", str(folder / f"{name}.cubin")], capture_output=True, text=True
        )
        log = result.stderr
        if result.returncode or "C75" in log or " 0 bytes spill stores" not in log:
            print(name, log)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(compile_one, VARIANTS))


def time(folder: Path, out: Path, chosen: list[str], rounds: int = 12) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import torch

    from benchmarks import timing

    torch.backends.cuda.matmul.allow_tf32 = False
    sms = torch.cuda.get_device_properties(0).multi_processor_count

    def launch_of(name: str, a, b, c):
        v = VARIANTS[name]
        tile_m, tile_n, stages = v.get("TILE_M", 128), v.get("TILE_N", 256), v.get("STAGES", 4)
        smem = stages * (tile_m + tile_n) * 128 + (32768 if v.get("EPILOGUE") == 2 else 0) + 16 * stages
        (m, k), n = a.shape, b.shape[0]
        maps = [
            timing.tensor_map(a, tile_m, 64, v.get("promotion", 256)),
            timing.tensor_map(b, tile_n, 64, v.get("promotion", 256)),
            timing.tensor_map(c, 16, 64),
        ]
        arguments = timing.Arguments(
            [*maps, ctypes.c_uint64(c.data_ptr()), ctypes.c_int(m), ctypes.c_int(n), ctypes.c_int(k)]
        )
        tiles = math.ceil(m / tile_m) * math.ceil(n / tile_n)
        grid = tiles if v.get("grid") == "tiles" else min(tiles, sms)
        return timing.launcher(timing.load_function(folder / f"{name}.cubin", "gemm", smem), grid, 384, smem, arguments)

    results: dict = {"gpu": torch.cuda.get_device_name(0), "rounds": rounds, "shapes": {}}
    for shape in [(1000, 712, 328), *timing.SHAPES]:
        m, n, k = shape
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
        c, d = (torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        reference = a.float() @ b.float().T
        kernels = {}
        for name in chosen:
            launch = launch_of(name, a, b, c)
            c.fill_(float("nan"))
            launch()
            torch.cuda.synchronize()
            expected = (
                torch.nn.functional.gelu(reference, approximate="tanh") if "GELU" in VARIANTS[name] else reference
            )
            error = ((c.float() - expected).norm() / expected.norm()).item()
            if not error < 3e-3:
                print("WRONG", shape, name, error, flush=True)
            kernels[name] = launch
        if shape not in timing.SHAPES:
            continue
        del reference
        torch.matmul(a, b.T, out=d)
        launches = max(3, round(8e-3 / (2 * m * n * k / 700e12)))
        cublas = lambda: torch.matmul(a, b.T, out=d)  # noqa: E731, B023
        times = timing.paired({name: (cublas, kernel) for name, kernel in kernels.items()}, rounds, launches)
        work = 2 * m * n * k / 1e9
        everything = statistics.median(t for pair in times.values() for t in pair[0])
        print(f"{shape}: cuBLAS {work / everything:.0f} TFLOP/s", flush=True)
        results["shapes"]["x".join(map(str, shape))] = {
            name: {
                "ratio": timing.interval([x / y for x, y in zip(*pair, strict=True)]),
                "tflops": work / statistics.median(pair[1]),
                "cublas_tflops": work / statistics.median(pair[0]),
            }
            for name, pair in times.items()
        }
    table = results["shapes"].values()
    score = {name: math.exp(statistics.mean(math.log(s[name]["ratio"][0]) for s in table)) for name in chosen}
    results["geomean"] = score
    out.write_text(json.dumps(results, indent=1) + "\n")
    for name in sorted(score, key=score.__getitem__, reverse=True):
        cells = " ".join(f"{s[name]['ratio'][0]:.4f} ({s[name]['tflops']:.0f})" for s in table)
        print(f"{name:18} {score[name]:.4f}   {cells}")


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(Path(sys.argv[2]))
    else:
        time(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:] or list(VARIANTS))
