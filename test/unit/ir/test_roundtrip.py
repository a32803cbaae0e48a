"""Print and parse are inverse on whatever the builder can make, in our context and in a foreign one."""

import keyword
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelink.ir import SymbolRef, builder, new_context, parse, program, to_attribute, to_python, verify
from pipelink.ir.views import View
from pipelink.support.diagnostics import LinkError
from pipelink.support.mlir import ir

CONTEXT = new_context()
# no words of Python, in whose syntax the launch contract's expressions are written
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12
)
VALUES = st.recursive(
    st.integers(-(2**63), 2**63 - 1)
    | st.booleans()
    | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.builds(SymbolRef, st.tuples(NAMES) | st.tuples(NAMES, NAMES)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
TILES = st.fixed_dictionaries(
    {
        "element": st.sampled_from(["bf16", "f32", "i8"]),
        "shape": st.lists(st.integers(1, 256), min_size=1, max_size=3),
        "layout": st.sampled_from(["row_major", "swizzle128"]),
        "align": st.sampled_from([16, 128, 1024]),
    }
)


def low_high(lowest: int = 1, highest: int = 16) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(lowest, highest), min_size=2, max_size=2).map(sorted)


@st.composite
def components(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(NAMES, min_size=5, max_size=9, unique=True))
    name, role, port, smem, param, *ports = names
    return {
        "name": name,
        "role": (role, draw(st.integers(1, 32)), draw(st.none() | low_high())),
        "out": (port, draw(st.lists(TILES, min_size=1, max_size=3)), draw(low_high())),
        "smem": (smem, draw(st.integers(1, 1 << 20)), draw(st.sampled_from([1, 16, 1024]))),
        "param": (param, draw(st.sampled_from(["i32", "f32", "pointer"]))),
        "calls": [(p, draw(TEXTS)) for p in ports],
        "images": draw(st.none() | st.just([{"arch": "sm_90a"}])),
        "shape": draw(st.lists(NAMES | st.integers(1, 1 << 20), min_size=1, max_size=4)),
        "require": draw(st.dictionaries(TEXTS, st.integers(0, 9) | st.booleans() | TEXTS, max_size=3)),
    }


def build(data: dict[str, Any]) -> ir.Module:
    module = builder.module(CONTEXT)
    made = builder.component(module, data["name"], images=data["images"])
    name, warps, registers = data["role"]
    made.role(name, warps, registers=registers)
    name, tiles, stages = data["out"]
    made.port(name, "out", tiles=tiles, stages=stages, touch="threads")
    name, size, align = data["smem"]
    made.smem(name, size, align)
    made.param(data["param"][0], data["param"][1], 8, 8)
    for name, signature in data["calls"]:
        made.port(name, "calls", "call", signature=signature)
    made.tensor("x", "bf16", data["shape"], "read")
    made.bind(data["param"][0], "x")
    made.grid("ceildiv(M, 128)")
    for key, value in data["require"].items():
        made.require(key, value)
    return module


def contents(module: ir.Module) -> list[tuple[str, dict[str, Any]]]:
    found = program(module)
    return [(view.op.name, view.data) for c in found.components.values() for view in [View(c.op), *c.children]]


@given(components())
@settings(max_examples=60, deadline=None)
def test_print_and_parse_are_inverse(data: dict[str, Any]) -> None:
    module = build(data)
    verify(module)
    text = str(module)
    again = parse(text, CONTEXT)
    assert str(again) == text
    assert contents(again) == contents(module)


@given(components())
@settings(max_examples=20, deadline=None)
def test_views_work_where_the_dialect_is_unknown(data: dict[str, Any]) -> None:
    module = build(data)
    foreign = ir.Context()
    foreign.allow_unregistered_dialects = True
    again = ir.Module.parse(str(module), foreign)
    verify(again)
    assert contents(again) == contents(module)


@given(VALUES)
@settings(max_examples=200, deadline=None)
def test_attributes_convert_both_ways(value: Any) -> None:
    attribute = to_attribute(value, CONTEXT)
    assert to_python(attribute) == value
    assert to_python(ir.Attribute.parse(str(attribute), CONTEXT)) == value


@pytest.mark.parametrize(
    "add",
    [
        lambda module: builder.component(module, "\ud800"),
        lambda module: builder.kernel(module, "\ud800", target="sm_90a"),
        lambda module: builder.kernel(module, "k", target="sm_90a").instance("a", "\ud800"),
        lambda module: builder.kernel(module, "k", target="sm_90a").instance("a", "b", rename={"\ud800": "x"}),
        lambda module: builder.kernel(module, "k", target="sm_90a").connect(("a", "\ud800"), ("b", "x")),
    ],
    ids=["component", "kernel", "symbol", "key", "port"],
)
def test_names_are_text(add: Callable[[ir.Module], Any]) -> None:
    with pytest.raises(LinkError, match=r"the name .* has lone surrogates, which are no text \[wrong-attribute\]"):
        add(builder.module(CONTEXT))
