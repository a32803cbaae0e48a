"""The exploration behind pass ``prove``: sizes, limits, counterexamples, and what is the same twice."""

from __future__ import annotations

import time

import pytest

from benchmarks.linker import chain
from pipelink import ir
from pipelink.analysis.protocol.compile import compile_kernel
from pipelink.analysis.protocol.decide import decide
from pipelink.analysis.protocol.explore import LimitReached, Limits
from pipelink.ir.views import Program, program
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.passes.prove import prove_kernel
from pipelink.support.diagnostics import Diagnostic, Diagnostics

TILE = '{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}'
SCHEDULER = """module @tiles attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "next", direction = "answers", kind = "call", signature = "bool()"} : () -> ()
}"""


def component(name: str, text: str, *ports: str, warps: int = 1) -> str:
    """A component with one role; ports are ``>x`` (out), ``<x`` (in), ``+x`` and ``-x`` (tokens passed and taken)."""
    lines: list[str] = []
    for port in ports:
        direction = "out" if port[0] in ">+" else "in"
        kind = (
            'kind = "token"'
            if port[0] in "+-"
            else f'kind = "stream", touch = "threads", stages = [1, 4], tiles = [{TILE}]'
        )
        lines.append(f'"pipelink.port"() {{sym_name = "{port[1:]}", direction = "{direction}", {kind}}} : () -> ()')
    body = "\n  ".join(lines)
    return f"""module @{name} attributes {{pipelink.component = {{abi = 1}}}} {{
  "pipelink.role"() {{sym_name = "run", warps = {warps}}} : () -> ()
  "pipelink.port"() {{sym_name = "work", direction = "calls", kind = "call", signature = "bool()"}} : () -> ()
  "pipelink.param"() {{sym_name = "k", type = "i32", bytes = 4, align = 4}} : () -> ()
  "pipelink.protocol"() {{of = "run", text = "{text}"}} : () -> ()
  {body}
}}"""


def kernel(*connections: str, **instances: str) -> str:
    """A kernel; a connection is ``a.x b.y``, with further attributes behind."""
    lines = [
        f'"pipelink.instance"() {{sym_name = "{n}", component = @{c}}} : () -> ()'
        for n, c in (*instances.items(), ("s", "tiles"))
    ]
    for connection in [*connections, *(f"{name}.work s.next" for name in instances)]:
        source, target, *rest = connection.split(" ", 2)
        ends = f"source = @{source.replace('.', '::@')}, target = @{target.replace('.', '::@')}"
        lines.append(f'"pipelink.connect"() {{{ends}{", " + rest[0] if rest else ""}}} : () -> ()')
    return f"""{SCHEDULER}
module @kernel attributes {{pipelink.kernel = {{target = "sm_90a"}}}} {{
  "pipelink.derive"() {{name = "k", value = "4 * sms"}} : () -> ()
  "pipelink.grid"() {{value = ["1", "1", "1"]}} : () -> ()
  {" ".join(lines)}
}}"""


def placed(text: str) -> Program:
    module = ir.parse(text)
    run_pipeline(parse_pipeline("check,place"), module.operation)
    return program(module)


def proved(text: str) -> tuple[int, list[Diagnostic]]:
    """How many states there were, and what was said."""
    views, diagnostics = placed(text), Diagnostics()
    states = prove_kernel(views.kernels[0], views.components, diagnostics)
    return states, diagnostics.items


def pair(writer: str, reader: str, *, stages: int = 2, warps: int = 1) -> str:
    return "\n".join(
        [
            component("w", writer, ">x"),
            component("r", reader, "<x", warps=warps),
            kernel(f"w.x r.x stages = {stages}", w="w", r="r"),
        ]
    )


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_the_depth_of_a_regular_ring_adds_no_states(stages: int) -> None:
    writer, reader = (
        "repeat work { repeat k { x.acquire; x.commit; } }",
        "repeat work { repeat k { x.wait; x.release; } }",
    )
    assert proved(pair(writer, reader, stages=stages)) == (5, [])


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_what_is_kept_has_to_fit(stages: int) -> None:
    """Two slots are kept, so three are needed; the default needs one."""
    _, said = proved(pair("repeat k { x.acquire; x.commit; }", "repeat k { x.wait; x.release keep 2; }", stages=stages))
    assert [item.id for item in said] == (["deadlock"] if stages < 3 else [])


def test_loops_by_one_parameter_correspond_by_their_rings() -> None:
    """A loader fills two rings in turn; each consumer knows one of the two loops."""
    text = "\n".join(
        [
            component(
                "load",
                "repeat work { repeat k { a.acquire; a.commit; } repeat k { b.acquire; b.commit; } }",
                ">a",
                ">b",
            ),
            component("use", "repeat work { repeat k { x.wait; x.release; } }", "<x"),
            kernel("load.a one.x", "load.b two.x", load="load", one="use", two="use"),
        ]
    )
    states, said = proved(text)
    assert not said
    assert states < 50


def test_a_parameter_is_one_number() -> None:
    """Two loops over one ring meet one loop of twice as many steps: right, if both run equally often."""
    loop = "repeat k { x.acquire; x.commit; }"
    _, said = proved(pair(f"{loop} {loop}", "repeat k { x.wait; x.release; x.wait; x.release; }"))
    assert [(item.severity, item.id) for item in said] == [("warning", "unproven")]
    assert "'k' from 0 to 5 only" in said[0].message


def test_a_parameter_that_is_one_number_can_still_be_wrong() -> None:
    loop = "repeat k { x.acquire; x.commit; }"
    _, said = proved(pair(f"{loop} {loop}", "repeat k { x.wait; x.release; }"))
    assert [item.id for item in said] == ["rate-mismatch"]
    trace = said[0].trace
    assert trace is not None
    assert trace.counts == (("k", "1"),)


def test_who_lags_behind_does_not_make_it_endless() -> None:
    """One role's loop begins when the other's is over, and both ask the same scheduler."""
    text = "\n".join(
        [
            component("a", "repeat work { y.acquire; y.commit; y.acquire; y.commit; } go.pass;", ">y", "+go"),
            component("b", "go.take; repeat work { y.acquire; y.commit; } ", ">y", "-go"),
            component("r", "", "<x").replace('"pipelink.protocol"() {of = "run", text = ""} : () -> ()', ""),
            kernel("a.y p.x", "b.y q.x", "a.go b.go", a="a", b="b", p="r", q="r"),
        ]
    )
    states, said = proved(text)
    assert not said
    assert states < 500


def test_a_counterexample_is_the_shortest_and_hangs_together() -> None:
    _, said = proved(pair("repeat k { x.acquire; x.commit; }", "repeat k { x.wait; }", stages=2))
    trace = said[0].trace
    assert trace is not None
    assert [step.action for step in trace.steps if step.blocked] == ["acquire x[0]", "wait x[0]"]
    assert trace.counts == (("k", "3"),)
    assert set(trace.cycle) == set(trace.lanes) == {"@w::@run", "@r::@run"}
    for number, step in enumerate(trace.steps):
        assert all(cause < number for cause in step.after)
    waits = [step for step in trace.steps if step.action.startswith("wait") and not step.blocked]
    assert all(trace.steps[wait.after[0]].action.startswith("commit") for wait in waits)


def test_the_same_input_gives_the_same_words() -> None:
    text = pair("repeat k { x.acquire; x.commit; }", "repeat k { x.wait; x.release by 1 warp; }", warps=4)
    first, again = proved(text), proved(text)
    assert [item.to_json() for item in first[1]] == [item.to_json() for item in again[1]]
    assert first[1][0].id == "slot-race"


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        (Limits(states=2), "states"),
        (Limits(steps=5), "steps"),
        (Limits(seconds=0), "seconds"),
        (Limits(megabytes=0), "megabytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_limit_is_never_passed_in_silence(limits: Limits, what: str) -> None:
    views = placed(pair("repeat k { x.acquire; x.commit; }", "repeat k { x.wait; x.release; }"))
    (part,) = compile_kernel(views.kernels[0], views.components)
    with pytest.raises(LimitReached) as caught:
        decide(part.system, limits)
    assert caught.value.what == what


def test_what_has_nothing_in_common_is_explored_apart() -> None:
    loop = pair("repeat work { x.acquire; x.commit; }", "repeat work { x.wait; x.release; }")
    text = "\n".join(
        [
            loop.partition(SCHEDULER)[0],
            kernel("w.x r.x", "v.x q.x", w="w", r="r", v="w", q="r"),
        ]
    )
    views = placed(text)
    parts = compile_kernel(views.kernels[0], views.components)
    assert [len(part.system.agents) for part in parts] == [2, 2]


def test_sixty_four_instances_take_seconds() -> None:
    views, diagnostics = placed(chain(32)), Diagnostics()
    begin = time.process_time()
    prove_kernel(views.kernels[0], views.components, diagnostics)
    assert not diagnostics.items
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(("written", "ids"), [(1000, []), (999, ["rate-mismatch"])])
def test_long_loops_of_known_counts_are_those(written: int, ids: list[str]) -> None:
    writer, reader = (
        f"repeat {written} {{ x.acquire; x.commit; }}",
        "repeat 500 { x.wait; x.release; x.wait; x.release; }",
    )
    _, said = proved(pair(writer, reader))
    assert [item.id for item in said] == ids
