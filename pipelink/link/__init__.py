"""The link, from inputs to cubin; :mod:`pipelink.link.steps` reads from top to bottom.

>>> linked = link(Request(Path("gemm.mlir").read_bytes(), (Path("loader.o"), Path("mainloop.o"))), cache=user_cache())

``link`` is what the Python API and ``pl-link`` call, ``emit`` stops at a step on the way.  Importing this loads neither
MLIR nor a compiler: a cached result needs none.
"""

from pipelink.link.key import key_of
from pipelink.link.request import HANG_LIMIT, PASSES, File, Observer, Request
from pipelink.link.result import Emitted, LinkedTarget
from pipelink.link.steps import Stage, emit, link, user_cache

__all__ = [
    "HANG_LIMIT",
    "PASSES",
    "Emitted",
    "File",
    "LinkedTarget",
    "Observer",
    "Request",
    "Stage",
    "emit",
    "key_of",
    "link",
    "user_cache",
]
