"""A program that hangs, or in which somebody goes on too early, is refused; others are not: against a simulator."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pipelink.runtime import Program
from pipelink.support.diagnostics import Diagnostic, LinkError
from test.programs import COUNTERS, LAUNCH, Listed, add_stages, built, contract, dealt, mutated, simulate, staged

CONTRACT = contract()


def verdict(program: Program) -> str:
    """The id of what is wrong; empty where nothing is."""
    try:
        program.check(LONGEST=COUNTERS)
    except LinkError as problem:
        ids = [diagnostic.id for diagnostic in problem.diagnostics]
        return "unmet-await" if "unmet-await" in ids else ids[0]
    return ""


def hands(*ctas: str) -> Program:
    """``"0:2>1:3"``: an instruction that awaits 2 at counter 0 and adds 3 to counter 1."""
    program = Program(CONTRACT, len(ctas))
    for cta, text in enumerate(ctas):
        for one in text.split():
            (at, least), (to, amount) = (part.split(":") for part in one.split(">"))
            program.add(cta, "hand", at=int(at), least=int(least), to=int(to), amount=int(amount))
    return program


def refused(program: Program, **values: int) -> Diagnostic:
    with pytest.raises(LinkError) as caught:
        program.check(**{"LONGEST": 10, **values})
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_the_stages_of_a_megakernel_are_taken() -> None:
    program = Program(CONTRACT, 132)
    add_stages(program, [(8192, 2048), (2048, 8192), (64, 8192), (8, 2048)])
    program.check(LONGEST=program.longest)
    assert simulate(program, random.Random(0)) == "done"


@pytest.mark.parametrize("make", [staged, dealt])
def test_real_programs_are_taken(make: Callable[[random.Random], Listed]) -> None:
    for seed in range(100):
        generator = random.Random(seed)
        program = built(make(generator), CONTRACT)
        assert verdict(program) == ""
        assert simulate(program, generator) == "done"


def test_mutants_that_hang_or_go_on_too_early_are_refused() -> None:
    """Of 400, each run in eight orders.  What is said to hang hangs in all orders, since counters only rise."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for seed in range(400):
        generator = random.Random(seed)
        kind, listed = mutated((staged, dealt)[seed % 2](generator), generator)
        program = built(listed, CONTRACT)
        outcomes = {simulate(program, generator) for _ in range(8)}
        found = verdict(program)
        shown = "hang" if "hang" in outcomes else "early" if "early" in outcomes else "done"
        seen[kind, shown, found] += 1
        if not found:
            assert outcomes == {"done"}, (seed, kind)
        if found in ("unmet-await", "program-deadlock"):
            assert outcomes == {"hang"}, (seed, kind)
    for shown in ("hang", "early", "done"):
        assert sum(count for (_, outcome, _), count in seen.items() if outcome == shown) >= 20, seen
    for id_ in ("unmet-await", "program-deadlock", "counter-reuse", ""):
        assert sum(count for (_, _, found), count in seen.items() if found == id_) >= 10, seen


def test_small_programs_of_any_kind() -> None:
    """Three CTAs, three counters: what is taken ends in every order that was tried, and nobody goes on early."""
    seen: Counter[str] = Counter()
    for seed in range(4000):
        generator = random.Random(seed)
        ctas = [
            " ".join(
                f"{generator.randrange(3)}:{generator.randrange(3)}>{generator.randrange(3)}:{generator.randrange(2)}"
                for _ in range(generator.randrange(1, 4))
            )
            for _ in range(generator.randrange(1, 4))
        ]
        program = hands(*ctas)
        found = verdict(program)
        seen[found] += 1
        outcomes = {simulate(program, generator) for _ in range(4)}
        if not found:
            assert outcomes == {"done"}, ctas
        if found in ("unmet-await", "program-deadlock"):
            assert outcomes == {"hang"}, ctas
    assert all(seen[id_] >= 50 for id_ in ("", "unmet-await", "program-deadlock", "counter-reuse")), seen


def test_an_await_that_nothing_meets() -> None:
    found = refused(hands("0:0>1:2 0:0>2:1", "0:0>1:1 1:4>3:1"))
    assert found.id == "unmet-await"
    assert found.message == "instruction 1 of CTA 1 ('hand') awaits 4 at counter 1 of 'stages', which gets 3"
    assert [note.message for note in found.notes] == [
        "instruction 0 of CTA 0 ('hand') adds 2",
        "instruction 0 of CTA 1 ('hand') adds 1",
    ]


def test_a_counter_that_is_used_twice() -> None:
    found = refused(hands("0:0>1:1 1:1>1:1", "1:2>2:1"))
    assert found.id == "counter-reuse"
    assert found.message == (
        "instruction 1 of CTA 0 ('hand') awaits 1 at counter 1 of 'stages', which gets 2: "
        "it goes on before all of them are there"
    )


def test_ctas_that_wait_in_a_circle() -> None:
    found = refused(hands("0:0>9:1", "2:1>1:1 0:0>4:1", "1:1>3:1", "0:0>5:1 3:1>2:1"))
    assert found.id == "program-deadlock"
    assert found.message == (
        "instruction 0 of CTA 1 ('hand') awaits 1 at counter 2 of 'stages', which has 0: "
        "3 CTAs wait for each other in a circle"
    )
    assert [note.message for note in found.notes] == [
        "instruction 1 of CTA 3 ('hand'), which adds to counter 2 of 'stages', is not reached: "
        "instruction 1 of CTA 3 ('hand') awaits 1 at counter 3 of 'stages', which has 0",
        "instruction 0 of CTA 2 ('hand'), which adds to counter 3 of 'stages', is not reached: "
        "instruction 0 of CTA 2 ('hand') awaits 1 at counter 1 of 'stages', which has 0",
        "instruction 0 of CTA 1 ('hand'), which adds to counter 1 of 'stages', is not reached: "
        "instruction 0 of CTA 1 ('hand') awaits 1 at counter 2 of 'stages', which has 0",
    ]


def test_a_cta_that_waits_for_itself() -> None:
    found = refused(hands("0:0>2:1 1:1>3:1 0:0>1:1", "3:1>4:1"))
    assert found.id == "program-deadlock"
    assert found.message.endswith("counter 1 of 'stages', which has 0: the CTA waits for itself")


def test_all_ctas_meet_where_an_instruction_adds_before_it_awaits() -> None:
    """The order is that of the declarations; the other one hangs."""
    awaits, adds = LAUNCH["operations"][2]["signals"]
    for signals, id_ in (([adds, awaits], ""), ([awaits, adds], "program-deadlock")):
        meet = {**LAUNCH["operations"][2], "signals": signals}
        program = Program(contract(operations=[meet]), 3)
        for cta in range(3):
            program.add(cta, "hand", at=1, least=3, to=1, amount=1)
        assert verdict(program) == id_


def test_no_more_than_eight_counters_are_reported() -> None:
    program = hands(" ".join(f"{counter}:1>50:0" for counter in range(20)))
    with pytest.raises(LinkError) as caught:
        program.check(LONGEST=60)
    assert len(caught.value.diagnostics) == 8
    assert caught.value.diagnostics[0].hint == "of 20 such counters these are the first"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0:0>10:1", "instruction 0 of CTA 0 ('hand') adds 1 at counter 10 of 'stages': it has 10, and each holds up"),
        ("-1:1>1:1", "instruction 0 of CTA 0 ('hand') awaits 1 at counter -1 of 'stages': it has 10, and each holds"),
        ("0:0>1:-1", "instruction 0 of CTA 0 ('hand') adds -1 at counter 1 of 'stages': it has 10, and each holds up"),
        ("0:0>1:2147483647 " * 3, "counter 1 of 'stages' gets 6442450941, and holds up to 4294967295"),
    ],
)
def test_counters_that_there_are_not(text: str, message: str) -> None:
    found = refused(hands(text))
    assert found.id == "argument-range"
    assert found.message.startswith(message)


def test_values_of_the_launch() -> None:
    program = hands("0:0>1:1")
    with pytest.raises(LinkError, match=r"pass LONGEST= \[missing-argument\]"):
        program.check()
    with pytest.raises(LinkError, match=r"no dimension or integer 'LONGETS'.*\[unknown-argument\]"):
        program.check(LONGETS=3)
    with pytest.raises(LinkError, match=r"'LONGEST': expected an integer, given '3' \[argument-type\]"):
        program.check(LONGEST="3")  # type: ignore[arg-type]


def test_parameters_and_passive_instances_in_expressions() -> None:
    """A name is an operand of the instance, or is given by the launch, which may have equal names for other things."""
    signals: list[dict[str, Any]] = [
        {
            "does": "await", "counters": "stages", "index": "stage / width", "count": "tiles", "instance": "store",
            "given": [{"name": "width", "value": "2"}, {"name": "tiles", "value": "stage + rows"}],
        },
        {"does": "add", "counters": "stages", "index": "stage", "count": "1"},
    ]  # fmt: skip
    operation = {
        "name": "tile", "opcode": 0, "bytes": 8, "signals": signals,
        "operands": [
            {"name": "stage", "type": "i32", "offset": 0}, {"name": "store.stage", "type": "i32", "offset": 4},
        ],
    }  # fmt: skip
    launch = contract(
        arguments=[*LAUNCH["arguments"], {"name": "stage", "kind": "scalar", "type": "i32"}],
        derived=[{"name": "half", "value": "LONGEST / 2"}, {"name": "rows", "value": "half - 3"}],
        operations=[operation],
    )
    program = Program(launch, 2)
    program.add(0, "tile", **{"stage": 5, "store.stage": 2})
    program.add(1, "tile", **{"stage": 1, "store.stage": 11})
    found = refused(program, LONGEST=10, stage=-1)
    assert found.message == (
        "instruction 0 of CTA 0 ('tile') awaits 1 at counter 1 of 'stages', which has 0: "
        "2 CTAs wait for each other in a circle"
    )
    with pytest.raises(LinkError) as caught:
        program.check(LONGEST=12, stage=-1)
    found = caught.value.diagnostics[0]
    assert found.message == "instruction 0 of CTA 0 ('tile') awaits 2 at counter 1 of 'stages', which gets 1"
    assert str(launch.operations[0].signals[0]) == (
        "awaits tiles at stages[stage / width] (width = 2, tiles = stage + rows, operands of store)"
    )


def test_a_division_by_zero() -> None:
    hand = LAUNCH["operations"][2]
    signals = [{"does": "add", "counters": "stages", "index": "at / least", "count": "1"}]
    program = Program(contract(operations=[{**hand, "signals": signals}]), 1)
    program.add(0, "hand", at=1, least=0, to=1, amount=1)
    found = refused(program)
    assert (found.id, found.message) == ("bad-expression", "instruction 0 of CTA 0 ('hand') divides by zero")


def test_an_operation_that_does_not_say_what_it_awaits() -> None:
    silent = {**LAUNCH["operations"][2], "signals": [], "unstated": ["@hand::@ready"]}
    program = Program(contract(operations=[silent]), 1)
    program.check()  # no instruction names it
    program.add(0, "hand", at=1, least=0, to=1, amount=1)
    found = refused(program)
    assert found.id == "unproven"
    assert found.message == "operation 'hand' does not say what it does at @hand::@ready"


def test_a_hundred_thousand_instructions() -> None:
    """It takes 0.6 to 0.9 s of a core; the bound is for slow and busy ones."""
    program = Program(CONTRACT, 132)
    add_stages(program, [(8192, 2048)] * 760)
    assert sum(map(len, program.ctas)) > 100_000
    start = time.process_time()
    program.check(LONGEST=760)
    assert time.process_time() - start < 6
