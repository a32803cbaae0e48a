"""The protocol language: what parses to what, what does not, hostile texts, and the default protocols."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

from pipelink.analysis.protocol.language import (
    actions_of,
    count_names,
    count_value,
    default,
    parse,
    place_of,
    protocol_of,
    steps_of,
)
from pipelink.ir import builder, new_context, program, verify
from pipelink.ir.views import Component
from pipelink.support import limits
from pipelink.support.diagnostics import LinkError, Location
from pipelink.support.protocol import Action, Block, Callers, Choose, Fence, Rank, Repeat, Until

HERE = Location("x.cu", 7)
TILE = {"element": "f32", "shape": [32], "layout": "row_major", "align": 128}


def spelled(block: Block) -> str:
    """The text of a block, which parses to it again."""
    parts: list[str] = []
    for step in block:
        match step:
            case Action(subject, verb, keep, by):
                name = subject if verb == "call" else f"{subject}.{verb}"
                keeping = "" if step.some else f" keep {keep}"
                parts.append(f"{name}{keeping}{f' by {by.count} {by.unit}' if by else ''};")
            case Repeat(count, body, at_least_once):
                parts.append(f"repeat {count}{'+' if at_least_once else ''} {{ {spelled(body)} }}")
            case Until(port, body):
                parts.append(f"until {port} {{ {spelled(body)} }}")
            case Choose(name, ways):
                parts.append(f"choose {name or ''} " + " or ".join(f"{{ {spelled(way)} }}" for way in ways))
            case Rank(rank, body):
                parts.append(f"rank {rank} {{ {spelled(body)} }}")
            case Fence():
                parts.append("fence async;")
    return " ".join(parts)


def test_every_kind_of_step() -> None:
    text = "repeat k+ { a.wait; a.release keep 2 by 3 warps; } until b { b.wait; } store; fence async;"
    assert parse(text, HERE) == (
        Repeat("k", (Action("a", "wait", column=13), Action("a", "release", 2, Callers(3, "warp"), 21, False)), True),
        Until("b", (Action("b", "wait", column=62),), 52),
        Action("store", "call", column=72),
        Fence("async", 79),
    )
    assert parse("choose left { a.wait; } or { } or { b; } rank 1 { c.pass by 1 thread; }", HERE) == (
        Choose("left", ((Action("a", "wait", column=15),), (), (Action("b", "call", column=37),))),
        Rank(1, (Action("c", "pass", 0, Callers(1, "thread"), 51),), 42),
    )


def test_counts_are_expressions_over_parameters_calls_and_depths() -> None:
    (step,) = parse("repeat (ab . stages - 1) * max(n,\n 2)+{ ab.wait; }", HERE)
    assert isinstance(step, Repeat)
    assert (step.count, step.at_least_once) == ("(ab.stages - 1) * max(n, 2)", True)
    assert count_names("(ab.stages - 1) * max(n, 2)") == ("ab.stages", "n")
    assert count_value("(ab.stages - 1) * max(n, 2)", {"ab.stages": 4, "n": 5}) == 15
    assert count_value("128 * 256 / 8192", {}) == 4
    with pytest.raises(LinkError, match="bad-expression"):
        count_value("1 / (n - n)", {"n": 3})


def test_keywords_are_names_where_a_subject_stands() -> None:
    (loop, *rest) = parse(
        "repeat repeat { repeat; until.wait; choose.release keep 0; } or.wait; rank; fence.pass;", HERE
    )
    assert isinstance(loop, Repeat)
    assert [(a.subject, a.verb) for a in actions_of((loop, *rest))] == [
        ("repeat", "call"), ("until", "wait"), ("choose", "release"), ("or", "wait"), ("rank", "call"),
        ("fence", "pass"),
    ]  # fmt: skip
    (choice, after) = parse("choose { a; } or { b; } or.wait;", HERE)
    assert isinstance(choice, Choose)
    assert len(choice.ways) == 2
    assert after == Action("or", "wait", column=25)


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "it is empty", 1),
        (";", "unexpected ';'", 1),
        ("a.wait", "expected ';' after the action, found the end", 7),
        ("a.;", "expected a verb, found ';'", 3),
        ("a.wait; }", "unexpected '}'", 9),
        ("repeat 3 a.wait;", "cannot parse expression '3 a.wait'", 8),
        ("repeat 3 { a.wait;", "expected a step or '}', found the end", 19),
        ("repeat 3.5 { a; }", "is not allowed in expression", 8),
        ("repeat __import__('os') { a; }", "unknown function", 8),
        ("repeat 2 * 3k { a; }", "'3k' is no number and no name", 12),
        ("until { a; }", "expected a port, found '{'", 7),
        ("choose { a; }", "one way only", 1),
        ("rank one { a; }", "expected a rank, found 'one'", 6),
        ("rank 99999999999999999999 { a; }", "a rank is 0 to", 6),
        ("a.wait keep;", "expected the number of slots kept", 12),
        ("a.wait by 0 warps;", "number of callers is 1 to", 11),
        ("a.wait by 1 lane;", "'lane' is not threads, warps or warpgroups", 13),
        ("a.wait by 1 warp keep 1;", "expected ';'", 18),
        ("fence generic;", "unknown fence", 7),
        ("größe.wait;", "expected ';'", 3),
        ("a" * (limits.PROTOCOL_TEXT + 1), "longer than", 1),
        ("a;" * (limits.PROTOCOL_STEPS + 1), "more than", 2 * limits.PROTOCOL_STEPS + 1),
        ("repeat 1 {" * (limits.PROTOCOL_NESTING + 1), "nested deeper", 10 * (limits.PROTOCOL_NESTING + 1)),
        ("repeat " + "(" * 3000 + "{ }", "longer than", 8),
    ],
)
def test_what_does_not_parse(text: str, message: str, column: int) -> None:
    with pytest.raises(LinkError) as caught:
        parse(text, HERE)
    (found,) = caught.value.diagnostics
    assert (found.id, found.location.file, found.location.line) == ("bad-protocol", "x.cu", 7)
    assert message in found.message
    assert found.location.column == column


def test_hostile_texts_end_in_blocks_or_diagnostics() -> None:
    words = [
        "repeat",
        "until",
        "choose",
        "or",
        "rank",
        "fence",
        "async",
        "keep",
        "by",
        "warps",
        "{",
        "}",
        ";",
        ".",
        "+",
    ]
    words += ["a", "b.wait", "1", "4096", "a.stages", "(", ")", "-", "\n", "\0", "é", "//", "'"]
    words += 9 * ["a.wait;", "repeat n { a; }", "{ a; }"]
    random_ = random.Random(4)
    parsed, ids = 0, set[str]()
    for _ in range(5000):
        text = " ".join(random_.choice(words) for _ in range(random_.randrange(9)))
        try:
            block = parse(text, HERE)
        except LinkError as problem:
            ids.update(d.id for d in problem.diagnostics)
            continue
        parsed += 1
        again = parse(spelled(block), HERE)
        assert spelled(again) == spelled(block)
        assert len(list(steps_of(again))) == len(list(steps_of(block)))
    assert parsed > 50
    assert ids == {"bad-protocol"}


def test_a_share_of_the_hostile_texts() -> None:
    path = Path(__file__).resolve().parents[2] / "fuzz" / "fuzz_protocols.py"
    spec = importlib.util.spec_from_file_location("fuzz_protocols", path)
    assert spec
    assert spec.loader
    target = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(target)
    assert target.run(seed=0, budget=2000) == []


def component(declare: str, **protocols: str) -> Component:
    """A component of the declarations, one a line: ``role run 4``, ``in x ends``, ``pass t``, ``calls f``, …"""
    outer = builder.module(new_context())
    made = builder.component(outer, "c")
    for line in declare.splitlines():
        match line.split():
            case ["role", name, warps]:
                made.role(name, int(warps))
            case ["in" | "out" as direction, name, *more]:
                touch = "tma" if "tma" in more else "threads"
                role = next((word[1:] for word in more if word.startswith("@")), None)
                ends = True if "ends" in more else None
                made.port(name, direction, tiles=[TILE], stages=[2, 4], touch=touch, role=role, ends=ends)
            case ["local", name]:
                made.port(name, "local", tiles=[TILE], stages=[2, 4], touch="cp_async")
            case ["pass", name]:
                made.port(name, "out", "token")
            case ["take", name]:
                made.port(name, "in", "token")
            case ["calls" | "answers" as direction, name]:
                made.port(name, direction, "call", signature="void()")
            case _:
                pass
    for of, text in protocols.items():
        made.protocol(of, text, location=HERE)
    verify(outer)
    return program(outer).components["c"]


@pytest.mark.parametrize(
    ("declare", "name", "expected"),
    [
        ("role run 4\nin x", "run", "repeat None { x.wait; x.release; }"),
        ("role run 4\nout x tma", "run", "repeat None { x.acquire; x.copy; }"),
        ("role run 4\nout x", "run", "repeat None { x.acquire; x.commit; }"),
        ("role run 4\nout x ends", "run", "repeat None { x.acquire; x.commit; } x.end;"),
        ("role run 4\nin x ends", "run", "until x { x.wait; x.release; }"),
        (
            "role run 4\npass p\nout y ends\nin x ends\ntake t\ncalls f",
            "run",
            "until x { x.wait; t.take; f; y.acquire; y.commit; x.release; p.pass; } y.end;",
        ),
        (
            "role run 4\nin x ends\nin y ends",
            "run",
            "until x { x.wait; y.wait; x.release; y.release; } until y { y.wait; y.release; }",
        ),
        (
            "role run 4\nlocal x",
            "run",
            "repeat x.stages - 1 { x.acquire; x.commit; } repeat None { x.wait; x.acquire; x.commit; x.release; }",
        ),
        ("role run 4\ncalls f", "run", "repeat None { f; }"),
        ("role run 4", "run", ""),
        ("role run 4\nrole to 1\nin x @run\nout y @to", "to", "repeat None { y.acquire; y.commit; }"),
        ("role run 4\nin x\nanswers f", "f", ""),
        ("answers f\nin x\nout y", "f", "x.wait; y.acquire; y.commit; x.release;"),
        ("answers f\ncalls g", "f", "g;"),
        ("answers f", "f", ""),
    ],
)
def test_defaults(declare: str, name: str, expected: str) -> None:
    found = default(component(declare), name)
    assert spelled(found.body) == expected
    assert not found.stated
    assert protocol_of(component(declare), name) == found


def test_a_stated_protocol_wins() -> None:
    made = component("role run 4\nin x", run="repeat 3 { x.wait; x.release; }")
    assert protocol_of(made, "run").stated
    assert spelled(protocol_of(made, "run").body) == "repeat 3 { x.wait; x.release; }"
    assert place_of(made, "run") == HERE
    assert list(made.protocols) == ["run"]
    assert (made.protocols["run"].of, made.protocols["run"].location) == ("run", HERE)
