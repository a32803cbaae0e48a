"""Counts: polynomials that are equal, and ends of a ring that go through it equally often for all launch values."""

from __future__ import annotations

import random
import time

import pytest

from pipelink.analysis.protocol.compile import compile_kernel
from pipelink.analysis.protocol.polynomial import Leaf, Polynomial, TooComplex, of_atom, parse
from pipelink.ir import parse as parse_ir
from pipelink.ir import program
from pipelink.support.diagnostics import LinkError
from test.protocol.inputs import component, count, into, kernel, out, role, says, smem
from test.protocol.mutants import placed, proved

Pieces = list[tuple[str, int]]  # counts, "x * y" for a loop in a loop, with the items that each iteration takes


def polynomial(text: str) -> Polynomial:
    return parse(text, lambda name: of_atom(Leaf((name,), name)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("K / 64", "K/64"),
        ("ceildiv(K, 64)", "(K + 63) / 64"),
        ("ceildiv(K + 64, 64)", "1 + ceildiv(K, 64)"),
        ("2 * (n + 1) - 2", "n + n"),
        ("n - min(n, 4)", "max(n - 4, 0)"),
        ("min(n, m)", "min(m, n)"),
        ("max(n, m)", "max(m, n)"),
        ("min(n, n + 1)", "n"),
        ("n % 4", "n - 4 * (n / 4)"),
        ("(t + 1) * (n + 1)", "n + t + n * t + 1"),
    ],
)
def test_equal_expressions_are_one_polynomial(one: str, other: str) -> None:
    assert polynomial(one) == polynomial(other)


@pytest.mark.parametrize(("one", "other"), [("n / 2 * 2", "n"), ("n * n", "n"), ("ceildiv(n, 2)", "n / 2")])
def test_others_are_not(one: str, other: str) -> None:
    assert polynomial(one) != polynomial(other)


def test_what_would_have_many_terms_is_left() -> None:
    text = " * ".join(f"(a{number} + b{number})" for number in range(8))
    with pytest.raises(TooComplex):
        polynomial(text)


def random_side(rng: random.Random) -> Pieces:
    counts = ["n", "t", "n - 1", "n - 2", "2 * n", "2 * n - 1", "3 * n - 2", "n + 1", "t * n", "n + t", "n * 2 * t"]
    counts += ["1", "min(n, 2)", "n - 2", "max(n, 1)", "max(n - 1, 1)", "n - min(n, 3)"]
    counts += ["t ( n )", "n ( t )", "t ( n - 1 )"]
    return [(rng.choice(counts), rng.choice((1, 1, 2))) for _ in range(rng.choice((1, 1, 2, 2, 3)))]


def protocol(side: Pieces, step: str) -> str:
    parts: list[str] = []
    for text, items in side:
        outer, _, inner = text.partition(" ( ")
        body = f"{step} " * items
        body = f"repeat {inner.removesuffix(' )')} {{ {body}}}" if inner else body
        parts.append(f"repeat {outer} {{ {body}}}")
    return " ".join(parts)


def made(side: Pieces, n: int, t: int) -> int:
    total = 0
    for text, items in side:
        outer, _, inner = text.partition(" ( ")
        rounds = 1
        for part in (outer, inner.removesuffix(" )") or "1"):
            rounds *= max(eval(part, {"min": min, "max": max}, {"n": n, "t": t}), 0)
        total += items * rounds
    return total


def judge(seed: int) -> tuple[bool, tuple[str, ...], str]:
    """Whether both ends of a ring make equally much for all small counts, and what prove refuses."""
    rng = random.Random(seed)
    one, other = random_side(rng), random_side(rng)
    if rng.random() < 0.5:  # the same written otherwise
        other = [
            piece for text, items in one for piece in ([(text, 1)] * items if rng.random() < 0.5 else [(text, items)])
        ]
        swaps = {"t ( n )": "t * n", "t * n": "t ( n )", "2 * n": "n", "n ( t )": "n * t", "n - min(n, 3)": "n - 3"}
        other = [(swaps.get(text, text), items * (2 if text == "2 * n" else 1)) for text, items in other]
    texts = protocol(one, "x.acquire; x.commit;"), protocol(other, "x.wait; x.release;")
    text = component("p", role("run", 1), out("x"), count("n"), count("t"), says("run", texts[0]))
    text += component("c", role("run", 1), into("x"), count("n"), count("t"), says("run", texts[1]))
    text += kernel("p.x > c.x | stages = 2 : i64", p="p", c="c")
    right = all(made(one, n, t) == made(other, n, t) for n in range(8) for t in range(8))
    return right, proved(placed(text))[0], f"{texts[0]} | {texts[1]}"


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_ends_go_through_a_ring_equally_often_or_are_refused(first: int) -> None:
    wrong: list[tuple[int, str]] = []
    for seed in range(first, first + 20):
        try:
            right, refused, text = judge(seed)
        except LinkError as error:
            raise AssertionError(seed) from error
        if right is bool(refused):
            wrong.append((seed, text))
    assert wrong == []


def test_many_counts_and_sums_in_sums_are_written_soon() -> None:
    names = ["a", "b", "c", "d"]
    flat = "".join(f"repeat min({one} * {number}, 3) {{ s.read; }} " for number in range(20) for one in names)
    deep = "repeat a + b + c + d { " * 12 + "s.read; " + "} " * 12
    text, instances = "", dict[str, str]()
    for number, protocol_text in enumerate((flat, deep, flat)):
        parts = [role("run", 1), smem("s", 64), *map(count, names), says("run", f"s.write; {protocol_text}")]
        text += component(f"c{number}", *parts)
        instances[f"i{number}"] = f"c{number}"
    text = placed(text + kernel(**instances))
    views = program(parse_ir(text))
    began = time.process_time()
    compile_kernel(views.kernels[0], views.components)
    assert time.process_time() - began < 10
