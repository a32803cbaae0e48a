"""Timelines: from the buffer of a launch to slices and the JSON that Perfetto reads."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipelink.runtime.debug import Debug, RoleThreads, Site
from pipelink.runtime.timeline import EVENT, LANE, Timeline, from_json, read
from pipelink.support.diagnostics import LinkError

LOAD, MMA = "@load::@load", "@mma::@run"
DEBUG = Debug(
    offset=64,
    limit_ms=0,
    timeline=True,
    stays=False,
    lanes=3,
    roles=(RoleThreads(LOAD, 256, 1, 0), RoleThreads(MMA, 0, 256, 1)),
    sites=(
        Site("@load::@ab", "acquire", "@load::@ab", 2, (LOAD,), (MMA,)),
        Site("@mma::@ab", "wait", "@load::@ab", 2, (MMA,), (LOAD,)),
        Site("@mma::@turn", "take", "@load::@turn", 1, (MMA,), (LOAD,)),
        Site("@load::@ready", "await", "@mma::@ready", 1, (LOAD,), (MMA,)),
        Site("@load::@empty", "mbarrier", "@load::@empty", 2, (LOAD,), (MMA,)),
        Site("@load::@met", "sync", "@load::@met", 1, (LOAD,), (LOAD,)),
        Site("@mma::@order", "take", "@mma::@order", 1, (MMA,), (MMA,)),
        Site("@mma::@order", "pass", "@mma::@order", 1, (MMA,), (MMA,)),
    ),
)
ACQUIRE, WAIT, TAKE, AWAIT, OWN, SYNC, TAKE_TURN, PASS_TURN = range(8)
ROOM = 8
START = 2**32 - 500  # the 32-bit clock wraps
BASE = 10**18


def lane(sm: int, first: int, last: int, *events: tuple[int, int, int, int], count: int | None = None) -> bytes:
    """Clock readings in cycles from START; the clock runs at 2 GHz, the timer shows whole 32 ns."""
    time = [(BASE + ticks // 2) // 32 * 32 for ticks in (first, last)]
    clocks = [(START + ticks) % 2**32 for ticks in (first, last)]
    head = LANE.pack(sm, *clocks, len(events) if count is None else count, *time)
    body = b"".join(
        EVENT.pack(site + 1, stage, (START + begin) % 2**32, (START + end) % 2**32)
        for site, stage, begin, end in events
    )
    return head + body.ljust(ROOM * EVENT.size, b"\0")


NOTHING = bytes(LANE.size + ROOM * EVENT.size)
LOADER = lane(7, 0, 100_000, (ACQUIRE, 0, 10, 20), (ACQUIRE, 1, 40, 50), (ACQUIRE, 0, 60, 3000))
WORKER = lane(7, 0, 100_000, (WAIT, 0, 10, 1000), (WAIT, 1, 2000, 2010), (WAIT, 0, 3000, 4000), (TAKE, 0, 5000, 5002))


def near(value: float, cycles: float) -> bool:
    return abs(value - cycles / 2) < 1e-3 * cycles + 40


def test_waits_and_work() -> None:
    timeline = read("gemm", DEBUG, LOADER + WORKER + NOTHING, ROOM, 132)
    assert (timeline.traced, timeline.ctas, timeline.dropped) == (1, 132, 0)
    lanes = timeline.lanes(0)
    assert list(lanes) == [LOAD, f"{MMA} warpgroup 0", "@load::@ab[0]", "@load::@ab[1]"]
    named = [(s.name, s.kind) for s in lanes[f"{MMA} warpgroup 0"]]
    assert named == [
        ("begin", "work"), ("wait ab[0]", "wait"), ("use ab[0]", "work"), ("wait ab[1]", "wait"), ("use ab[1]", "work"),
        ("wait ab[0]", "wait"), ("use ab[0]", "work"), ("take turn", "wait"), ("after turn", "work"),
    ]  # fmt: skip
    for s, cycles in zip(lanes[f"{MMA} warpgroup 0"][1:3], ((10, 1000), (1000, 2000)), strict=True):
        assert near(s.begin, cycles[0])
        assert near(s.end, cycles[1])


def test_waits_for_signals_own_mbarriers_and_clusters_are_shown() -> None:
    """With the number of the counter, or of the mbarrier; what comes after is work."""
    lane_of_load = lane(7, 0, 10_000, (AWAIT, 37, 10, 4000), (OWN, 1, 5000, 5100), (SYNC, 0, 6000, 6100))
    timeline = read("gemm", DEBUG, lane_of_load + NOTHING + NOTHING, ROOM, 1)
    named = [(s.name, s.kind) for s in timeline.lanes(0)[LOAD]]
    assert named == [
        ("begin", "work"), ("await ready[37]", "wait"), ("after ready[37]", "work"), ("mbarrier empty[1]", "wait"),
        ("after empty[1]", "work"), ("sync met", "wait"), ("after met", "work"),
    ]  # fmt: skip
    assert near(timeline.lanes(0)[LOAD][1].end, 4000)
    assert list(timeline.lanes(0)) == [LOAD]  # neither is a slot of a ring


def test_turns_of_warpgroups_have_lanes() -> None:
    """A turn lasts from when it is taken until it is passed on; only taking it is a wait."""
    first = lane(7, 0, 9000, (TAKE_TURN, 0, 10, 20), (WAIT, 0, 100, 900), (PASS_TURN, 0, 1000, 1004))
    second = lane(
        7, 0, 9000, (TAKE_TURN, 0, 10, 1010), (PASS_TURN, 0, 2000, 2004), (TAKE_TURN, 0, 2100, 3000)
    )  # whose last turn nobody saw the end of
    timeline = read("attention", DEBUG, NOTHING + first + second, ROOM, 1)
    lanes = timeline.lanes(0)
    turns = [f"@mma::@order warpgroup {group}" for group in (0, 1)]
    assert list(lanes) == [f"{MMA} warpgroup 0", f"{MMA} warpgroup 1", *turns]
    for name, expected in zip(turns, ((20, 1000), (1010, 2000)), strict=True):
        (turn,) = lanes[name]
        assert (turn.name, turn.kind) == ("turn", "turn")
        assert near(turn.begin, expected[0])
        assert near(turn.end, expected[1])
    assert [(s.name, s.kind) for s in lanes[f"{MMA} warpgroup 0"]] == [
        ("begin", "work"), ("take order", "wait"), ("after order", "work"), ("wait ab[0]", "wait"),
        ("use ab[0]", "work"),
    ]  # fmt: skip


def test_slots_are_filled_and_in_use() -> None:
    lanes = read("gemm", DEBUG, LOADER + WORKER + NOTHING, ROOM, 1).lanes(0)
    found = [(s.kind, s.begin, s.end) for s in lanes["@load::@ab[0]"]]
    expected = [("filling", 20, 1000), ("in use", 1000, 3000), ("filling", 3000, 4000)]
    assert [kind for kind, _, _ in found] == [kind for kind, _, _ in expected]
    for (_, begin, end), (_, first, last) in zip(found, expected, strict=True):
        assert near(begin, first)
        assert near(end, last)
    assert [s.kind for s in lanes["@load::@ab[1]"]] == ["filling"]


def test_ctas_of_other_sms_are_aligned_and_overflow_is_said() -> None:
    """The second SM's clock reads otherwise; both begin at the same time by the timer."""
    other = lane(8, 40_000, 140_000, (ACQUIRE, 0, 40_100, 40_200), count=ROOM + 3)
    early = LANE.pack(8, (START + 5_000_000) % 2**32, (START + 5_100_000) % 2**32, ROOM + 3, BASE, BASE + 50_000)
    shifted = early + EVENT.pack(1, 0, (START + 5_000_100) % 2**32, (START + 5_000_200) % 2**32).ljust(
        ROOM * EVENT.size, b"\0"
    )
    assert len(other) == len(shifted)
    timeline = read("gemm", DEBUG, LOADER + NOTHING + NOTHING + shifted + NOTHING + NOTHING, ROOM, 2)
    assert timeline.dropped == 3
    first, second = (timeline.lanes(cta)[LOAD][0] for cta in (0, 1))
    assert abs(first.begin - second.begin) < 64


def test_a_role_that_did_not_end() -> None:
    """A hang: its last events are there."""
    cut = LANE.pack(7, START, 0, 0, BASE, 0) + LOADER[LANE.size :]
    timeline = read("gemm", DEBUG, cut + WORKER + NOTHING, ROOM, 1)
    assert timeline.lanes(0)[LOAD][-1].name == "acquire ab[0]"


def test_the_json(tmp_path: Path) -> None:
    timeline = read("gemm", DEBUG, LOADER + WORKER + NOTHING, ROOM, 1)
    timeline.save(tmp_path / "trace.json")
    data: dict[str, Any] = json.loads((tmp_path / "trace.json").read_text())
    events = data["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X"}
    assert {"name": "CTA 0 on SM 7"} in [event["args"] for event in events if event["ph"] == "M"]
    assert all(event["dur"] >= 0 for event in events if event["ph"] == "X")
    again = from_json(data)
    assert [s.name for s in again.slices] == [s.name for s in timeline.slices]
    assert timeline.to_json(ctas=[3])["traceEvents"] == []
    with pytest.raises(LinkError, match="cannot write"):
        timeline.save(tmp_path)


def test_nothing_was_noted() -> None:
    assert read("gemm", DEBUG, NOTHING * 3, ROOM, 1) == Timeline("gemm", (), 0, 1, 1)
