"""The timeline of one CTA of causal attention, whose warpgroups take turns, for its picture.

    python benchmarks/attention/timeline.py --link PACKAGE        where the compilers are
    python benchmarks/attention/timeline.py PACKAGE [--output benchmarks/results/attention_timeline.json]

The picture is docs/attention-timeline.svg; docs/generate.py draws it from the result.  It says of the time in which one
warpgroup had the turn, until its Q K^T was done, in how much of it the other did not wait: it takes exponentials
meanwhile, or has products of its own under way.
"""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.command import arguments  # noqa: E402
from pipelink.runtime.timeline import Slice, Timeline  # noqa: E402

SHAPE = (1, 32, 1024, 128)  # batches, heads, length, dimension: two tiles of queries a CTA
KERNEL = "attention-causal-128"


def link(path: Path) -> None:
    """The package that is traced."""
    from test.compositions import Objects, compose

    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        compose(KERNEL, Objects(Path(made))).link(timeline=True).save(path)


def together(timeline: Timeline, cta: int) -> float:
    """The part of the time of all turns in which the other warpgroups did not wait, 0 to 1."""
    lanes = timeline.lanes(cta)
    turns = {name.partition(" ")[2]: found for name, found in lanes.items() if found[0].kind == "turn"}
    work = {
        name.partition(" ")[2]: [s for s in found if s.kind == "work"]
        for name, found in lanes.items()
        if name.partition(" ")[2] in turns and found[0].kind != "turn"
    }
    whole = both = 0.0
    for group, found in turns.items():
        for other, slices in work.items():
            if other != group:
                whole += sum(turn.end - turn.begin for turn in found)
                both += sum(_common(turn, one) for turn in found for one in slices)
    return both / whole if whole else 0.0


def in_order(timeline: Timeline, cta: int) -> bool:
    """Whether no turn of the CTA begins before the one before it is passed on."""
    found = sorted((s for s in timeline.slices if s.cta == cta and s.kind == "turn"), key=lambda s: s.begin)
    return all(former.end <= latter.begin for former, latter in pairwise(found))


def _common(a: Slice, b: Slice) -> float:
    return max(0.0, min(a.end, b.end) - max(a.begin, b.begin))


def summary(data: dict[str, Any]) -> str:
    """The picture, as Markdown in docs/, with what it was made of."""
    about = data["otherData"]
    batches, heads, length, dimension = about["shape"]
    return (
        f"![timeline of one CTA of causal attention: its two warpgroups have the turn one after the other]"
        f"(attention-timeline.svg)\n\n{batches} × {heads} × {length}, D {dimension}, in bf16 on one {about['gpu']} "
        f"(driver {about['driver']}, CUDA {about['toolkit']}): in {about['together']:.0%} of the time in which one "
        "warpgroup had the turn, the other waited for no slot and no turn of its own."
    )


def measure(package: Path) -> dict[str, Any]:
    """Launch until it is warm: the last launch's trace of one CTA."""
    import torch

    from benchmarks.timing import driver_version
    from pipelink import runtime

    batches, heads, length, dimension = SHAPE
    kernel = runtime.load(package)
    q, k, v = (torch.randn(batches, length, heads, dimension, device="cuda").bfloat16() for _ in range(3))
    o = torch.full_like(q, float("nan"))
    for _ in range(20):
        kernel(q=q, k=k, v=v, o=o, scale=dimension**-0.5)
    turned = (x.transpose(1, 2).float() for x in (q, k, v))
    expected = torch.nn.functional.scaled_dot_product_attention(*turned, is_causal=True).transpose(1, 2)
    wrong = (o.float() - expected).norm() / expected.norm()
    if not wrong < 6e-3:
        sys.exit(f"the relative error is {wrong:.1e}")
    timeline = kernel.timeline()
    cta = timeline.ctas // 2
    if not in_order(timeline, cta):
        sys.exit("two warpgroups have the turn at once")
    data = timeline.to_json([cta])
    data["otherData"] |= {
        "benchmark": "attention_timeline", "what": "causal attention", "gpu": torch.cuda.get_device_name(0),
        "driver": driver_version(), "toolkit": kernel.package.manifest["targets"][0]["toolkit"], "shape": list(SHAPE),
        "together": round(together(timeline, cta), 3),
    }  # fmt: skip
    last = max(item.end for item in timeline.slices)
    print(f"{timeline.ctas} CTAs, {last / 1e3:.1f} µs, {timeline.dropped} events dropped; CTA {cta}")
    print(f"in {data['otherData']['together']:.0%} of the time of a turn the other warpgroup did not wait")
    return data


def main() -> int:
    given = arguments(__doc__, "PACKAGE")
    if given.link:
        link(given.path)
        return 0
    data = measure(given.path)
    if given.output:
        given.output.write_text(json.dumps(data) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
