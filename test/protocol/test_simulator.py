"""The simulator itself: right compositions pass, each hand-broken one fails for its reason."""

from __future__ import annotations

import pytest

from pipelink.ir import parse, program
from test.protocol.explore import Verdict
from test.protocol.inputs import INPUTS
from test.protocol.judge import judge
from test.protocol.mutants import opinion, placed


def verdict(name: str, *edits: tuple[str, str]) -> Verdict:
    text = placed(INPUTS[name])
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    views = program(parse(text))
    return judge(views.kernels[0], views.components)


@pytest.mark.parametrize("name", INPUTS)
def test_right_compositions_pass(name: str) -> None:
    views = program(parse(placed(INPUTS[name])))
    assert opinion(views.kernels[0], views.components) is None


@pytest.mark.parametrize(
    ("name", "old", "new", "kind", "says"),
    [
        ("gemm_2", "ab.acquire; ab.copy;", "ab.acquire;", "deadlock", "wait mma::ab"),
        ("gemm_2", "ab.release keep 1;", "ab.release keep 2;", "deadlock", "acquire load::ab"),
        ("gemm_2", "repeat k_tiles+ { ab.acquire", "repeat 2 { ab.acquire", "fault", "ends while a copy"),
        ("gemm_2", "ab.release; repeat", "ab.release by 1 warp; repeat", "fault", "while mma::mma[1:4] reads"),
        ("ends_2", " x.end;", "", "deadlock", "wait b::x"),
        ("ends_2", "x.end;", "x.end; x.acquire; x.commit;", "lost", "0 items read of 1"),
        ("ends_2", "x.wait; x.release;", "x.release keep 0;", "livelock", "no wait ever leaves"),
        ("elected", "met.sync; ", "", "fault", "while"),
        ("turns", "initial = 0", "initial = 1", "fault", "takes token 0"),
        ("turns", "initial = 1", "initial = 0", "deadlock", "take a::mine"),
        ("local_3", "ab.stages - 1", "ab.stages", "fault", "writes a::ab[0]"),
        ("two_readers", "met.sync; scratch.read", "scratch.read", "fault", "m::scratch"),
        ("two_readers", "by 1 warp; met.sync;", "by 1 warp;", "fault", "m::scratch"),
        ("handover", "full.sync; page.read;", "page.read; full.sync;", "fault", "was not written"),
        ("handover", "full.arrive;", "full.arrive; full.arrive;", "fault", "arrives twice"),
        ("handover", "free.sync;", "free.sync by 16 threads;", "fault", "16 threads of 1 warps"),
        ("accumulators", "acc.acquire; ", "", "fault", "holds none"),
        ("convert", "threads = 64 : i64}", "threads = 32 : i64}", "fault", "declared for 64"),
        ("overlaid", "early.read; met.sync;", "early.read;", "fault", "a::late"),
        ("echo", "repeat 1 {", "repeat 3 {", "deadlock", "acquire"),
        ("bound", "value = 3 : i64", "value = 2 : i64", "deadlock", "wait s::x"),
        ("choice", "dense { x.wait", "other { x.wait", "deadlock", "wait b::"),
        ("pair_of_slots", "keep 1", "keep 2", "deadlock", "acquire p::x"),
        ("clustered", "ab.wait; ab.release;", "ab.wait;", "deadlock", "acquire l::ab"),
        ("pages", "read.signal by 1 warp;", "", "signal", "at await a::read"),
        ("pages", "{ written.await;", "{ written.await; written.await;", "signal", "at await f::written"),
        ("own_mbarriers_1", "} free.wait;", "}", "fault", "writes a::page0[0]"),
        ("own_mbarriers_1", "met.sync; free.arrive", "free.arrive", "fault", "while a::a[0:1] writes"),
        ("own_mbarriers_2", "arrivals = 32 : i64", "arrivals = 31 : i64", "fault", "while a::a[0:1] writes"),
        ("own_mbarriers_2", "arrivals = 32 : i64", "arrivals = 33 : i64", "deadlock", "seen a::full"),
        ("exchange", "part.write; met.sync;", "part.write;", "fault", "CTA 1 writes e::part[0] (item 0) while"),
        ("exchange", "part.peer_read; met.sync;", "part.peer_read;", "fault", "CTA 1 reads e::part[0] (item 0) while"),
        ("exchange", "arrivals = 2 : i64", "arrivals = 1 : i64", "fault", "e::part"),
        ("exchange", "arrivals = 2 : i64", "arrivals = 4 : i64", "deadlock", "gather e::met"),
        ("exchange", 'unit = "warp"', 'unit = "thread"', "deadlock", "gather e::met"),
        ("pushed", "part.peer_write; met.sync;", "part.peer_write;", "fault", "e::part"),
        ("broadcast", "rank 0 { part.write; }", "rank 0 { part.write; met.sync; }", "deadlock", "gather e::met"),
        ("broadcast", "rank 0 { part.write; } ", "", "fault", "written in none"),
        ("exclusive", "repeat 2 {", "repeat 1 {", "lost", "4 items read of 5"),
        ("exclusive", "2 { x.wait; x.release;", "2 { x.wait; x.release keep 1;", "deadlock", "acquire w::x"),
        ("scratch", "threads = 128 : i64}", "threads = 64 : i64}", "fault", "barrier"),
        ("scratch", "meetings", "meeting", "fault", "scratch"),
        ("stored", "fence async; ", "", "fault", "without a fence"),
        ("stored", "tile.stored by 1 thread; met.sync;", "met.sync; tile.stored by 1 thread;", "fault", "a bulk copy"),
        ("stored", "tile.store by 1 thread", "tile.store by 2 threads", "fault", "a bulk copy of"),
        ("stored_parts", "tile.stored keep 1; ", "", "fault", "a bulk copy of"),
        ("stored_by_another", "fence async; ", "", "fault", "without a fence"),
        ("stored_by_another", "tile.stored; empty.arrive;", "empty.arrive; tile.stored;", "fault", "a bulk copy of"),
        ("stored_under", "early.stored;", "early.stored keep 1;", "fault", "a::late is written while"),
    ],
)  # fmt: skip
def test_broken_compositions_fail(name: str, old: str, new: str, kind: str, says: str) -> None:
    if name == "bound":  # one side alone
        text = placed(INPUTS[name]).replace(old, new, 1)
        views = program(parse(text))
        found = judge(views.kernels[0], views.components)
    else:
        found = verdict(name, (old, new))
    assert found.kind == kind
    assert found.problem is not None
    assert says in found.problem


def test_a_problem_comes_with_the_steps_that_lead_to_it() -> None:
    found = verdict("turns", ("initial = 0", "initial = 1"))
    assert found.path[-1] == "b::run[0:1]: take b::mine"
    assert dict(found.counts) == {("field", 0): 1}
