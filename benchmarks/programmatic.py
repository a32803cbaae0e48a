"""How much of a GEMM the next one's beginning hides, and a timeline of it: two linked GEMMs, the second of which
multiplies what the first stores, launched programmatically and one after the other.

    python benchmarks/programmatic.py --link FOLDER        where the compilers are
    python benchmarks/programmatic.py FOLDER [--output benchmarks/results/programmatic.json]

A role of each kernel notes when its CTA begins and when the kernel in front has ended, on the device's clock.  A
programmatic launch has CTAs that begin before that.  Times are of chains of both GEMMs, of pairs in turn.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.command import arguments  # noqa: E402
from pipelink import runtime  # noqa: E402

KERNELS = {"plain": "gemm_stamped", "programmatic": "gemm_stamped_programmatic"}
SHAPES = ((512, 4096, 4096), (2048, 2048, 2048), (4096, 4096, 4096))  # rows; columns of the first, and of the second
CHAIN, PAIRS, TIMELINES = 10, 60, 21


def link(folder: Path) -> None:
    """The packages that are measured."""
    from test.compositions import Objects, compose

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as objects:
        for name in KERNELS.values():
            compose(name, Objects(Path(objects))).link().save(folder / f"{name}.plk")


def measure(folder: Path, shape: tuple[int, int, int]) -> dict[str, Any]:
    """One shape: the overlap, a timeline of each kind, and the ratio of the times."""
    import torch

    from benchmarks import timing

    rows, middle, columns = shape
    kernels = {kind: runtime.load(folder / f"{name}.plk") for kind, name in KERNELS.items()}
    a, b1 = (torch.randn(n, middle, device="cuda").to(torch.bfloat16) for n in (rows, middle))
    b2 = torch.randn(columns, middle, device="cuda").to(torch.bfloat16)
    hidden = torch.zeros(rows, middle, device="cuda", dtype=torch.bfloat16)
    out = torch.zeros(rows, columns, device="cuda", dtype=torch.bfloat16)
    ctas = 4 * torch.cuda.get_device_properties(0).multi_processor_count
    stamps = [torch.zeros(ctas, 2, device="cuda", dtype=torch.int64) for _ in range(2)]

    def both(kind: str) -> None:
        kernels[kind](a=a, b=b1, out=hidden, stamps=stamps[0])
        kernels[kind](a=hidden, b=b2, out=out, stamps=stamps[1])

    def timeline(kind: str) -> dict[str, Any]:
        for stamp in stamps:
            stamp.zero_()
        torch.cuda.synchronize()
        both(kind)
        torch.cuda.synchronize()
        first, second = ([tuple(row) for row in stamp.cpu().tolist() if row[0]] for stamp in stamps)
        start, ended = min(begin for begin, _ in first), min(end for _, end in second)
        return {
            "first": sorted([begin - start, end - start] for begin, end in first),
            "second": sorted([begin - start, end - start] for begin, end in second),
            "early_ctas": sum(end - begin >= 1000 for begin, end in second),
            "overlap_us": round((ended - min(begin for begin, _ in second)) / 1e3, 2),
        }

    def chain(kind: str) -> Callable[[], float]:
        def run() -> float:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(CHAIN):
                both(kind)
            end.record()
            torch.cuda.synchronize()
            return float(begin.elapsed_time(end)) * 1e3 / CHAIN

        return run

    results: list[Any] = []
    timelines: dict[str, Any] = {}
    for kind in KERNELS:
        both(kind)
        torch.cuda.synchronize()
        results.append(out.clone())
        found = sorted((timeline(kind) for _ in range(TIMELINES)), key=lambda one: one["overlap_us"])
        timelines[kind] = found[TIMELINES // 2]
    if not torch.equal(*results):
        raise SystemExit("the programmatic launch gives other results")
    calls = {kind: chain(kind) for kind in KERNELS}
    times: dict[str, list[float]] = {kind: [] for kind in KERNELS}
    for number in range(PAIRS):
        for kind in list(KERNELS)[:: 1 if number % 2 else -1]:
            times[kind].append(calls[kind]())
    ratio, low, high = timing.interval([p / q for p, q in zip(times["programmatic"], times["plain"], strict=True)])
    return {
        "us": {kind: round(statistics.median(found), 2) for kind, found in times.items()},
        "ratio": [round(value, 4) for value in (ratio, low, high)],
        "pairs": PAIRS,
        "timelines": timelines,
        "with": {**timing.machine(), "toolkit": kernels["plain"].package.manifest["targets"][0]["toolkit"]},
    }


def main() -> int:
    given = arguments(__doc__, "FOLDER")
    if given.link:
        link(given.path)
        return 0
    from benchmarks import store

    for shape in SHAPES:
        name, found = "x".join(map(str, shape)), measure(given.path, shape)
        early, late = found["timelines"]["programmatic"], found["timelines"]["plain"]
        print(
            f"{name}: {found['us']['programmatic']} us programmatic, {found['us']['plain']} us one after the other, "
            f"ratio {found['ratio'][0]}; {early['early_ctas']} CTAs begin up to {early['overlap_us']} us before the "
            f"GEMM in front has ended ({late['early_ctas']}, {late['overlap_us']} us)"
        )
        if given.output:
            store.add(given.output, "programmatic", {name: {**found, "with": {**found["with"], "date": store.now()}}})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
