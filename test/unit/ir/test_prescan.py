"""What is looked at before MLIR parses takes time in proportion to the text, whatever it is."""

from __future__ import annotations

import contextlib
import time

import pytest

from pipelink.ir import parse
from pipelink.ir.prescan import prescan
from pipelink.support.diagnostics import LinkError


@pytest.mark.parametrize(
    "text",
    [
        b'"acc"() : () -> ()',
        b'module { "acc"() {x = 1} : () -> () }',
        b'%0 = "acc"() : () -> i32',
        b'module {} // loc(\n"acc" // (\n () : () -> ()',
        b'"builtin.module"() ({^bb0:\n"acc"() : () -> ()}) : () -> ()',
    ],
)
def test_an_operation_without_a_dialect(text: bytes) -> None:
    """The parser aborts."""
    with pytest.raises(LinkError, match="the name of an operation has no dialect"):
        prescan(text, "x")


def test_names_of_locations_need_no_dialect() -> None:
    for where in ('"a"("b")', 'fused["a", "b"("c":1:1)]', 'callsite("a"("b") at "c":1:1)', 'fused<"x">["a"("b")]'):
        prescan(f"module {{}} loc({where})".encode(), "x")
        parse(f"module {{}} loc({where})")


@pytest.mark.parametrize("text", [b'\\"', b'"', b'"a. ', b'"."', b'" \\"', b'"x."\n', b"//", b"\\"])
def test_quotes_without_an_end_take_no_quadratic_time(text: bytes) -> None:
    began = time.process_time()
    with contextlib.suppress(LinkError):
        prescan(text * (600_000 // len(text)), "-")
    assert time.process_time() - began < 10
