"""The documentation's tables of numbers, made of ``benchmarks/results/*.json`` and of nothing else.

``tables()`` gives each table by the name of its markers; ``docs/generate.py`` puts them between
``<!-- begin NAME -->`` and ``<!-- end NAME -->``.  A result that is not there gives no table.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

Result = dict[str, Any]


def _gemm(result: Result) -> str:
    """Throughput of the linked GEMM and its references; ratios above 1 mean that the linked kernel is faster."""
    lines = [
        "| M × N × K | linked, TFLOP/s | monolith | by hand | cuBLAS | linked / cuBLAS (95% interval) |",
        "|---|---|---|---|---|---|",
    ]
    for shape, found in result["shapes"].items():
        rate, ratio = found["tflops"], found["ratio"]["linked/cublas"]
        lines.append(
            f"| {shape.replace('x', ' × ')} | {rate['linked']:.0f} | {rate['monolith']:.0f} | {rate['hand']:.0f} "
            f"| {rate['cublas']:.0f} | {ratio['median']:.4f} ({ratio['low']:.4f} to {ratio['high']:.4f}) |"
        )
    mean = result["geometric_mean"]
    lines += [
        "",
        "A ratio above 1 means that the linked kernel is faster. Geometric means: "
        f"{mean['linked/cublas']:.4f} over cuBLAS, {mean['linked/hand']:.4f} over the GEMM written by hand, "
        f"{mean['linked/monolith']:.4f} over the monolith. bf16, random data, one {result['gpu']}, driver "
        f"{result['driver']}, CUDA {result['toolkit']}, torch {result['torch']}; paired and interleaved, "
        f"{result['rounds']} pairs a shape.",
    ]
    return "\n".join(lines)


#: Rows of the linker's table: figure, its meaning, how it is printed.
_FIGURES: tuple[tuple[str, str, str], ...] = (
    ("passes_ms", "check, place and fuse of the GEMM, warm process", "{:.0f} ms"),
    ("warm_link_s", "`pl-link` with a warm cache, Python's start included", "{:.2f} s"),
    ("cold_link_ratio", "cold link, as a multiple of nvJitLink's own time plus start-up", "{:.2f}"),
    ("place_100_s", "placement of 100 different instances", "{:.2f} s"),
    ("place_1000_s", "placement of 1,000 different instances", "{:.2f} s"),
)


def _linker(result: Result) -> str:
    """How fast the linker is."""
    figures = result["figures"]
    lines = ["| what | measured |", "|---|---|"]
    lines += [f"| {text} | {form.format(figures[name])} |" for name, text, form in _FIGURES if name in figures]
    return "\n".join([*lines, "", ", ".join(f"{key} {value}" for key, value in result["machine"].items()) + "."])


_TABLES: dict[str, Callable[[Result], str]] = {"gemm": _gemm, "linker": _linker}


def tables() -> dict[str, str]:
    """Every table whose result is there, by name."""
    found = {name: RESULTS / f"{name}.json" for name in _TABLES}
    return {name: _TABLES[name](json.loads(path.read_text())) for name, path in found.items() if path.exists()}
