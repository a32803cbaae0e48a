"""Every configuration on one Hopper GPU: right, and how fast beside its monolith and what torch offers.

Needs torch and cuda-bindings, no compiler of PipeLink.  Each launch is timed inside a CUDA graph.  A ratio is the time
of the other / the time of the linked kernel, so above 1 means that the linked kernel is faster; it comes from samples
taken next to each other in alternating order, with a bootstrapped 95% interval of the median (timing.py).
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks import timing
from benchmarks.configurations import BY_NAME, Configuration, Shape
from benchmarks.problems import Problem
from benchmarks.progress import RESULTS, Progress, Results
from pipelink import runtime
from pipelink.support.diagnostics import LinkError

OUTPUT = RESULTS / "run.json"
TAILS: tuple[Shape, ...] = ((127, 248, 80), (1000, 1224, 528))  # what every configuration is checked on first
SAMPLE_MS = 5.0  # the time of one sample
PAIRS = 12  # samples of each ratio, unless said otherwise
Graph = Callable[[], None]
#: Shapes on which max-autotune is timed: its search takes most of a minute each.
AUTOTUNED: tuple[Shape, ...] = ((2048, 14336, 4096), (2048, 28672, 8192), (2048, 8192, 2048))


def key_of(configuration: Configuration, folder: Path) -> str:
    """Of the machine code and of what it is timed on."""
    digest = hashlib.sha256(json.dumps(dataclasses.asdict(configuration)).encode())
    for suffix in (".plk", ".monolith.plk"):
        digest.update((folder / f"{configuration.name}{suffix}").read_bytes())
    return digest.hexdigest()[:16]


def graph_of(launch: Callable[[torch.Tensor], object], weights: Sequence[torch.Tensor], launches: int) -> Graph:
    """A CUDA graph of so many launches over the weights in turn, as a call."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            launch(weights[0])
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for number in range(launches):
            launch(weights[number % len(weights)])
    return graph.replay


def measure(configuration: Configuration, folder: Path, pairs: int, autotune: bool) -> dict[str, Any]:
    """One configuration's entry."""
    names = {"linked": f"{configuration.name}.plk", "monolith": f"{configuration.name}.monolith.plk"}
    kernels = {name: runtime.load(folder / file) for name, file in names.items()}
    entry: dict[str, Any] = {"relative_error": {}, "shapes": {}}
    try:
        for shape in TAILS:
            for kernel in kernels.values():
                problem = Problem(configuration, shape)
                kernel(**problem.arguments())
                entry["relative_error"]["x".join(map(str, shape))] = problem.check()
        for shape in configuration.shapes:
            entry["shapes"]["x".join(map(str, shape))] = _time(configuration, shape, kernels, pairs, autotune)
        entry["correct"] = True
    except (AssertionError, LinkError, RuntimeError) as problem:
        entry |= {"correct": False, "error": str(problem)[:2000]}
    torch.cuda.synchronize()
    for kernel in kernels.values():
        kernel.close()
    return entry


def _time(
    configuration: Configuration, shape: Shape, kernels: dict[str, runtime.Kernel], pairs: int, autotune: bool
) -> dict[str, Any]:
    problem = Problem(configuration, shape, guarded=False)
    arguments = problem.arguments()
    results: dict[str, torch.Tensor] = {}
    for name, kernel in kernels.items():
        kernel.preload(**arguments)
        problem.poison()
        kernel(**arguments)
        results[name] = problem.out.clone()
    error = problem.check()
    assert torch.equal(results["linked"], results["monolith"]), "the linked kernel and its monolith differ"
    calls: dict[str, Callable[[torch.Tensor], object]] = {
        name: lambda b, kernel=kernel: kernel(**{**arguments, "b": b}) for name, kernel in kernels.items()
    }
    calls["product"] = problem.product()
    compiled = problem.compiled()
    if compiled is not None:
        calls["compiled"] = compiled
        if autotune and configuration.gated and shape in AUTOTUNED and configuration.parts.element != "e4m3":
            calls["autotuned"] = problem.autotuned()
    launches = max(1, round(SAMPLE_MS / (problem.work / 650e-3)))  # at 650 TFLOP/s
    weights = problem.weights(launches)
    graphs: dict[str, Graph] = {}
    failed: dict[str, str] = {}
    for name, call in calls.items():
        try:
            graphs[name] = graph_of(call, weights, launches)
        except Exception as broken:  # whatever torch and its compiler raise: a peer less, not a wrong kernel
            if name in kernels:
                raise
            failed[name] = f"{type(broken).__name__}: {broken}"[:500]
    others = [name for name in graphs if name != "linked"]
    times = timing.paired({name: (graphs[name], graphs["linked"]) for name in others}, pairs, 1)
    found: dict[str, Any] = {"relative_error": error, "us": {}, "ratio": {}}
    if failed:
        found["failed"] = failed
    for name in others:
        median, low, high = timing.interval([x / y for x, y in zip(*times[name], strict=True)])
        found["ratio"][name] = {"median": round(median, 5), "low": round(low, 5), "high": round(high, 5)}
        found["us"][name] = round(statistics.median(times[name][0]) / launches * 1e3, 3)
    linked = statistics.median(t for name in others for t in times[name][1]) / launches * 1e3
    found["us"]["linked"] = round(linked, 3)
    found["tflops"] = round(problem.work / linked * 1e6, 1)
    return found


def run(names: Sequence[str], arguments: argparse.Namespace) -> int:
    """Measure the named configurations whose packages are there; print a short table last."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch._dynamo.config.recompile_limit = 200
    folder: Path = arguments.folder
    chosen = [BY_NAME[name] for name in names if BY_NAME[name].runs and (folder / f"{name}.plk").is_file()]
    if not chosen:
        print(
            f"{folder} holds no package of these: run `python -m benchmarks prepare {folder}` where the compilers are"
        )
        return 1
    pairs: int = arguments.rounds or PAIRS
    head = {
        "benchmark": "run",
        "gpu": torch.cuda.get_device_name(0),
        "driver": timing.driver_version(),
        "toolkit": json.loads(timing.manifest(folder / f"{chosen[0].name}.plk"))["targets"][0]["toolkit"],
        "torch": torch.__version__,
        "pairs": pairs,
    }
    results = Results.open(arguments.output or OUTPUT, head, again=arguments.again)
    results.keep_only(list(BY_NAME))
    missing = [c for c in chosen if results.key(c.name) != key_of(c, folder) or not results.entries[c.name]["correct"]]
    progress = Progress(len(missing))
    for configuration in missing:
        entry = measure(configuration, folder, pairs, arguments.compile)
        results.add(configuration.name, key_of(configuration, folder), entry)
        progress.step(f"{configuration.name}: {'right' if entry['correct'] else entry['error'].splitlines()[0]}")
        torch.cuda.empty_cache()
    return report({c.name: results.entries[c.name] for c in chosen})


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.mean(math.log(value) for value in values))


def report(found: dict[str, dict[str, Any]]) -> int:
    """Print the table; the exit status is 1 where a result is wrong."""
    columns = ("monolith", "product", "compiled", "autotuned")
    print(f"{'configuration':58} {'shapes':>6} " + " ".join(f"{name:>9}" for name in columns))
    for name, entry in found.items():
        if not entry["correct"]:
            print(f"{name:58} WRONG: {entry['error']}")
            continue
        cells: list[str] = []
        for column in columns:
            ratios = [s["ratio"][column]["median"] for s in entry["shapes"].values() if column in s["ratio"]]
            cells.append(f"{geometric_mean(ratios):9.4f}" if ratios else f"{'':9}")
        print(f"{name:58} {len(entry['shapes']):6} " + " ".join(cells))
    print(f"{sum(entry['correct'] for entry in found.values())} of {len(found)} configurations right")
    return 0 if all(entry["correct"] for entry in found.values()) else 1
