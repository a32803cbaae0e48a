"""The documentation's tables and plots of numbers, made of ``benchmarks/results/*.json`` and of nothing else.

``tables()`` gives each table by the name of its markers; ``docs/generate.py`` puts them between
``<!-- begin NAME -->`` and ``<!-- end NAME -->``, and writes ``plots()`` into its folder.  A result that is not there
gives no table and no plot.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.configurations import BY_NAME, MODELS, Configuration
from benchmarks.plot import Plot, Series

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
    ("prove_ms", "of which the proof that its roles neither hang nor race", "{:.0f} ms"),
    ("prove_64_s", "that proof for 64 instances", "{:.2f} s"),
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


# ---------------------------------------------------------------------------------------------- configurations
def _read(name: str) -> Result:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {"configurations": {}}


def _known(result: Result) -> Iterable[tuple[Configuration, Result]]:
    return ((BY_NAME[name], entry) for name, entry in result["configurations"].items() if name in BY_NAME)


def _mean(values: Iterable[float]) -> float:
    return math.exp(statistics.mean(math.log(value) for value in values))


def _ratio(found: dict[str, float]) -> str:
    return f"{found['median']:.4f} ({found['low']:.4f} to {found['high']:.4f})"


def _inspect(result: Result) -> str:
    """Every configuration: what was linked, and how it compares with its monolith."""
    lines = [
        "| mainloop, epilogue, scheduler | for | instructions | registers | shared memory | machine code | link | "
        "full compile | compile / link | time of monolith / linked |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    timed = _read("run")["configurations"]
    linked = identical = 0
    for c, entry in _known(result):
        if not entry["linked"]:
            continue
        linked, identical = linked + 1, identical + entry["identical"]
        same = "identical" if entry["identical"] else c.explained or "differs"
        ratio = "not measured" if c.runs else "not run"
        if timed.get(c.name, {}).get("correct") and c.runs:
            ratios = [shape["ratio"]["monolith"] for shape in timed[c.name]["shapes"].values()]
            ratio = _ratio(ratios[0]) if len(ratios) == 1 else f"{_mean(r['median'] for r in ratios):.4f} (mean)"
        lines.append(
            f"| `{c.mainloop}`, `{c.epilogue}`, `{c.scheduler}` | {c.target} | {entry['instructions']['linked']} "
            f"| {entry['registers']['linked']} | {entry['smem_bytes'] / 1024:.0f} KiB | {same} "
            f"| {entry['link_s']:.2f} s | {entry['compile_s']:.2f} s | {entry['compile/link']:.2f} | {ratio} |"
        )
    lines += [
        "",
        f"{linked} linked, {identical} identical. CUDA {result['toolkit']}, {result['cores']} cores; a link includes "
        f"its audit; medians of {result['rounds']} interleaved pairs.",
    ]
    return "\n".join(lines)


def _summary(result: Result) -> str:
    """The same by architecture, for the front page."""
    lines = [
        "| architecture | configurations | machine code equal to the monolith's | run on a GPU | full compile / link |",
        "|---|---|---|---|---|",
    ]
    groups: dict[str, list[tuple[Configuration, Result]]] = {}
    for c, entry in _known(result):
        if entry["linked"]:
            groups.setdefault(f"{c.target}{', a component in CuTe' if c.cute else ''}", []).append((c, entry))
    timed = _read("run")["configurations"]
    for name, found in groups.items():
        done = [timed[c.name]["correct"] for c, _ in found if c.name in timed]
        run = "not run"
        if found[0][0].runs and done:
            run = f"{len(done)} of {len(found)}, {'all right' if all(done) else f'{done.count(False)} wrong'}"
        ratios = [entry["compile/link"] for _, entry in found]
        lines.append(
            f"| {name} | {len(found)} | {sum(entry['identical'] for _, entry in found)} | {run} "
            f"| {min(ratios):.2f} to {max(ratios):.2f} |"
        )
    return "\n".join(lines)


#: Rows of a family's table: title, configurations, the peers that stand beside it.
_FAMILIES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("bf16, `store`", "bf16", "store", ("product",)),
    ("bf16, `swiglu`", "bf16", "swiglu", ("product", "compiled", "autotuned")),
    ("e4m3, `store`", "e4m3", "store", ("product",)),
    ("e4m3, `swiglu`", "e4m3", "swiglu", ("product", "compiled")),
)
_PEERS = {
    "product": "cuBLAS, product alone",
    "compiled": "cuBLAS + torch.compile",
    "autotuned": "torch.compile, max-autotune",
}


def _peer(peer: str, element: str) -> str:
    return _PEERS[peer].replace("cuBLAS", "torch._scaled_mm") if element == "e4m3" else _PEERS[peer]


def best(result: Result, element: str, epilogue: str) -> dict[str, tuple[Configuration, Result]]:
    """The fastest configuration of a family for each shape of the models, by shape."""
    found: dict[str, tuple[Configuration, Result]] = {}
    for shape in ("x".join(map(str, shape)) for shape in MODELS):
        fitting = [
            (c, entry["shapes"][shape])
            for c, entry in _known(result)
            if c.parts.element == element and c.epilogue == epilogue and shape in entry["shapes"]
            if not c.mainloop.startswith("fp8_block")
        ]
        if fitting:
            found[shape] = max(fitting, key=lambda pair: pair[1]["ratio"]["product"]["median"])
    return found


def _shape(text: str) -> str:
    m, n, k = text.split("x")
    return f"{m} × {n} × {k}"


def _run(result: Result) -> str:
    """The families on the shapes of language models: the best tile of each shape beside what torch offers."""
    lines: list[str] = []
    for title, element, epilogue, peers in _FAMILIES:
        found = best(result, element, epilogue)
        if not found:
            continue
        there = [peer for peer in peers if any(peer in entry["ratio"] for _, entry in found.values())]
        names = " | ".join(_peer(peer, element) for peer in there)
        lines += [
            f"**{title}**",
            "",
            f"| M × N × K | mainloop | TFLOP/s | {names} |",
            "|---|---|---|" + "---|" * len(there),
        ]
        for shape, (c, entry) in found.items():
            cells = [_ratio(entry["ratio"][peer]) if peer in entry["ratio"] else "" for peer in there]
            lines.append(f"| {_shape(shape)} | `{c.mainloop}` | {entry['tflops']:.0f} | {' | '.join(cells)} |")
        means = [
            f"{_mean(e['ratio'][peer]['median'] for _, e in found.values() if peer in e['ratio']):.4f}"
            for peer in there
        ]
        lines += [f"| geometric mean | | | {' | '.join(means)} |", ""]
    lines.append(
        "Time of the other / time of the linked kernel (95% interval): above 1 means that the linked kernel is faster. "
        f"Random data, CUDA graphs, one {result['gpu']}, driver {result['driver']}, CUDA {result['toolkit']}, torch "
        f"{result['torch']}; {result['pairs']} interleaved pairs."
    )
    return "\n".join(lines)


def _families(result: Result) -> str:
    """Each family in one line per peer, for the front page."""
    lines = ["| kernel | beside | geometric mean | slowest shape | fastest shape |", "|---|---|---|---|---|"]
    for title, element, epilogue, peers in _FAMILIES:
        found = best(result, element, epilogue)
        for peer in peers:
            ratios = [e["ratio"][peer]["median"] for _, e in found.values() if peer in e["ratio"]]
            if ratios:
                cells = " | ".join(f"{value:.3f}" for value in (_mean(ratios), min(ratios), max(ratios)))
                lines.append(f"| {title} | {_peer(peer, element)} | {cells} |")
    return "\n".join(
        [
            *lines,
            "",
            f"Time of the other / time of the linked kernel over {len(MODELS)} shapes of language models, the fastest "
            f"tile of each; above 1 means that the linked kernel is faster. One {result['gpu']}, CUDA "
            f"{result['toolkit']}, torch {result['torch']}.",
        ]
    )


def _speed_plot(result: Result) -> Plot:
    shapes = ["x".join(map(str, shape)) for shape in MODELS]
    series: list[Series] = []
    for name, element, epilogue, peer in (
        ("store / cuBLAS", "bf16", "store", "product"),
        ("swiglu / cuBLAS's product alone", "bf16", "swiglu", "product"),
        ("swiglu / cuBLAS + torch.compile", "bf16", "swiglu", "compiled"),
        ("e4m3 swiglu / _scaled_mm + torch.compile", "e4m3", "swiglu", "compiled"),
    ):
        found = best(result, element, epilogue)
        ratios = {shape: entry["ratio"][peer] for shape, (_, entry) in found.items() if peer in entry["ratio"]}
        values = {_shape(shape): (r["median"], r["low"], r["high"]) for shape, r in ratios.items()}
        if values:
            series.append(Series(name, values))
    values = [value for one in series for triple in one.values.values() for value in triple] or [1.0]
    low, high = min(0.9, math.floor(min(values) * 10) / 10), max(1.1, math.ceil(max(values) * 10) / 10)
    rows = [_shape(shape) for shape in shapes]
    label = "M × N × K; time of the other / time of the linked kernel"
    return Plot(f"Linked kernels on an {result['gpu'].removeprefix('NVIDIA ')}", label, rows, series, (low, high, 0.1))


#: Name of the markers -> the result's name, and what makes the table of it.
_TABLES: dict[str, tuple[str, Callable[[Result], str]]] = {
    "gemm": ("gemm", _gemm),
    "linker": ("linker", _linker),
    "configurations": ("inspect", _inspect),
    "architectures": ("inspect", _summary),
    "models": ("run", _run),
    "families": ("run", _families),
}


def tables() -> dict[str, str]:
    """Every table whose result is there, by name."""
    there = {name: entry for name, entry in _TABLES.items() if (RESULTS / f"{entry[0]}.json").exists()}
    return {name: make(_read(result)) for name, (result, make) in there.items()}


def plots() -> dict[str, str]:
    """Every plot whose result is there, by file name."""
    result = _read("run")
    return {"speed.svg": _speed_plot(result).svg()} if result["configurations"] else {}
