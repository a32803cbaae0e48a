"""Kernels that hang, each for one reason, linked as debug links without the protocol check.

``BROKEN`` is the table; :func:`link` links one.  ``test/unit/link/test_debug.py`` looks at what was linked,
``test/gpu/test_hangs.py`` runs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pipelink
from pipelink.api import Kernel, Linked
from pipelink.components.gemm import Composer
from pipelink.link import HANG_LIMIT, Observer, Request, link
from test.compositions import Objects, compose

PASSES = "check,place,transfer,fold,entry"  # without the protocol check, which refuses all of these


def _pipe(writer: str, reader: str) -> Callable[[Composer], None]:
    def build(c: Composer) -> None:
        c.kernel.connect(c.add("broken", writer).x, c.add("broken", reader).x)

    return build


def _parity(c: Composer) -> None:
    """Two roles take turns, and neither has the first."""
    first, second = c.add("rings", "turn"), c.add("rings", "turn")
    c.kernel.connect(first.other, second.mine, credit=0)
    c.kernel.connect(second.other, first.mine, credit=0)
    c.kernel.bind(first.who, 1)
    c.kernel.bind(second.who, 2)


def _lost_turn(c: Composer) -> None:
    """A token goes from CTA to CTA, and one of them keeps it."""
    run = c.add("broken", "lost_turn")
    c.kernel.connect(getattr(run, "pass"), run.take)


def _alone(name: str) -> Callable[[Composer], None]:
    def build(c: Composer) -> None:
        c.add("broken", name)

    return build


BROKEN: dict[str, Callable[[Composer], None]] = {
    "parity": _parity,
    "release": _pipe("writer", "forgetful_reader"),
    "acquire": _pipe("greedy_writer", "reader"),
    "barrier": _pipe("writer", "split_reader"),
    "lost_turn": _lost_turn,
    "lost_phase": _alone("lost_phase"),
    "lost_meeting": _alone("lost_meeting"),
    "healthy": _pipe("writer", "reader"),
}
#: GEMMs whose placed IR says that one arrival more empties a slot than there are.
EDITED = {
    "gemm": "gemm-wgmma_128x256x64-store-grouped_tiles",
    "cluster": "gemm-cluster_128x256x64-store-paired_tiles",
}


def link_broken(name: str, objects: Objects) -> Linked:
    """A debug link of one of them."""
    if name in EDITED:
        return _edited(compose(EDITED[name], objects))
    kernel = pipelink.Kernel(name, target="sm_90a")
    BROKEN[name](Composer(kernel, objects))
    return kernel.link(passes=PASSES, debug_hangs=HANG_LIMIT)


def _edited(kernel: Kernel) -> Linked:
    kept: dict[str, str | bytes] = {}
    text = str(kernel.module.operation.get_asm(enable_debug_info=True)).encode()
    request = Request(text, kernel.objects, kernel=kernel.name, passes=PASSES, debug_hangs=HANG_LIMIT)
    link(request, observer=Observer(keep=kept.__setitem__))
    placed = str(kept["sm_90a.placed.mlir"])
    edited, count = re.subn(
        r'(arrivals = )(\d+)( : i64, count = \d+ : i64, name = "[^"]*::ab empty")',
        lambda match: f"{match[1]}{int(match[2]) + 1}{match[3]}",
        placed,
    )
    assert count == 1, "the ring of the operands is not where it is expected in the placed IR"
    again = replace(request, text=edited.encode(), passes="transfer,fold,entry")
    return Linked(kernel.name, (link(again),))
