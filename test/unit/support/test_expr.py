"""Launch-contract expressions: what they mean, and that no text does more than raise one LinkError."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelink.support import expr
from pipelink.support.diagnostics import LinkError

VALUES = {"M": 300, "N": 512, "K": 100, "sms": 132, "occupancy": 2}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("M", 300),
        (" ceildiv(M, 128) ", 3),
        ("ceildiv(-1, 2)", 0),
        ("M // 128 + M % 128", 46),
        ("M / 128", 2),
        ("-M + 1", -299),
        ("min(ceildiv(M, 128) * ceildiv(N, 256), sms * occupancy)", 6),
        ("max(1, M - 400, 3)", 3),
    ],
)
def test_value(text: str, value: int) -> None:
    assert expr.evaluate(text, VALUES) == value


def test_stride_asks_the_caller() -> None:
    assert expr.evaluate("stride(a, 0) * 2", {}, lambda tensor, dim: {("a", 0): 72}[tensor, dim]) == 144
    with pytest.raises(LinkError, match=r"stride\(\) is not available"):
        expr.evaluate("stride(a, 0)", {})


def test_names_are_in_order_of_appearance_and_once() -> None:
    assert expr.names("x * y + z + min(x, stride(t, 1), ceildiv(w, 2))") == ("x", "y", "z", "t", "w")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot parse"),
        ("M +", "cannot parse"),
        ("M\0", "cannot parse"),
        ("(" * 400 + "M" + ")" * 400, "longer than"),
        ("(" * 240 + "M" + ")" * 240, "cannot parse"),
        ("-" * 100 + "M", "nested deeper"),
        ("True", "not allowed"),
        ("1.5", "not allowed"),
        ("'a'", "not allowed"),
        ("M ** 9", "not allowed"),
        ("M << 9", "not allowed"),
        ("M.real", "not allowed"),
        ("__import__('os')", "unknown function '__import__'"),
        ("ceildiv(M)", "not allowed"),
        ("min()", "not allowed"),
        ("max(*M)", "not allowed"),
        ("stride(M, N)", "not allowed"),
        ("lambda: 1", "not allowed"),
        ("[M for M in N]", "not allowed"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(LinkError, match=message) as caught:
        expr.parse(text)
    assert [d.id for d in caught.value.diagnostics] == ["bad-expression"]


def test_unknown_function_and_name_get_the_nearest_match() -> None:
    with pytest.raises(LinkError) as caught:
        expr.parse("ceil_div(M, 2)")
    assert caught.value.diagnostics[0].hint == "did you mean 'ceildiv'?"
    with pytest.raises(LinkError) as caught:
        expr.evaluate("m_tile", {"m_tiles": 4})
    assert caught.value.diagnostics[0].hint == "did you mean 'm_tiles'?"


@pytest.mark.parametrize("text", ["M // 0", "M % (N - N)", "ceildiv(M, 0)"])
def test_division_by_zero(text: str) -> None:
    with pytest.raises(LinkError, match="division by zero"):
        expr.evaluate(text, VALUES)


NODES = st.recursive(
    st.one_of(st.integers(0, 10**6).map(str), st.sampled_from(sorted(VALUES))),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        inner.map(lambda t: f"-{t}"),
    ),
    max_leaves=12,
)


@given(NODES)
def test_agrees_with_python(text: str) -> None:
    """For well-formed text the value is Python's own; a zero divisor is an error in both."""
    try:
        expected = eval(text, {"__builtins__": {}, "min": min, "max": max}, dict(VALUES))
    except ZeroDivisionError:
        with pytest.raises(LinkError):
            expr.evaluate(text, VALUES)
        return
    if len(text) <= 500:
        assert expr.evaluate(text, VALUES) == expected


@given(st.text(max_size=80))
def test_any_text_is_a_value_or_one_error(text: str) -> None:
    ids = ["bad-expression"]
    try:
        expr.evaluate(text, VALUES, lambda tensor, dim: 1)
    except LinkError as problem:
        ids = [d.id for d in problem.diagnostics]
    assert ids == ["bad-expression"]
