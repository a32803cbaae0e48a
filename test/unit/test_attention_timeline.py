"""The picture of attention's turns: what is drawn and said of a trace."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.attention import timeline as attention
from benchmarks.timeline import picture
from pipelink.runtime.timeline import Kind, Slice, Timeline

CORE, TURN = "@core::@attend", "@core::@turn"


def trace(*slices: tuple[str, Kind, float, float]) -> Timeline:
    found = tuple(Slice(3, 7, lane, f"{kind} of it", kind, begin, end) for lane, kind, begin, end in slices)
    return Timeline("attention", found, 0, 1, 1)


#: Of 3 microseconds of turns, in 1.5 the other warpgroup does not wait.
SLICES: tuple[tuple[str, Kind, float, float], ...] = (
    (f"{CORE} warpgroup 0", "work", 0, 1000),
    (f"{CORE} warpgroup 0", "wait", 1000, 2500),
    (f"{CORE} warpgroup 0", "work", 2500, 4000),
    (f"{CORE} warpgroup 1", "wait", 0, 1000),
    (f"{CORE} warpgroup 1", "work", 1000, 4000),
    ("@load::@k[0]", "filling", 0, 500),
    (f"{TURN} warpgroup 0", "turn", 0, 1000),
    (f"{TURN} warpgroup 0", "turn", 3000, 4000),
    (f"{TURN} warpgroup 1", "turn", 2000, 3000),
)


def test_how_much_of_a_turn_the_other_warpgroup_works() -> None:
    assert attention.together(trace(*SLICES), 3) == pytest.approx(0.5)
    assert attention.together(trace(*SLICES[:6]), 3) == 0


def test_two_turns_at_once_are_seen() -> None:
    assert attention.in_order(trace(*SLICES), 3)
    assert not attention.in_order(trace(*SLICES, (f"{TURN} warpgroup 1", "turn", 900, 1100)), 3)


def data(timeline: Timeline, **about: Any) -> dict[str, Any]:
    found = timeline.to_json()
    found["otherData"] |= {"gpu": "NVIDIA H200", "driver": "1", "toolkit": "13.0", "shape": [1, 32, 1024, 128], **about}
    return found


def test_the_picture_has_a_lane_for_each_warpgroups_turns() -> None:
    drawn = picture(data(trace(*SLICES), what="causal attention"))
    assert "One CTA of causal attention (1 x 32 x 1024 x 128, NVIDIA H200)" in drawn
    assert drawn.count('<rect class="turn"') == 1 + 3  # the legend's, and the turns
    assert ">turn, warpgroup 0</text>" in drawn
    assert ">turn, warpgroup 1</text>" in drawn
    said = attention.summary(data(trace(*SLICES), together=0.5))
    assert "1 × 32 × 1024, D 128" in said
    assert "in 50% of the time in which one warpgroup had the turn" in said


def test_a_kernel_without_turns_has_none_in_its_legend() -> None:
    drawn = picture(data(trace(*SLICES[:6])))
    assert "has the turn" not in drawn
    assert "One CTA of a GEMM" in drawn
