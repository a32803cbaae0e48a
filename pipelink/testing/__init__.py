"""One component alone on a GPU: feeders and sinks made from its contract, in ten lines of a test.

>>> from pipelink import testing
>>> bench = testing.Bench("doubler.cu").link()
>>> got = bench.run(x=numpy.ones((3, 32, 32), numpy.float32))
>>> assert (got["y"] == 2).all()

``Bench`` compiles and links, where the compilers are; what its ``link`` gives can be saved, and ``load`` runs it where
the GPU is, with ``cuda-bindings`` and numpy alone.  docs/component-tests.md is the guide.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipelink.testing.bench import Bench
    from pipelink.testing.run import Called, LinkedBench, load

__all__ = ["Bench", "Called", "LinkedBench", "load"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pipelink.testing' has no attribute '{name}'")
    return getattr(import_module(f"pipelink.testing.{'bench' if name == 'Bench' else 'run'}"), name)
