"""What is looked at before MLIR parses takes time in proportion to the text, whatever it is."""

from __future__ import annotations

import contextlib
import time

import pytest

from pipelink.ir.prescan import prescan
from pipelink.support.diagnostics import LinkError


@pytest.mark.parametrize("text", [b'\\"', b'"', b'"a. ', b'"."', b'" \\"', b'"x."\n', b"//", b"\\"])
def test_quotes_without_an_end_take_no_quadratic_time(text: bytes) -> None:
    began = time.process_time()
    with contextlib.suppress(LinkError):
        prescan(text * (600_000 // len(text)), "-")
    assert time.process_time() - began < 10
