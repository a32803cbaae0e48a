"""Every configuration on one Hopper GPU: right, and how fast beside its monolith and what torch offers.

Needs torch and cuda-bindings, no compiler of PipeLink.  Each launch is timed inside a CUDA graph.  A ratio is the time
of the other / the time of the linked kernel, so above 1 means that the linked kernel is faster; it comes from samples
taken next to each other in alternating order, with a bootstrapped 95% interval of the median (timing.py).

A result is that of one configuration on one shape, ``CONFIGURATION/SHAPE``.  It belongs to the machine code of the link
and of the monolith, whose digests stand in it.  max-autotune, which is timed only when asked for, has a result of its
own, ``CONFIGURATION/SHAPE/autotuned``.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks import store, timing
from benchmarks.configurations import BY_NAME, Configuration, family_of
from benchmarks.families.base import AUTOTUNED, Launch, Shape
from benchmarks.machine_code import digest_of_package, manifest
from benchmarks.progress import Progress
from benchmarks.store import RESULTS, Entry
from pipelink import runtime
from pipelink.support.diagnostics import LinkError

OUTPUT = RESULTS / "run.json"
SAMPLE_MS = 5.0  # the time of one sample
PAIRS = 12  # samples of each ratio, unless said otherwise
Graph = Callable[[], None]


@dataclass(frozen=True)
class Packages:
    """The link of a configuration and its monolith, in a folder."""

    configuration: Configuration
    folder: Path

    @property
    def paths(self) -> dict[str, Path]:
        name = self.configuration.name
        return {"linked": self.folder / f"{name}.plk", "monolith": self.folder / f"{name}.monolith.plk"}

    @property
    def there(self) -> bool:
        return all(path.is_file() for path in self.paths.values())

    def digests(self) -> dict[str, str]:
        """Of the machine code."""
        return {name: digest_of_package(path) for name, path in self.paths.items()}

    def toolkit(self) -> str:
        return manifest(self.paths["linked"])["targets"][0]["toolkit"]


def graph_of(launch: Launch, rotation: Sequence[dict[str, Any]], launches: int, prepare: Launch) -> Graph:
    """A CUDA graph of so many launches over the arguments in turn, as a call; ``prepare`` is called right before."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            launch(rotation[0])
    torch.cuda.current_stream().wait_stream(side)
    prepare(rotation[0])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for number in range(launches):
            launch(rotation[number % len(rotation)])
    return graph.replay


def _check(configuration: Configuration, shape: Shape, kernels: Mapping[str, runtime.Kernel]) -> Entry:
    """The linked kernel's error on a shape that is not timed.  Raises AssertionError where one of them is wrong."""
    errors: dict[str, float] = {}
    for name, kernel in kernels.items():
        problem = configuration.problem(shape)
        kernel(**problem.arguments())
        errors[name] = problem.check()
    return {"relative_error": errors["linked"]}


def _time(
    configuration: Configuration, shape: Shape, kernels: Mapping[str, runtime.Kernel], pairs: int, autotuned: bool
) -> Entry:
    """The figures of one shape; of max-autotune alone with ``autotuned``."""
    problem = configuration.problem(shape, guarded=False)
    arguments = problem.arguments()
    results: dict[str, list[torch.Tensor]] = {}
    for name, kernel in kernels.items():
        kernel.preload(**arguments)
        problem.poison()
        kernel(**arguments)
        results[name] = problem.outputs()
    error = problem.check()
    same = all(torch.equal(a, b) for a, b in zip(results["linked"], results["monolith"], strict=True))
    assert same, "the linked kernel and its monolith differ"
    calls: dict[str, Launch] = {name: lambda given, kernel=kernel: kernel(**given) for name, kernel in kernels.items()}
    if autotuned:
        calls = {"linked": calls["linked"]}
    calls |= problem.peers(autotuned=autotuned)
    launches = max(1, round(SAMPLE_MS / problem.expected_ms))
    rotation = problem.rotation(launches)
    graphs: dict[str, Graph] = {}
    failed: dict[str, str] = {}
    for name, call in calls.items():

        def prepare(given: Mapping[str, Any], name: str = name) -> None:
            if name in kernels:  # the capture takes a workspace that no stream has
                kernels[name].preload(**given)

        try:
            graphs[name] = graph_of(call, rotation, launches, prepare)
        except Exception as broken:  # whatever torch and its compiler raise: a peer less, not a wrong kernel
            if name in kernels:
                raise
            failed[name] = f"{type(broken).__name__}: {broken}"[:500]
    others = [name for name in graphs if name != "linked"]
    found: Entry = {"relative_error": error, "us": {}, "ratio": {}, **({"failed": failed} if failed else {})}
    if not others:
        return found
    times = timing.paired({name: (graphs[name], graphs["linked"]) for name in others}, pairs, 1)
    for name in others:
        median, low, high = timing.interval([x / y for x, y in zip(*times[name], strict=True)])
        found["ratio"][name] = {"median": round(median, 5), "low": round(low, 5), "high": round(high, 5)}
        found["us"][name] = round(statistics.median(times[name][0]) / launches * 1e3, 3)
    linked = statistics.median(t for name in others for t in times[name][1]) / launches * 1e3
    found["us"]["linked"] = round(linked, 3)
    found["tflops"] = round(problem.work / linked * 1e6, 1)
    return found


def measure(packages: Packages, parts: Sequence[tuple[Shape, bool]], pairs: int) -> Iterator[tuple[str, Entry]]:
    """The entries of one configuration: of the family's tails, which are not timed, then of some shapes, each with
    whether max-autotune is meant.  After a wrong one all are wrong, and nothing is timed.

    A kernel that computes something wrong is a result.  One that cannot be launched is none: raises RuntimeError or
    LinkError."""
    configuration = packages.configuration
    facts = {**timing.machine(), "toolkit": packages.toolkit(), "pairs": pairs, "date": store.now()}
    tails, wrong = family_of(configuration).tails, Entry()
    with ExitStack() as stack:
        kernels = {name: stack.enter_context(closing(runtime.load(path))) for name, path in packages.paths.items()}
        work = [(configuration.entry(s), partial(_check, configuration, s, kernels)) for s in tails]
        work += [
            (configuration.entry(s) + (AUTOTUNED if a else ""), partial(_time, configuration, s, kernels, pairs, a))
            for s, a in parts
        ]
        for name, figures in work:
            try:
                found = wrong or {"correct": True, **figures()}
            except AssertionError as problem:
                found = wrong = {"correct": False, "error": str(problem)[:2000]}
            torch.cuda.synchronize()
            yield name, {**packages.digests(), **found, "with": facts}


def parts_left(
    configuration: Configuration, digests: Mapping[str, str], known: Mapping[str, Entry], autotune: bool
) -> list[tuple[Shape, bool]]:
    """What of a configuration has no right result of this machine code."""
    parts = [(shape, False) for shape in configuration.shapes]
    parts += [(shape, True) for shape in configuration.autotuned if autotune]

    def is_known(shape: Shape, autotuned: bool) -> bool:
        entry = known.get(configuration.entry(shape) + (AUTOTUNED if autotuned else ""), {})
        return bool(entry.get("correct")) and all(entry.get(name) == digest for name, digest in digests.items())

    return [part for part in parts if not is_known(*part)]


def run(names: Sequence[str], arguments: argparse.Namespace) -> int:
    """Measure the named configurations whose packages are there; print a short table last.

    The exit status is 1 where a result is wrong, and 3 where ``--minutes`` were over before all were measured."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch._dynamo.config.recompile_limit = 200
    folder: Path = arguments.folder
    chosen = [packages for name in names if (packages := Packages(BY_NAME[name], folder)).there]
    if not chosen:
        print(
            f"{folder} holds no package of these: run `python -m benchmarks prepare {folder}` where the compilers are"
        )
        return 1
    output: Path = arguments.output or OUTPUT
    committed = {} if arguments.again else store.read(OUTPUT)
    known = committed | (store.read(output) if output != OUTPUT else {})
    left = [(p, parts_left(p.configuration, p.digests(), known, arguments.compile)) for p in chosen]
    left = [(packages, parts) for packages, parts in left if parts]
    print(f"{sum(len(parts) for _, parts in left)} results of {len(left)} configurations to measure", flush=True)
    progress = Progress(len(left))
    broken = 0
    for packages, parts in left:
        name = packages.configuration.name
        if arguments.minutes and progress.spent > 60 * arguments.minutes:
            print(f"{progress.total - progress.done} configurations are left; the same command goes on from here")
            break
        try:
            wrong: list[str] = []
            for part, entry in measure(packages, parts, arguments.rounds or PAIRS):
                store.add(output, "run", {part: entry})
                known[part] = entry
                wrong += [] if entry["correct"] else [entry["error"]]
            progress.step(f"{name}: {wrong[0].splitlines()[0] if wrong else 'right'}")
        except (LinkError, RuntimeError) as problem:
            broken += 1
            progress.step(f"{name}: not measured: {problem}")
            if not _alive():
                print("the device takes no more launches")
                break
        torch.cuda.empty_cache()
    wrong_any = report({p.configuration.name: _entries(p.configuration, known) for p in chosen})
    return 1 if wrong_any or broken else 3 if progress.done < progress.total else 0


def _alive() -> bool:
    try:
        torch.cuda.synchronize()
    except RuntimeError:
        return False
    return True


def _entries(configuration: Configuration, known: Mapping[str, Entry]) -> list[Entry]:
    return [entry for name, entry in known.items() if name.startswith(f"{configuration.name}/")]


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.mean(math.log(value) for value in values))


def report(found: Mapping[str, Sequence[Entry]]) -> int:
    """Print a line of means for each configuration; the exit status is 1 where a result is wrong."""
    columns = ("monolith", "product", "compiled", "autotuned")
    print(f"{'configuration':58} {'shapes':>6} " + " ".join(f"{name:>9}" for name in columns))
    right = 0
    for name, listed in found.items():
        entries = [entry for entry in listed if not entry["correct"] or "ratio" in entry]
        if wrong := [entry["error"] for entry in entries if not entry["correct"]]:
            print(f"{name:58} WRONG: {wrong[0]}")
            continue
        right += bool(entries)
        cells: list[str] = []
        for column in columns:
            ratios = [entry["ratio"][column]["median"] for entry in entries if column in entry["ratio"]]
            cells.append(f"{geometric_mean(ratios):9.4f}" if ratios else f"{'':9}")
        print(f"{name:58} {len(entries):6} " + " ".join(cells))
    print(f"{right} of {len(found)} configurations right")
    return 0 if all(entry["correct"] for entries in found.values() for entry in entries) else 1
