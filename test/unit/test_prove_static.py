"""What a placement decides by itself: each rule on a placed kernel that was changed by hand, and no false alarm."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelink import ir
from pipelink.analysis.declarations import add_objects
from pipelink.ir.views import Kernel, Program
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.passes.prove_static import check_static
from pipelink.support.diagnostics import Diagnostics, LinkError
from test.compositions import COMPOSITIONS, Objects, compose

ROOT = Path(__file__).resolve().parents[2]

INPUTS = ROOT / "test/lit/prove_static/Inputs"
PIECES, CONVERT, TURNS, HELPER, POLL = (
    (INPUTS / f"{name}.mlir").read_text() for name in ("pieces", "convert", "turns", "helper", "poll")
)
THREADS_READ = PIECES.replace('touch = "wgmma"', 'touch = "threads"')
PREFETCH = TURNS.replace(
    '"pipelink.barrier"',
    '"pipelink.protocol"() {of = "ahead", text = "early.write;"} : () -> ()\n  "pipelink.barrier"',
)
TENSOR_MEMORY = (ROOT / "test/lit/fuse/tensor-memory.mlir").read_text()
PAIR = re.sub("  // PAIR ", "  ", TENSOR_MEMORY.replace('touch = "tcgen05"', 'touch = "tcgen05", cta_group = 2'))
MULTICAST = (ROOT / "test/lit/scenarios/blackwell-gemm.mlir").read_text()

Dict = dict[str, Any]


class Placed:
    """A placed kernel whose dictionaries can be changed."""

    def __init__(self, text: str) -> None:
        self.module = ir.parse(text.encode())
        run_pipeline(parse_pipeline("check,place"), self.module)
        self.program: Program = ir.program(self.module)
        self.kernel: Kernel = self.program.kernels[0]

    def change(self, edit: Callable[[Dict], object]) -> list[tuple[str, str]]:
        """Ids and messages after ``edit`` of ``{"kernel": …, "launch": …, "<instance>": …, "<n>": connection n}``."""
        views: Dict = {**self.kernel.instances, **{str(n): c for n, c in enumerate(self.kernel.connects)}}
        found = {name: copy.deepcopy(view.data["placement"]) for name, view in views.items()}
        found |= {
            "kernel": copy.deepcopy(self.kernel.data["pipelink.placement"]),
            "launch": copy.deepcopy(self.kernel.data["pipelink.launch"]),
        }
        edit(found)
        for name, view in views.items():
            view.set("placement", found[name])
        self.kernel.set("pipelink.placement", found["kernel"])
        self.kernel.set("pipelink.launch", found["launch"])
        diagnostics = Diagnostics()
        check_static(self.kernel, self.program.components, diagnostics)
        return [(item.id, item.message) for item in diagnostics.items]


def update(where: str, *path: str | int, **values: object) -> Callable[[Dict], object]:
    """An edit that sets keys of one dictionary."""

    def edit(found: Dict) -> None:
        at: Any = found[where]
        for step in path:
            at = at[step]
        at.update(values)

    return edit


def both(*edits: Callable[[Dict], object]) -> Callable[[Dict], object]:
    return lambda found: [edit(found) for edit in edits]


def drop(where: str, key: str) -> Callable[[Dict], object]:
    return lambda found: found[where].pop(key)


def registers(*values: int) -> Callable[[Dict], object]:
    return update("kernel", warpgroups=[{"registers": value} for value in values])


def arrivals(connection: int, side: str, count: int, unit: str) -> Callable[[Dict], object]:
    """Both ends of the count, so that only the unit can be wrong."""

    def edit(found: Dict) -> None:
        placed = found[str(connection)]
        placed[f"{side}_arrivals"], placed[f"{side}_unit"] = count, unit
        at = placed["full" if side == "producer" else "empty"]
        next(m for m in found["kernel"]["mbarriers"] if m["address"] == at)["arrivals"] = count

    return edit


def joined(found: Dict) -> None:
    """The same mbarriers in groups of other sizes."""
    groups = found["kernel"]["mbarriers"]
    found["kernel"]["mbarriers"] = [
        {"address": group["address"] + 8 * index, "count": 1, "arrivals": group["arrivals"], "name": group["name"]}
        for group in groups
        for index in range(group["count"])
    ]


def polling(protocol: str) -> str:
    return POLL.replace("PROTOCOL", protocol)


CASES: list[tuple[str, str, Callable[[Dict], object], str, str]] = [
    # name, kernel, edit, id, part of the message
    ("undeclared", PIECES, update("mma", "smem", other=1024), "bad-placement", "has 'other' in 'smem', which"),
    ("no dictionary", PIECES, update("store", locals=3), "bad-placement", "'locals' in the placement of instance"),
    ("extents", PIECES, update("kernel", cluster=[2]), "bad-placement", "is not three extents"),
    ("large cluster", PIECES, update("kernel", cluster=[2, 4, 4]), "bad-placement", "clusters of 32 CTAs"),
    ("list", PIECES, update("kernel", cluster=2), "bad-placement", "kernel 'gemm' is 2, not a list"),
    ("entry", PIECES, drop("kernel", "entry_registers"), "bad-placement", "kernel 'gemm' has no 'entry_registers'"),
    ("unknown", PIECES, update("0", stagse=4), "bad-placement", "has an unknown 'stagse'; did you mean 'stages'?"),
    ("inside", PIECES, update("0", "buffers", 0, size=4), "bad-placement", "'buffers[0]' has an unknown 'size'"),
    ("block", PIECES, drop("launch", "parameters"), "bad-placement", "the parameter block of kernel 'gemm'"),
    ("cursors", PIECES, update("kernel", cursors=1 << 31), "bad-placement", "is placed with 2147483648 cursors"),
    ("far parameter", PIECES, update("launch", "parameters", fields=[{"offset": 1 << 40}]), "bad-placement",
     "are placed up to 1099511627776, a kernel takes 32764 bytes"),
    ("large block", PIECES, update("launch", "parameters", bytes=1 << 40), "bad-placement", "takes 32764 bytes"),
    ("number", PIECES, update("mma", id=1 << 62), "bad-placement", "is placed as number 4611686018427387904"),
    ("absent", PIECES, drop("mma", "barriers"), "bad-placement", "has no place for '@mma::@met' in 'barriers'"),
    ("type", PIECES, update("0", stages="four"), "bad-placement", "'stages' in the placement of '@load::@ab' to"),
    ("negative", PIECES, update("0", full=-8), "bad-placement", "is -8, not an integer from 0 up"),
    ("kernel", PIECES, drop("kernel", "words"), "bad-placement", "kernel 'gemm' has no 'words'"),
    ("transfer", PIECES, update("0", transfer="ring.fast"), "bad-placement", "'ring.fast', which is no transfer"),
    ("cannot", PIECES, update("0", transfer="token"), "bad-placement", "it links token ports"),
    ("unit name", PIECES, update("1", producer_unit="cta"), "bad-placement", "not one of tx, commit, thread, warp"),
    ("part", PIECES, update("0", buffers=[]), "bad-placement", "a place for each of its 1 tiles"),
    ("small", PIECES, update("0", "buffers", 0, bytes=4096), "bad-placement", "in 4096 bytes, it has 8192"),
    ("parity", PIECES, update("2", initial=2), "bad-placement", "starts with parity 2"),
    ("no mbarrier", PIECES, update("0", full=1400), "bad-placement", "initialises no mbarrier at 1400"),
    ("shallower", PIECES, update("0", stages=3), "", ""),
    ("deeper", PIECES, update("kernel", "mbarriers", 0, count=3), "bad-placement", "initialises no mbarrier at 1048"),
    ("range", PIECES, update("0", stages=9), "bad-placement", "in 9 stages, '@load::@ab' accepts 2 … 4"),
    ("end", PIECES, update("1", end=1200), "bad-placement", "end marks of '@mma::@out'"),
    ("cursor", PIECES, update("1", producer_cursor=1), "bad-placement", "'@mma::@run' has position 1 of the frame for"),
    ("cursors apart", PIECES, update("1", producer_cursor=0), "", ""),
    ("one group", PIECES, joined, "", ""),
    ("one mbarrier", PIECES, lambda f: f["2"].update(full=f["0"]["full"], producer_arrivals=1), "placement-overlap",
     "and those of '@load::@ab' to '@mma::@ab' are both at 1024"),
    ("frame", PIECES, update("kernel", cursors=2), "bad-placement", "the frame has 2"),
    ("launch", PIECES, update("launch", smem_bytes=512), "bad-placement", "and launched with 512"),
    ("threads", PIECES, update("kernel", threads=256), "bad-placement", "256 threads are placed on 16 warps"),
    ("ids", PIECES, update("mma", id=0), "bad-placement", "two instances of kernel 'gemm' have one id"),
    ("cluster", PIECES, update("launch", cluster=[2, 1, 1]), "bad-placement", "the entry is for clusters of [1, 1, 1]"),
    ("warps", PIECES, update("mma", "roles", "run", warps=4), "bad-placement", "placed on 4 warps, it has 8"),
    ("mbarrier count", PIECES, update("0", consumer_arrivals=3), "arrival-count", "takes 3 arrivals of its consumer"),
    ("none", PIECES, arrivals(0, "consumer", 0, "warpgroup"), "arrival-count", "expect 0 arrivals"),
    ("one thread", PIECES, arrivals(0, "consumer", 2, "warp"), "", ""),
    ("lonely", PIECES, lambda f: (f["mma"]["roles"]["run"].update(first_warp=5)), "unaligned-warpgroup", "warp 5"),
    ("sister warps", PIECES, arrivals(1, "consumer", 1, "warpgroup"), "slot-race", "the other warps may not be done"),
    ("bytes", PIECES, arrivals(0, "producer", 1, "thread"), "slot-race", "known by bytes that TMA brings"),
    ("overcommitted", PIECES, registers(40, 240, 240, 40), "register-pool", "+ 40 = 560: warpgroup 1 to 240"),
    ("nobody lowers", PIECES, registers(128, 232, 232, 128), "register-pool", "no other gives any back"),
    ("step", PIECES, registers(24, 196, 196, 24), "register-pool", "196 registers, setmaxnreg takes multiples of 8"),
    ("least", PIECES, registers(16, 200, 200, 24), "register-pool", "16 registers, setmaxnreg"),
    ("split role", PIECES, registers(40, 192, 200, 40), "register-pool", "192 in warpgroup 1, 200 in warpgroup 2"),
    ("starved", PIECES, registers(40, 128, 128, 40), "register-pool", "needs 192 registers a thread"),
    ("groups", PIECES, registers(40, 200), "register-pool", "for 2 warpgroups, the 16 warps are 4"),
    ("on one warp", PIECES, update("load", "roles", "run", first_warp=4), "placement-overlap", "both placed on warp 4"),
    ("no such warp", PIECES, update("load", "roles", "run", first_warp=16), "placement-range", "there are 16"),
    ("on one id", PIECES, update("mma", "barriers", "met", id=2), "barrier-shared", "both placed on named barrier"),
    ("id 0", PIECES, update("mma", "barriers", "met", id=0), "barrier-shared", "named barrier 0"),
    ("id 16", PIECES, update("mma", "barriers", "met", id=16), "barrier-shared", "named barrier 16, a CTA has 0 to 15"),
    ("half a warp", PIECES, update("mma", "barriers", "met", threads=80), "barrier-mismatch", "counts whole warps"),
    ("participants", PIECES, update("mma", "barriers", "met", threads=128), "barrier-mismatch", "256 take part"),
    ("meeting", PIECES, update("store", "locals", "more", barrier={"id": 2, "threads": 64}), "barrier-mismatch", "128"),
    ("reserved", PIECES, update("mma", "smem", scratch=512), "placement-range", "below the 1024 bytes"),
    ("past the end", PIECES, update("mma", "smem", scratch=1 << 20), "placement-range", "shared memory ends at"),
    ("capacity", PIECES, both(update("kernel", smem_bytes=240000), update("launch", smem_bytes=240000)),
     "placement-range", "7552 over the 232448"),
    ("on a ring", PIECES, lambda f: f["mma"]["smem"].update(scratch=f["0"]["buffers"][0]["address"]),
     "placement-overlap", "'@mma::@scratch' is placed on 2048 to 3071 together with '@load::@ab'"),
    ("on mbarriers", PIECES, update("mma", "smem", scratch=1024), "placement-overlap", "the mbarriers 'load::ab full'"),
    ("slots", PIECES, update("0", "buffers", 0, stride=4096), "placement-overlap", "4096 bytes apart and 8192 large"),
    ("swizzle", PIECES, lambda f: f["0"]["buffers"][0].update(address=f["0"]["buffers"][0]["address"] + 128),
     "bad-alignment", "must start at a multiple of 1024 bytes"),
    ("stride", PIECES, update("0", "buffers", 0, stride=8320), "bad-alignment", "must start at a multiple of 1024"),
    ("fence", PIECES, update("1", producer_fence=False), "missing-fence", "tma reads them, without a fence"),
    ("refill", THREADS_READ, update("0", consumer_fence=False), "missing-fence", "TMA fills them again"),
    ("conversion", CONVERT, update("0", producer_fence=False), "missing-fence", "wgmma reads them"),
    ("staging", CONVERT, lambda f: f["0"]["staging"][0].update(address=f["0"]["buffers"][0]["address"]),
     "placement-overlap", "staging of '@fill::@t'"),
    ("all of it", CONVERT, update("0", barrier={"id": 1, "threads": 32}), "barrier-mismatch", "the conversion of"),
    ("timeline", TURNS, lambda f: f["a"]["smem"].update(late=f["a"]["smem"]["early"]), "", ""),
    ("alternatives", TURNS, lambda f: f["b"]["smem"].update(early=f["a"]["smem"]["early"]), "", ""),
    ("no meeting", TURNS, drop("kernel", "meetings"), "bad-placement", "has no barrier for exclusive group 'ops'"),
    ("unknown group", TURNS, update("kernel", "meetings", op={"id": 9, "threads": 128}), "bad-placement",
     "has exclusive group 'op', which it does not declare"),
    ("other warps", TURNS, update("b", "roles", "run", first_warp=8), "bad-placement", "begin on different warps"),
    ("meeting count", TURNS, update("kernel", "meetings", "ops", threads=96), "barrier-mismatch", "placed for 96"),
    ("meeting shared", TURNS, update("kernel", "meetings", "ops", id=2), "barrier-shared", "exclusive group 'ops'"),
    ("word", TENSOR_MEMORY, lambda f: (f["kernel"].pop("tmem_columns"), f["kernel"].pop("tmem_word")),
     "tensor-memory-order", "which nobody allocates"),
    ("power", TENSOR_MEMORY, update("kernel", tmem_columns=96), "tensor-memory-order", "96 columns"),
    ("allocation", TENSOR_MEMORY, update("kernel", tmem_columns=64), "placement-range", "64 are allocated"),
    ("two CTAs", TENSOR_MEMORY, both(update("kernel", tmem_columns=512, min_ctas=2), update("launch", min_ctas=2)),
     "tensor-memory-order", "the last to allocate waits"),
    ("one waits for columns", TENSOR_MEMORY, both(update("kernel", tmem_columns=512), update("launch", resident=True)),
     "tensor-memory-order", "2 CTAs of kernel 'k' may be on an SM and wait for each other"),
    ("two halves", TENSOR_MEMORY, both(update("kernel", tmem_columns=256), update("launch", resident=True)), "", ""),
    ("one a SM", TENSOR_MEMORY, both(update("kernel", tmem_columns=512), update("launch", resident=True, grid=["sms"])),
     "", ""),
    ("as many as fit", TENSOR_MEMORY,
     both(update("kernel", tmem_columns=256), update("launch", resident=True, grid=["min(M, sms * occupancy)"])),
     "tensor-memory-order", "12 CTAs of kernel 'k'"),
    ("column", TENSOR_MEMORY, update("0", "columns", 0, column=2), "bad-alignment", "multiple of 4 columns"),
    ("accumulators", TENSOR_MEMORY, update("0", "columns", 0, stride=32), "placement-overlap", "32 columns apart"),
    ("pair alone", PAIR, both(drop("kernel", "cluster"), update("launch", cluster=[1, 1, 1])),
     "cluster-mismatch", "has no cluster"),
    ("four", PAIR, both(update("kernel", cluster=[4, 1, 1]), update("launch", cluster=[4, 1, 1])),
     "cluster-mismatch", "has clusters of 4"),
    ("peers", MULTICAST, lambda f: None, "peer-lifetime", "does not let the CTAs of the cluster meet"),
    ("prefetch", PREFETCH, lambda f: None, "instances-overlap", "'@a::@ahead', which runs beside it"),
    ("helper", HELPER, lambda f: None, "barrier-shared", "'@a::@run', '@b::@run', 256 together"),
    ("poll", polling("repeat 2 { ready.await; x.acquire; x.copy; }"), lambda f: None,
     "missing-fence", "awaits 'ready' and then fetches 'x' by TMA"),
    ("zero iterations", polling("ready.await; choose { fence async; } or { } x.acquire; x.copy;"), lambda f: None,
     "missing-fence", "awaits 'ready'"),
    ("fenced", polling("repeat 2 { ready.await; fence async; x.acquire; x.copy; }"), lambda f: None, "", ""),
    ("residency", polling("x.acquire; x.copy;"), update("launch", resident=False), "not-resident", "at once"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "edit", "id_", "part"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_changed_placement_is_refused(text: str, edit: Callable[[Dict], object], id_: str, part: str) -> None:
    found = Placed(text).change(edit)
    if not id_:
        assert found == []
        return
    assert id_ in [id for id, _ in found], found
    assert any(id == id_ and part in message for id, message in found), found


@pytest.mark.parametrize(
    "text", [PIECES, CONVERT, TURNS, TENSOR_MEMORY, PAIR], ids=["pieces", "convert", "turns", "tmem", "pair"]
)
def test_what_place_made_passes(text: str) -> None:
    assert Placed(text).change(lambda found: None) == []


@pytest.mark.parametrize("text", [PIECES, CONVERT, TURNS, PAIR], ids=["pieces", "convert", "turns", "pair"])
def test_whatever_stands_in_a_placement_is_an_error_or_fine(text: str) -> None:
    """Values of all kinds in all places: no exception, whatever is reported."""
    chance = random.Random(len(text))
    original = Placed(text)
    values = [0, 1, 2, 3, -1, 33, 1024, 1 << 33, True, "x", [], {}, [1], {"a": 1}]

    def edit(found: Dict) -> None:
        at: Any = found
        step: Any = chance.choice(list(found))
        while isinstance(at[step], dict | list) and at[step] and chance.random() < 0.9:
            at = at[step]
            step = chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if at is found:
            return
        if isinstance(at, dict) and chance.random() < 0.25:
            del at[step]
        else:
            at[step] = chance.choice(values)

    for _ in range(150):
        saved = {view: dict(view.data) for view in (*original.kernel.instances.values(), *original.kernel.connects)}
        kernel = dict(original.kernel.data)
        original.change(edit)
        for view, data in saved.items():
            view.set("placement", data["placement"])
        for key in ("pipelink.placement", "pipelink.launch"):
            original.kernel.set(key, kernel[key])


def test_an_unplaced_kernel_is_refused() -> None:
    program = ir.program(ir.parse(PIECES.encode()))
    diagnostics = Diagnostics()
    assert not check_static(program.kernels[0], program.components, diagnostics)
    assert [item.id for item in diagnostics.items] == ["not-placed"]


@pytest.mark.parametrize("path", sorted((ROOT / "test/lit/scenarios").glob("*.mlir")), ids=lambda path: path.stem)
def test_scenarios_pass(path: Path) -> None:
    expected = ["peer-lifetime"] if path.stem == "blackwell-gemm" else []  # it is multicast by the component itself
    module = ir.parse(path)
    run_pipeline(parse_pipeline("check,place"), module)
    program = ir.program(module)
    for kernel in program.kernels:
        diagnostics = Diagnostics()
        check_static(kernel, program.components, diagnostics)
        assert [item.id for item in diagnostics.items] == expected


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_shipped_compositions_pass(name: str, objects: Objects) -> None:
    kernel = compose(name, objects)
    module = kernel.module
    add_objects(module, kernel.objects)
    try:
        run_pipeline(parse_pipeline("check,place"), module)
    except LinkError as problem:
        pytest.fail(str(problem))
    program = ir.program(module)
    diagnostics = Diagnostics()
    for placed in program.kernels:
        check_static(placed, program.components, diagnostics)
    assert diagnostics.items == []
