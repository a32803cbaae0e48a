"""The documentation's tables and plots of numbers, made of ``benchmarks/results/*.json`` and of nothing else.

``tables()`` gives each table by the name of its markers; ``docs/generate.py`` puts them between
``<!-- begin NAME -->`` and ``<!-- end NAME -->``, and writes ``plots()`` into its folder.  A result file that is not
there gives no table and no plot; one that would leave a table or a plot empty is an error.  Results of configurations
that are no more stay in their file and are not shown.  What was measured with other machine code than was recorded last
(``code.json``) is shown with a mark.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import store
from benchmarks.configurations import CONFIGURATIONS, Configuration
from benchmarks.families import FAMILIES
from benchmarks.families.base import AUTOTUNED, Family, Kind, Shape, shape_text
from benchmarks.machine_code import belongs
from benchmarks.plot import Plot, Series
from benchmarks.store import RESULTS, Entry, facts

MARK = "†"
FOOTNOTE = f"{MARK} measured with earlier machine code."
#: The configuration that benchmarks/gemm/run.py times beside a GEMM written by hand.
BY_HAND = "wgmma_128x256x64-store-grouped_tiles-sm_90a"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a table.  Raises ValueError where it has no rows: nobody wants to publish that."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    if not lines:
        raise ValueError(f"the table of '{', '.join(header)}' has no rows")
    return [f"| {' | '.join(header)} |", "|" + "---|" * len(header), *lines]


def _is_earlier(configuration: str, entry: Entry) -> bool:
    """Whether a result is of other machine code than what was recorded last; False where nothing was recorded."""
    code = store.read(RESULTS / "code.json")
    return configuration in code and not belongs(entry, code[configuration]["linked"])


def _marked(text: str, earlier: bool) -> str:
    return f"{text} {MARK}" if earlier else text


def _noted(lines: Sequence[str]) -> str:
    """The lines of a table and what stands below it, with a footnote if a mark asks for it."""
    return "\n".join([*lines, "", FOOTNOTE] if any(MARK in line for line in lines) else lines)


def _mean(values: Iterable[float]) -> float:
    return math.exp(statistics.mean(math.log(value) for value in values))


def _ratio(found: Mapping[str, float]) -> str:
    return f"{found['median']:.4f} ({found['low']:.4f} to {found['high']:.4f})"


def _extents(text: str) -> str:
    return text.replace("x", " × ")


def _machine(entries: Sequence[Entry]) -> str:
    """What entries were measured with."""
    return (
        f"{facts(entries, 'gpu')}, driver {facts(entries, 'driver')}, CUDA {facts(entries, 'toolkit')}, "
        f"torch {facts(entries, 'torch')}"
    )


def _gemm(path: Path) -> str:
    """Throughput of the linked GEMM and its references; ratios above 1 mean that the linked kernel is faster."""
    found = store.read(path)
    entries = list(found.values())
    lines = _table(
        ("M × N × K", "linked, TFLOP/s", "monolith", "by hand", "cuBLAS", "linked / cuBLAS (95% interval)"),
        (
            (
                _marked(_extents(shape), _is_earlier(BY_HAND, entry)),
                *(f"{entry['tflops'][name]:.0f}" for name in ("linked", "monolith", "hand", "cublas")),
                _ratio(entry["ratio"]["linked/cublas"]),
            )
            for shape, entry in found.items()
        ),
    )
    over = ("linked/cublas", "linked/hand", "linked/monolith")
    cublas, hand, monolith = (_mean(entry["ratio"][name]["median"] for entry in entries) for name in over)
    lines += [
        "",
        f"A ratio above 1 means that the linked kernel is faster. Geometric means: {cublas:.4f} over cuBLAS, "
        f"{hand:.4f} over the GEMM written by hand, {monolith:.4f} over the monolith. bf16, random data, one "
        f"{_machine(entries)}; paired and interleaved, {facts(entries, 'pairs')} pairs a shape.",
    ]
    return _noted(lines)


#: Rows of the linker's table: figure, its meaning, how it is printed.
_FIGURES: tuple[tuple[str, str, str], ...] = (
    ("passes_ms", "check, place and fuse of the GEMM, warm process", "{:.0f} ms"),
    ("prove_ms", "of which the proof that its roles neither hang nor race", "{:.0f} ms"),
    ("prove_64_s", "that proof for 64 instances", "{:.2f} s"),
    ("warm_link_s", "`pl-link` with a warm cache, Python's start included", "{:.2f} s"),
    ("cold_link_ratio", "cold link, as a multiple of nvJitLink's own time plus start-up", "{:.2f}"),
    ("variant_link_s", "one more variant of attention from objects that are there, warm process", "{:.2f} s"),
    ("variant_nvjitlink_s", "of which nvJitLink", "{:.2f} s"),
    ("place_100_s", "placement of 100 different instances", "{:.2f} s"),
    ("place_1000_s", "placement of 1,000 different instances", "{:.2f} s"),
)


def _linker(path: Path) -> str:
    """How fast the linker is."""
    result = json.loads(path.read_text())
    figures = result["figures"]
    rows = [(text, form.format(figures[name])) for name, text, form in _FIGURES if name in figures]
    lines = _table(("what", "measured"), rows)
    return "\n".join([*lines, "", ", ".join(f"{key} {value}" for key, value in result["machine"].items()) + "."])


# ---------------------------------------------------------------------------------------------- configurations
@dataclass(frozen=True)
class Timed:
    """A right result of a configuration on a shape: ratios by peer, and throughput."""

    configuration: Configuration
    shape: Shape
    entries: tuple[Entry, ...]

    @property
    def ratio(self) -> dict[str, dict[str, float]]:
        return {peer: ratio for entry in self.entries for peer, ratio in entry["ratio"].items()}

    @property
    def tflops(self) -> float:
        return self.entries[0]["tflops"]

    @property
    def earlier(self) -> bool:
        return any(_is_earlier(self.configuration.name, entry) for entry in self.entries)


def _timed(path: Path) -> dict[str, list[Timed]]:
    """The right results by configuration, on the shapes of today."""
    there = {name: entry for name, entry in store.read(path).items() if entry["correct"]}

    def find(c: Configuration, shape: Shape) -> tuple[Entry, ...]:
        names = (c.entry(shape), c.entry(shape) + AUTOTUNED)
        return tuple(there[name] for name in names if name in there) if names[0] in there else ()

    found = {c.name: [Timed(c, s, entries) for s in c.shapes if (entries := find(c, s))] for c in CONFIGURATIONS}
    return {name: results for name, results in found.items() if results}


def _wrong(path: Path) -> set[str]:
    """The names of configurations that have a wrong result."""
    return {name.partition("/")[0] for name, entry in store.read(path).items() if not entry["correct"]}


def _inspected(path: Path) -> list[tuple[Configuration, Entry]]:
    there = store.read(path)
    return [(c, there[c.name]) for c in CONFIGURATIONS if c.name in there]


def _inspect(path: Path) -> str:
    """Every configuration: what was linked, and how it compares with its monolith."""
    found, timed = _inspected(path), _timed(RESULTS / "run.json")

    def row(c: Configuration, entry: Entry) -> tuple[str, ...]:
        same = "identical" if entry["identical"] else c.explained or "differs"
        ratio = "not measured" if c.runs else "not run"
        if results := timed.get(c.name, []) if c.runs else []:
            ratios = [result.ratio["monolith"] for result in results]
            ratio = _ratio(ratios[0]) if len(ratios) == 1 else f"{_mean(r['median'] for r in ratios):.4f} (mean)"
            ratio = _marked(ratio, any(result.earlier for result in results))
        return (
            _marked(c.title, _is_earlier(c.name, entry)), c.target, str(entry["instructions"]["linked"]),
            str(entry["registers"]["linked"]), f"{entry['smem_bytes'] / 1024:.0f} KiB", same,
            f"{entry['link_s']:.2f} s", f"{entry['compile_s']:.2f} s", f"{entry['compile/link']:.2f}", ratio,
        )  # fmt: skip

    lines = _table(
        (
            "parts", "for", "instructions", "registers", "shared memory", "machine code", "link", "full compile",
            "compile / link", "time of monolith / linked",
        ),
        (row(c, entry) for c, entry in found),
    )  # fmt: skip
    entries = [entry for _, entry in found]
    lines += [
        "",
        f"{len(found)} linked, {sum(entry['identical'] for entry in entries)} identical. CUDA "
        f"{facts(entries, 'toolkit')}, {facts(entries, 'cores')} cores; a link includes its audit; medians of "
        f"{facts(entries, 'rounds')} interleaved pairs.",
    ]
    return _noted(lines)


def _summary(path: Path) -> str:
    """The same by architecture, for the front page."""
    groups: dict[str, list[tuple[Configuration, Entry]]] = {}
    for c, entry in _inspected(path):
        groups.setdefault(f"{c.target}{', a component in CuTe' if c.cute else ''}", []).append((c, entry))
    timed, wrong = _timed(RESULTS / "run.json"), _wrong(RESULTS / "run.json")

    def run(found: Sequence[tuple[Configuration, Entry]]) -> str:
        names = [c.name for c, _ in found if c.runs and (c.name in timed or c.name in wrong)]
        if not names:
            return "not run"
        bad = sum(name in wrong for name in names)
        earlier = any(result.earlier for name in names for result in timed.get(name, ()))
        return _marked(f"{len(names)} of {len(found)}, {f'{bad} wrong' if bad else 'all right'}", earlier)

    def row(name: str, found: Sequence[tuple[Configuration, Entry]]) -> tuple[object, ...]:
        ratios = [entry["compile/link"] for _, entry in found]
        same = sum(entry["identical"] for _, entry in found)
        earlier = any(_is_earlier(c.name, entry) for c, entry in found)
        return _marked(name, earlier), len(found), same, run(found), f"{min(ratios):.2f} to {max(ratios):.2f}"

    return _noted(
        _table(
            (
                "architecture", "configurations", "machine code equal to the monolith's", "run on a GPU",
                "full compile / link",
            ),
            (row(name, found) for name, found in groups.items()),
        )
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- families
def best(path: Path, family: Family, kind: Kind) -> dict[str, Timed]:
    """The fastest configuration of a kind for each of the family's shapes, by shape: that with the best ratio to the
    first peer."""
    fitting = [result for results in _timed(path).values() for result in results if _fits(result, family, kind)]
    peer = next(iter(kind.peers))
    found: dict[str, Timed] = {}
    for shape in family.shapes:
        if there := [result for result in fitting if result.shape == shape and peer in result.ratio]:
            found[shape_text(shape)] = max(there, key=lambda result: result.ratio[peer]["median"])
    return found


def _fits(result: Timed, family: Family, kind: Kind) -> bool:
    return result.configuration in family.configurations and kind.fits(result.configuration)


#: How far from its monolith a kernel of other machine code may be, as a share of the time.
NEAR = 0.002


def _monoliths(path: Path) -> str:
    """Links beside their monoliths, by the families' groups."""
    inspected, timed = _inspected(path), _timed(RESULTS / "run.json")
    rows: list[tuple[object, ...]] = []
    shown: list[Entry] = []
    for family in FAMILIES:
        for title, fits in family.groups.items():
            found = [(c, entry) for c, entry in inspected if c in family.configurations and fits(c)]
            if not found:
                continue
            results = {c.name: timed[c.name] for c, _ in found if c.runs and c.name in timed}
            ratios = {name: [one.ratio["monolith"]["median"] for one in there] for name, there in results.items()}
            near = sum(
                entry["identical"] or (c.name in ratios and abs(_mean(ratios[c.name]) - 1) <= NEAR)
                for c, entry in found
            )
            earlier = any(_is_earlier(c.name, entry) for c, entry in found)
            earlier |= any(one.earlier for there in results.values() for one in there)
            mean = f"{_mean(_mean(values) for values in ratios.values()):.4f}" if ratios else "not measured"
            same = sum(entry["identical"] for _, entry in found)
            rows.append((_marked(title, earlier), len(found), same, len(ratios), mean, f"{near} of {len(found)}"))
            shown += [entry for there in results.values() for one in there for entry in one.entries]
    lines = _table(
        (
            "kernels", "configurations", "machine code equal to the monolith's", "timed beside it",
            "time of monolith / linked, geometric mean", f"within {NEAR:.1%}",
        ),
        rows,
    )  # fmt: skip
    note = f"Within {NEAR:.1%} is what has the same machine code, and what takes so nearly the same time."
    lines += ["", f"{note} One {_machine(shown)}." if shown else note]
    return _noted(lines)


def _models(path: Path) -> str:
    """The families on their shapes: the best configuration of each shape beside what torch offers."""
    lines: list[str] = []
    shown: list[Entry] = []
    for family in FAMILIES:
        for kind in family.kinds:
            found = best(path, family, kind)
            there = [peer for peer in kind.peers if any(peer in result.ratio for result in found.values())]
            rows = [
                (
                    _marked(_extents(shape), result.earlier), result.configuration.variant, f"{result.tflops:.0f}",
                    *(_ratio(result.ratio[peer]) if peer in result.ratio else "" for peer in there),
                )
                for shape, result in found.items()
            ]  # fmt: skip
            if found:
                means = [_mean(r.ratio[p]["median"] for r in found.values() if p in r.ratio) for p in there]
                rows.append(("geometric mean", "", "", *(f"{mean:.4f}" for mean in means)))
            header = (family.axes, family.variants, "TFLOP/s", *(kind.peers[peer] for peer in there))
            lines += [f"**{kind.title}**", "", *_table(header, rows), ""]
            shown += [entry for result in found.values() for entry in result.entries]
    lines.append(
        "Time of the other / time of the linked kernel (95% interval): above 1 means that the linked kernel is faster. "
        f"Random data, CUDA graphs, one {_machine(shown)}; {facts(shown, 'pairs')} interleaved pairs."
    )
    return _noted(lines)


def _families(path: Path) -> str:
    """Each kind in one line per peer, for the front page."""
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    for family in FAMILIES:
        shown: list[Entry] = []
        for kind in family.kinds:
            found = best(path, family, kind)
            for peer, label in kind.peers.items():
                results = [result for result in found.values() if peer in result.ratio]
                if results:
                    ratios = [result.ratio[peer]["median"] for result in results]
                    cells = [f"{value:.3f}" for value in (_mean(ratios), min(ratios), max(ratios))]
                    title = _marked(kind.title, any(result.earlier for result in results))
                    rows.append((title, label, str(len(results)), *cells))
                    shown += [entry for result in results for entry in result.entries]
        if shown:
            notes.append(
                f"Time of the other / time of the linked kernel over {family.about}, the fastest tile of each; above 1 "
                f"means that the linked kernel is faster. One {_machine(shown)}."
            )
    header = ("kernel", "beside", "shapes", "geometric mean", "slowest shape", "fastest shape")
    return _noted([*_table(header, rows), "", *notes])


def _plot(path: Path, family: Family) -> Plot:
    series: list[Series] = []
    shown: list[Entry] = []
    for kind in family.kinds:
        found = best(path, family, kind)
        for peer, name in kind.plotted.items():
            ratios = {shape: r.ratio[peer] for shape, r in found.items() if peer in r.ratio}
            values = {_extents(shape): (r["median"], r["low"], r["high"]) for shape, r in ratios.items()}
            if values:
                series.append(Series(name, values))
                shown += [entry for result in found.values() for entry in result.entries]
    if not series:
        raise ValueError(f"{family.plot} has nothing to show")
    values = [value for one in series for triple in one.values.values() for value in triple]
    low, high = min(0.9, math.floor(min(values) * 10) / 10), max(1.1, math.ceil(max(values) * 10) / 10)
    rows = [_extents(shape_text(shape)) for shape in family.shapes]
    title = f"Linked kernels on an {facts(shown, 'gpu').removeprefix('NVIDIA ')}"
    label = f"{family.axes}; time of the other / time of the linked kernel"
    return Plot(title, label, rows, series, (low, high, 0.1))


#: Name of the markers -> the result's name, and what makes the table of its file.
def _signals(path: Path) -> str:
    found = json.loads(path.read_text())["round_trip"]
    low, high = found["ratio_low"], found["ratio_high"]
    return (
        f"On an {found['with']['gpu']}, a token that passes {found['ctas']} CTAs {found['rounds']} times takes "
        f"{found['linked_ns_per_hop']:.0f} ns from one to the next, and {found['by_hand_ns_per_hop']:.0f} ns where "
        f"`ld.acquire` and `red.release` are written by hand: {found['ratio']:.3f} times as long, from {low:.3f} to "
        f"{high:.3f} in {found['pairs']} pairs of launches over {found['allocations']} allocations of the counters: "
        "where they lie in the L2 cache matters more than who wrote the instructions. The epoch is read in that time, "
        "once a launch."
    )


def _programmatic(path: Path) -> str:
    rows: list[Sequence[str]] = []
    found = json.loads(path.read_text())["entries"]
    for shape, one in found.items():
        early, (ratio, low, high) = one["timelines"]["programmatic"], one["ratio"]
        times = [f"{one['us'][kind]:.1f}" for kind in ("programmatic", "plain")]
        begin = [str(early["early_ctas"]), f"{early['overlap_us']:.1f}"]
        rows.append((_extents(shape), *begin, *times, f"{ratio:.3f} ({low:.3f} to {high:.3f})"))
    header = (
        "M×N×K",
        "CTAs that begin early",
        "up to µs early",
        "both, µs",
        "one after the other, µs",
        "ratio of the times",
    )
    with_ = next(iter(found.values()))["with"]
    return "\n".join(
        [*_table(header, rows), "", f"One {with_['gpu']}, driver {with_['driver']}; in a median timeline."]
    )


def _attention(path: Path) -> str:
    rows: list[Sequence[str]] = []
    found = json.loads(path.read_text())["entries"]
    for name, one in found.items():
        variant, dimension, shape = name.split("-")
        rates = [f"{one['tflops'][who]:.0f}" if who in one["tflops"] else "–" for who in _ATTENTION]
        ratio, low, high = one["ratio"]
        rows.append((f"{variant}, {dimension}", _extents(shape), *rates, f"{ratio:.3f} ({low:.3f} to {high:.3f})"))
    header = ("kernel, D", "batches×heads×length", *(f"{who}, TFLOP/s" for who in _ATTENTION), "fastest peer / linked")
    with_ = next(iter(found.values()))["with"]
    note = (
        f"Forward, bf16, as many keys as queries. One {with_['gpu']}, driver {with_['driver']}, "
        f"torch {with_['torch']}; above 1 means that the linked kernel is faster."
    )
    return "\n".join([*_table(header, rows), "", note])


def _sparse(path: Path) -> str:
    """Sliding windows and lists of blocks: times, and each peer's over the linked kernel's."""
    found = store.read(path)
    rows: list[Sequence[str]] = []
    for name, one in found.items():
        what, dimension, shape = name.split("-")
        times = [f"{one['us'][who]:.0f}" if who in one["us"] else "–" for who in (one["linked"], *_SPARSE)]
        ratios = [f"{one['ratio'][who][0]:.3f}" if who in one["ratio"] else "–" for who in _SPARSE]
        kernel = f"{what.replace('window', 'window ').replace('blocks', 'blocks ')}, {dimension}"
        rows.append((kernel, _extents(shape), one["linked"], *times, *ratios))
    header = ("kernel, D", "batches×heads×length", "variant", "linked, µs", *(f"{who}, µs" for who in _SPARSE))
    means = {who: [one["ratio"][who][0] for one in found.values() if who in one["ratio"]] for who in _SPARSE}
    note = "; ".join(f"{_mean(ratios):.3f} over {who}" for who, ratios in means.items() if ratios)
    lines = _table((*header, *(f"{who} / linked" for who in _SPARSE)), rows)
    with_ = next(iter(found.values()))["with"]
    text = (
        f"Forward, bf16; causal windows, and shares of all blocks of 128 × 128. Geometric means: {note}. One "
        f"{with_['gpu']}, driver {with_['driver']}, torch {with_['torch']}; above 1 means that the linked kernel "
        "is faster."
    )
    return "\n".join([*lines, "", text])


def _paged(path: Path) -> str:
    """Whole prompts over pages: times, and what the others take over the time of the kernel with pages."""
    found = store.read(path)
    measured = [who for who in _PAGED if any(who in one["us"] for one in found.values())]
    others = [who for who in measured if who != "paged"]
    rows: list[Sequence[str]] = []
    for name, one in found.items():
        page, _, shape = name.split("-")
        times = [f"{one['us'][who]:.0f}" if who in one["us"] else "–" for who in measured]
        ratios = [one["ratio"].get(who) for who in others]
        shown = [f"{r[0]:.3f} ({r[1]:.3f} to {r[2]:.3f})" if r else "–" for r in ratios]
        rows.append((page.removeprefix("page"), _extents(shape), *times, *shown))
    means = {who: [one["ratio"][who][0] for one in found.values() if who in one["ratio"]] for who in others}
    note = "; ".join(f"{_mean(ratios):.3f} over {_PAGED[who]}" for who, ratios in means.items())
    header = ("keys of a page", "batches×heads×length", *(f"{_PAGED[who]}, µs" for who in measured))
    lines = _table((*header, *(f"{_PAGED[who]} / {_PAGED['paged']}" for who in others)), rows)
    with_ = next(iter(found.values()))["with"]
    text = (
        "Whole prompts, causal, heads of 128, bf16; pages in random order. Geometric means of the ratios: "
        f"{note}. One {with_['gpu']}, driver {with_['driver']}, torch {with_['torch']}; above 1 means that the kernel "
        "with pages is faster."
    )
    return "\n".join([*lines, "", text])


def _decode(path: Path) -> str:
    """One query a sequence: times of a replay, and cuDNN's over the linked kernel's."""
    found = store.read(path)
    rows: list[Sequence[str]] = []
    measured = [who for who in _DECODERS if any(who in one[_REPLAYS[0]]["us"] for one in found.values())]
    for name, one in found.items():
        times = [f"{one[how]['us'][who]:.1f}" if who in one[how]["us"] else "–" for how in _REPLAYS for who in measured]
        ratios = [f"{one[how]['ratio'][0]:.3f}" for how in _REPLAYS]
        rows.append((_extents(name), *times, *ratios))
    header = [f"{how}: {_DECODERS[who]}, µs" for how in _REPLAYS for who in measured]
    means = ", ".join(f"{how} {_mean([one[how]['ratio'][0] for one in found.values()]):.3f}" for how in _REPLAYS)
    pages = {how: [one[how]["pages"][0] for one in found.values() if "pages" in one[how]] for how in _REPLAYS}
    if all(pages.values()):
        means += "; FlashInfer's over the linked kernel's, both with pages: "
        means += ", ".join(f"{how} {_mean(ratios):.3f}" for how, ratios in pages.items())
    with_ = next(iter(found.values()))["with"]
    text = (
        "32 heads of 128, 8 of keys and values, bf16, in graphs, all parts put together; keys and values of every "
        f"replay the same, or rotated past 200 MB. Geometric means of cuDNN's time over the linked kernel's: {means}. "
        f"One {with_['gpu']}, driver {with_['driver']}, torch {with_['torch']}; above 1 means that the linked kernel "
        "is faster."
    )
    lines = _table(("sequences × keys", *header, *(f"{how}: cuDNN / linked" for how in _REPLAYS)), rows)
    return "\n".join([*lines, "", text])


_REPLAYS = ("same", "rotated")
_DECODERS = {
    "linked": "linked",
    "cute": "linked, core of CuTe",
    "paged": "linked, pages of 64",
    "cuDNN": "cuDNN",
    "FlashAttention 2": "FlashAttention 2",
    "FlashInfer": "FlashInfer, pages of 64",
}


def _decoder(path: Path) -> str:
    """A token of a decoder: times, and the peers' over the megakernel's."""
    rows: list[Sequence[str]] = []
    found = store.read(path)
    for name, one in found.items():
        ratios = (one["ratio"][who] for who in ("eager", "torch.compile"))
        shown = (f"{r[0]:.3f} ({r[1]:.3f} to {r[2]:.3f})" for r in ratios)
        times = (f"{one['us'][who] / 1e3:.3f}" for who in ("linked", "eager", "torch.compile"))
        rows.append((f"{int(name.rsplit('-', 1)[1]):,}", *times, *shown))
    header = ("positions", "linked, ms", "torch, ms", "torch.compile, ms", "torch / linked", "torch.compile / linked")
    with_ = next(iter(found.values()))["with"]
    text = (
        "A token of Llama-3.2-1B's shape, batch 1, random weights in bf16, a CUDA graph a token. "
        f"One {with_['gpu']}, driver {with_['driver']}, torch {with_['torch']}; above 1 means that the linked kernel "
        "is faster."
    )
    return "\n".join([*_table(header, rows), "", text])


_PAGED = {"paged": "linked, pages", "dense": "linked, keys in a row", "FlashInfer": "FlashInfer, pages"}
_SPARSE = ("FlashAttention 4", "FlexAttention, FLASH", "FlexAttention, Triton")
_ATTENTION = ("linked", "FlashAttention 4", "cuDNN")
_TABLES: dict[str, tuple[str, Callable[[Path], str]]] = {
    "gemm": ("gemm", _gemm),
    "linker": ("linker", _linker),
    "configurations": ("inspect", _inspect),
    "architectures": ("inspect", _summary),
    "monoliths": ("inspect", _monoliths),
    "models": ("run", _models),
    "families": ("run", _families),
    "signals": ("signals", _signals),
    "programmatic": ("programmatic", _programmatic),
    "attention": ("attention", _attention),
    "sparse": ("sparse", _sparse),
    "paged": ("paged", _paged),
    "decode": ("decode", _decode),
    "decoder": ("decoder", _decoder),
}


def tables() -> dict[str, str]:
    """Every table whose result is there, by name.  Raises ValueError where one would have no rows."""
    there = {name: (RESULTS / f"{result}.json", make) for name, (result, make) in _TABLES.items()}
    return {name: make(path) for name, (path, make) in there.items() if path.exists()}


def plots() -> dict[str, str]:
    """Every plot whose result is there, by file name.  Raises ValueError where one would be empty."""
    path = RESULTS / "run.json"
    return {f.plot: _plot(path, f).svg() for f in FAMILIES if f.plot} if path.exists() else {}
