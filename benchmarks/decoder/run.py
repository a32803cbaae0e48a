"""One token of a Llama decoder: the linked megakernel beside torch, in CUDA graphs, on a Hopper GPU.

    python benchmarks/decoder/run.py --link FOLDER        where the compilers are
    python benchmarks/decoder/run.py FOLDER [--output benchmarks/results/decoder.json]

Batch 1, random weights of Llama-3.2-1B's shape.  Peers are torch, eager and by ``torch.compile``; a ratio is a peer's
time over the linked kernel's of one turn.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "decode"
sys.path[:0] = [str(ROOT), str(EXAMPLE)]

from benchmarks.attention.decode import graph  # noqa: E402
from benchmarks.command import arguments  # noqa: E402

CONTEXTS = (1024, 8192, 32768)
PACKAGE = "decode-1b.plk"
TURNS = 15


def link(folder: Path) -> None:
    """The package that is measured."""
    import compose

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        objects = compose.objects(Path(made), 64, 4)
        compose.compose(objects, hidden=2048, ffn=8192, head=64).kernel.link().save(folder / PACKAGE)


def measure(folder: Path, context: int) -> dict[str, Any]:
    """One context: medians in microseconds a token, and the ratios of the peers to the linked kernel."""
    import torch
    from model import LLAMA_1B, Decoder
    from reference import Reference, random_state

    from benchmarks import timing
    from pipelink import runtime

    state = random_state(LLAMA_1B)
    longest = context + 128
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    kernel = runtime.load(folder / PACKAGE)
    decoder = Decoder(kernel, LLAMA_1B, state, longest, sms)
    peer = Reference(LLAMA_1B, state, longest, torch.bfloat16)
    for mine, theirs in (("keys", peer.keys), ("values", peer.values)):
        theirs.normal_()
        decoder.arguments[mine].copy_(theirs)
    token = torch.full((1,), 77, device="cuda")
    place = torch.full((1,), context - 1, device="cuda")
    start = {"token": token.int(), "position": place.int()}

    def linked() -> None:
        for name, value in start.items():
            decoder.arguments[name].copy_(value)
        decoder.step()

    linked()
    wanted = peer(token, place).float()
    off = float((decoder.arguments["scores"] - wanted).norm() / wanted.norm())
    if not off < 0.1:  # two roundings to bf16, over 16 layers
        raise SystemExit(f"context {context}: not what torch computes: {off}")
    with torch.inference_mode():
        compiled = torch.compile(peer, dynamic=False)
        calls = {
            "linked": graph(torch, [linked], lambda: kernel.preload(**decoder.arguments)).replay,
            "eager": graph(torch, [lambda: peer(token, place)], lambda: None).replay,
            "torch.compile": graph(torch, [lambda: compiled(token, place)], lambda: None).replay,
        }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(TURNS):
        for name in list(calls)[:: 1 if turn % 2 else -1]:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            calls[name]()
            begin.record()
            for _ in range(5):
                calls[name]()
            end.record()
            torch.cuda.synchronize()
            times[name].append(begin.elapsed_time(end) * 1e3 / 5)
    us = {name: round(statistics.median(found), 1) for name, found in times.items()}
    ratios = {
        name: [round(v, 4) for v in timing.interval([p / q for p, q in zip(found, times["linked"], strict=True)])]
        for name, found in times.items()
        if name != "linked"
    }
    toolkit = kernel.package.manifest["targets"][0]["toolkit"]
    return {
        "us": us,
        "ratio": ratios,
        "off": round(off, 5),
        "turns": TURNS,
        "with": {**timing.machine(), "toolkit": toolkit},
    }


def main() -> int:
    given = arguments(__doc__, "FOLDER")
    if given.link:
        link(given.path)
        return 0
    from benchmarks import store

    for context in CONTEXTS:
        found = measure(given.path, context)
        print(f"context {context}: {found['us']}, ratios {found['ratio']}, off {found['off']}", flush=True)
        if given.output:
            dated = {**found, "with": {**found["with"], "date": store.now()}}
            store.add(given.output, "decoder", {f"llama-1b-{context}": dated})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
