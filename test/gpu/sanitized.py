"""Launches every package once on small tensors; test_sanitizer.py runs it under compute-sanitizer."""

import os
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from pipelink import runtime  # noqa: E402
from pipelink.support import expr  # noqa: E402

PACKAGES = Path(os.environ.get("PIPELINK_GPU_PACKAGES", ROOT / "carry"))
SIZES = {
    "M": 200,
    "N": 264,
    "K": 144,
    "S": 4,
    "L": 64,
    "R": 50,
    "pages": 6,
    "ctas": 3,
    "count": 5,
    "B": 2,
    "T": 2,
    "CTAS": 132,
    "G": 4,
    "SQ": 130,
    "SK": 200,
    "H": 4,
    "HK": 2,
    # attention: lists of blocks, sequences one behind another, and pages
    **dict.fromkeys(("LB", "LH", "NB", "NF", "NS"), 1),
    "TURNS": 2,
    "VISITS": 4,
    "MASKS": 1,
    "N1": 3,
    "P": 6,
    "MP": 13,
}
#: Of kernels whose dimensions mean something else.
OTHERS = {
    "matvec": {"N": 64, "K": 2048},
    "own_mbarriers": {"R": 3, "C": 4096},
    "round_trip": {"ctas": 132, "rounds": 1000},
    "handed_pages": {"ctas": 132, "rounds": 1000},
}
TYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "i32": torch.int32,
    "i64": torch.int64,
    "u32": torch.uint32,
    "e4m3": torch.float8_e4m3fn,
}

for path in sorted(PACKAGES.glob("*.plk")):
    kernel = runtime.load(path)
    if kernel.contract.peers:
        print(f"{path.name}: left out, since the tool runs one kernel at a time, and this one waits for another")
        continue
    sizes = SIZES if path.name.startswith("gemm") else {**SIZES, **OTHERS.get(path.stem, {"N": 64})}
    arguments = {
        name: torch.zeros(
            [expr.evaluate(extent, sizes) for extent in argument.shape], dtype=TYPES[argument.element], device="cuda"
        )
        for name, argument in kernel.contract.tensors.items()
    }
    scalars = {name: OTHERS.get(path.stem, {}).get(name, 1) for name in kernel.contract.scalars}
    kernel(**arguments, **scalars)
    torch.cuda.synchronize()
    print(path.name, flush=True)
