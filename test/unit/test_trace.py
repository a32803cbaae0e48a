"""A counterexample as text, JSON and picture."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from pipelink.map.trace import MAX_DRAWN, render_json, render_svg, render_text
from pipelink.support.diagnostics import MAX_STEPS, Diagnostic, Location
from pipelink.support.diagnostics import render_json as all_json
from pipelink.support.diagnostics import render_text as shown
from pipelink.support.trace import Step, Trace

LOAD, MMA = "@load::@load", "@mma::@mma"
STUCK = Trace(
    "every slot is held",
    (LOAD, MMA),
    (
        Step(LOAD, "acquire ab[0]", "free from the start"),
        Step(LOAD, "copy ab[0]", location=Location("loader.cu", 7)),
        Step(MMA, "wait ab[0]", after=(1,)),
        Step(LOAD, "acquire ab[0]", "nobody releases slot 0", blocked=True),
        Step(MMA, "wait ab[0]", "slot 0 is not filled again", blocked=True),
    ),
    cycle=(LOAD, MMA),
    counts=(("k_tiles", "2"),),
)
RACE = Trace(
    "slot 0 is overwritten while it is read",
    (LOAD, MMA),
    (Step(LOAD, "copy ab[0]", "a < b & c"), Step(MMA, "read ab[0]")),
    conflict=(0, 1),
)
LONG = Trace(
    "a long way",
    (LOAD, MMA),
    tuple(Step(LOAD if n % 2 else MMA, f"step {n}", after=(n - 1,) if n else ()) for n in range(200))
    + (Step(MMA, "wait", after=(3,), blocked=True),),
)
ALONE = Trace("nobody else", (LOAD,), (Step(LOAD, "wait ab[0]", blocked=True),), cycle=(LOAD,))


def test_text_has_steps_in_order_and_the_cycle_last() -> None:
    assert STUCK.lines(24) == [
        "counterexample: every slot is held, with k_tiles = 2",
        "     1  @load::@load  acquire ab[0]  free from the start",
        "     2  @load::@load  copy ab[0]",
        "     3  @mma::@mma    wait ab[0]     after 2",
        "x    4  @load::@load  acquire ab[0]  waits for ever: nobody releases slot 0",
        "x    5  @mma::@mma    wait ab[0]     waits for ever: slot 0 is not filled again",
        "cycle: @load::@load waits for @mma::@mma, which waits for @load::@load",
    ]
    assert RACE.lines(24)[1:] == [
        "!    1  @load::@load  copy ab[0]  a < b & c",
        "!    2  @mma::@mma    read ab[0]",
        "conflict: steps 1 and 2",
    ]
    assert ALONE.lines(24)[-1] == "cycle: @load::@load waits for @load::@load"


def test_text_counts_what_it_leaves_out() -> None:
    lines = LONG.lines(MAX_STEPS)
    steps = [line for line in lines[1:] if "more step" not in line]
    hidden = [int(line.split()[1]) for line in lines if "more step" in line]
    assert len(steps) == MAX_STEPS
    assert len(steps) + sum(hidden) == len(LONG.steps)
    assert steps[0].endswith("step 3    after 3")  # what the blocked step came from
    assert steps[-1].startswith("x  201")


def test_text_shows_what_was_done_to_the_slot_that_is_waited_for() -> None:
    filler = tuple(Step(MMA, f"wait ab[{1 + n % 3}]") for n in range(100))
    steps = (Step(LOAD, "copy ab[1]"), Step(LOAD, "copy ab[0]"), *filler, Step(LOAD, "acquire ab[0]", blocked=True))
    assert Trace("t", (LOAD, MMA), steps).shown(5) == (1, 99, 100, 101, 102)


def test_a_diagnostic_shows_its_trace() -> None:
    item = Diagnostic("error", "arrival-count", "m", trace=STUCK, hint="h")
    lines = shown(item).splitlines()
    assert lines == ["error: m [arrival-count]", *STUCK.lines(MAX_STEPS), "hint: h"]
    same = Diagnostic("error", "arrival-count", STUCK.title, trace=STUCK)
    assert shown(same).splitlines()[1] == "counterexample: with k_tiles = 2"
    assert json.loads(all_json([item]))[0]["trace"]["cycle"] == [LOAD, MMA]


def test_json_keeps_everything() -> None:
    found = json.loads(render_json([STUCK]))[0]
    assert found["counts"] == {"k_tiles": "2"}
    assert found["steps"][1]["location"] == {"file": "loader.cu", "line": 7, "column": 0}
    assert found["steps"][2] == {
        "lane": MMA, "action": "wait ab[0]", "detail": "", "after": [1], "blocked": False, "location": None,
    }  # fmt: skip
    assert [step["blocked"] for step in found["steps"]] == [False, False, False, True, True]


def test_text_of_several_traces() -> None:
    assert render_text([RACE, ALONE]).count("counterexample: ") == 2


@pytest.mark.parametrize("trace", [STUCK, RACE, LONG, ALONE], ids=["stuck", "race", "long", "alone"])
def test_the_picture_is_whole(trace: Trace) -> None:
    said = "\n".join(ET.fromstring(render_svg(trace)).itertext())
    assert trace.title in said
    for index in trace.shown(MAX_DRAWN):
        assert trace.steps[index].lane in said
        assert trace.steps[index].action in said
    assert ("steps are left out" in said) == (len(trace.steps) > MAX_DRAWN)
    assert ("waits for" in said.replace("waits for ever", "")) == (len(trace.cycle) > 1)


def test_what_waits_stands_below_what_lets_it_go_on() -> None:
    boxes = [box for box in ET.fromstring(render_svg(STUCK)).iter("{http://www.w3.org/2000/svg}rect") if len(box)]
    height = {box[0].text: float(box.attrib["y"]) for box in boxes}
    copied = height["@load::@load: copy ab[0] (loader.cu:7)"]
    assert copied < height["@mma::@mma: wait ab[0]"]
    assert height["@mma::@mma: wait ab[0], slot 0 is not filled again"] == max(height.values())


def test_the_picture_follows_the_viewer_unless_told() -> None:
    assert "prefers-color-scheme:dark" in render_svg(STUCK)
    light, dark = (render_svg(STUCK, scheme) for scheme in ("light", "dark"))
    assert "prefers-color-scheme" not in light + dark
    assert light != dark
