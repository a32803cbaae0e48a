"""The timeline of one CTA of a GEMM, and its picture.

``python -m benchmarks.timeline PACKAGE OUT.json``   on the GPU, with torch: launches a GEMM that was linked with
                                                     ``--trace-timeline`` and writes one CTA's trace, which Perfetto
                                                     reads; ``--whole FILE`` writes that of all CTAs

The picture is docs/timeline.svg; docs/generate.py draws it from benchmarks/results/timeline.json, as it does that of
benchmarks/attention/timeline.py.  It is for light and dark pages: colours are CSS variables that follow
``prefers-color-scheme``.
"""

from __future__ import annotations

import argparse
import json
import sys
from html import escape
from pathlib import Path
from typing import Any

from pipelink.runtime.timeline import Slice, Timeline, from_json

SHAPE = (2048, 4096, 1024)  # M, N, K: two output tiles a CTA
_WIDTH, _LEFT, _RIGHT, _TOP, _ROW, _BAR = 1000, 150, 16, 66, 30, 20  # pixels
_KINDS = (
    ("wait", "waits"), ("work", "works"), ("filling", "slot: loads are on their way, or wait to be used"),
    ("use", "slot: in use"), ("turn", "has the turn"),
)  # fmt: skip


def overlap(timeline: Timeline, cta: int) -> float:
    """The part of the tensor cores' time with a tile during which a slot was being filled, 0 to 1."""
    lanes = timeline.lanes(cta)
    work = [s for name, found in lanes.items() if "[" not in name for s in found if s.name.startswith("use ")]
    loads = sorted(
        (s.begin, s.end) for name, found in lanes.items() if "[" in name for s in found if s.kind == "filling"
    )
    merged: list[list[float]] = []
    for begin, end in loads:
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    whole = sum(s.end - s.begin for s in work)
    both = sum(max(0.0, min(s.end, end) - max(s.begin, begin)) for s in work for begin, end in merged)
    return both / whole if whole else 0.0


def picture(data: dict[str, Any]) -> str:
    """The trace of one CTA, drawn: a row for each lane, time to the right.  ``what`` of ``otherData`` says of what
    kernel, with its article."""
    timeline = from_json(data)
    about = data["otherData"]
    (cta,) = {item.cta for item in timeline.slices}
    lanes = timeline.lanes(cta)
    begin = min(item.begin for item in timeline.slices)
    end = max(item.end for item in timeline.slices)
    scale = (_WIDTH - _LEFT - _RIGHT) / (end - begin)
    bottom = _TOP + len(lanes) * _ROW + 4
    title = f"One CTA of {about.get('what', 'a GEMM')} ({' x '.join(map(str, about['shape']))}, {about['gpu']})"
    kinds = {item.kind for item in timeline.slices}
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {bottom + 44}" width="{_WIDTH}" '
        f'height="{bottom + 44}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        f"<style>{_style()}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{bottom + 44}"/>',
        f'<text class="title" x="16" y="24">{escape(title)}</text>',
    ]
    at = 16
    for kind, meaning in (pair for pair in _KINDS if pair[0] != "turn" or "turn" in kinds):
        out.append(f'<rect class="{kind}" x="{at}" y="38" width="14" height="12"/>')
        out.append(f'<text x="{at + 20}" y="49">{escape(meaning)}</text>')
        at += 44 + round(6.4 * len(meaning))
    step = _step((end - begin) / 1e3)
    for tick in range(int((end - begin) / 1e3 / step) + 1):
        x = _LEFT + tick * step * 1e3 * scale
        out.append(f'<path class="grid" d="M{x:.1f} {_TOP - 4}V{bottom}"/>')
        out.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 16}">{tick * step:g}</text>')
    out.append(f'<text class="tick" x="{(_LEFT + _WIDTH - _RIGHT) / 2:g}" y="{bottom + 36}">microseconds</text>')
    for number, (name, found) in enumerate(lanes.items()):
        y = _TOP + number * _ROW
        out.append(f'<text class="row" x="{_LEFT - 10}" y="{y + _BAR / 2 + 4:g}">{escape(_short(name))}</text>')
        for item in found:
            x, width = _LEFT + (item.begin - begin) * scale, (item.end - item.begin) * scale
            kind = "use" if item.kind == "in use" else item.kind
            out.append(
                f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{max(width, 0.3):.1f}" height="{_BAR}">'
                f"<title>{escape(_told(item))}</title></rect>"
            )
    return "\n".join([*out, "</svg>"]) + "\n"


def summary(data: dict[str, Any]) -> str:
    """The picture, as Markdown in docs/, with what it was made of."""
    about = data["otherData"]
    shape = " x ".join(map(str, about["shape"]))
    return (
        f"![timeline of one CTA of a GEMM](timeline.svg)\n\n{shape} in bf16 on one {about['gpu']} (driver "
        f"{about['driver']}, CUDA {about['toolkit']}): loads were on their way in {about['overlap']:.0%} of the time "
        "in which the tensor cores worked on a slot."
    )


def _short(name: str) -> str:
    """``mma, warpgroup 0`` for ``@mma::@mma warpgroup 0``; ``ab[2]``."""
    role, _, group = name.partition(" ")
    return role.rpartition("@")[2] + (f", {group}" if group else "")


def _told(item: Slice) -> str:
    return f"{item.name}: {item.begin / 1e3:.2f} to {item.end / 1e3:.2f} µs"


def _step(whole: float) -> float:
    """A round distance of about ten ticks, in microseconds."""
    return next(step for step in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000, 1e4, 1e6) if whole / step <= 12)


def _style() -> str:
    def colours(page: str, text: str, grid: str, wait: str, work: str, filling: str, use: str, turn: str) -> str:
        return (
            f".page{{fill:{page}}}text{{fill:{text}}}.grid{{stroke:{grid}}}.wait{{fill:{wait}}}.work{{fill:{work}}}"
            f".filling{{fill:{filling}}}.use{{fill:{use}}}.turn{{fill:{turn}}}"
        )

    light = colours("#ffffff", "#1f2328", "#d1d9e0", "#d8dee4", "#1f6feb", "#f0b37e", "#1a7f37", "#8250df")
    dark = colours("#0d1117", "#e6edf3", "#30363d", "#30363d", "#58a6ff", "#9a5b1f", "#3fb950", "#d2a8ff")
    return (
        "text{font:13px system-ui,sans-serif}.title{font-weight:600;font-size:15px}.row{text-anchor:end}"
        ".tick{text-anchor:middle;font-size:12px}.grid{fill:none;stroke-width:1}rect:not(.page){stroke:none}"
        f"{light}@media (prefers-color-scheme:dark){{{dark}}}"
    )


def measure(package: Path, output: Path, whole: Path | None) -> None:
    """Launch the GEMM of ``package`` until it is warm, and write the last launch."""
    import torch

    from benchmarks.timing import driver_version
    from pipelink import runtime

    m, n, k = SHAPE
    kernel = runtime.load(package)
    a, b = (torch.randn(extent, k, device="cuda").bfloat16() for extent in (m, n))
    out = torch.full((m, n), float("nan"), device="cuda").bfloat16()
    for _ in range(20):
        kernel(a=a, b=b, out=out)
    wrong = (out.double() - a.double() @ b.double().T).norm() / (a.double() @ b.double().T).norm()
    if not wrong < 3e-3:
        sys.exit(f"the relative error is {wrong:.1e}")
    timeline = kernel.timeline()
    if whole is not None:
        timeline.save(whole)
    cta = timeline.ctas // 2
    data = timeline.to_json([cta])
    data["otherData"] |= {
        "benchmark": "timeline", "gpu": torch.cuda.get_device_name(0), "driver": driver_version(),
        "toolkit": kernel.package.manifest["targets"][0]["toolkit"], "shape": list(SHAPE),
        "overlap": round(overlap(timeline, cta), 3),
    }  # fmt: skip
    output.write_text(json.dumps(data) + "\n")
    last = max(item.end for item in timeline.slices)
    share = data["otherData"]["overlap"]
    print(f"{timeline.ctas} CTAs, {last / 1e3:.1f} µs; wrote CTA {cta} to {output}")
    print(f"loads were on their way in {share:.0%} of its tensor cores' time")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.timeline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("package", type=Path, help="a GEMM linked with --trace-timeline")
    parser.add_argument("output", type=Path, help="the trace of one CTA")
    parser.add_argument("--whole", type=Path, help="the trace of all CTAs, too")
    arguments = parser.parse_args()
    measure(arguments.package, arguments.output, arguments.whole)


if __name__ == "__main__":
    main()
