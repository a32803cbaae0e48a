"""The component alone, on a GPU: ``pytest examples/component_test``."""

from pathlib import Path

import numpy as np

from pipelink.testing import Bench


def test_pages_are_doubled() -> None:
    x = np.random.default_rng(1).standard_normal((3, 32, 32), np.float32)
    got = Bench(Path(__file__).with_name("doubler.cu")).link().run(x=x, pages=3)
    assert (got["y"] == 2 * x).all()
