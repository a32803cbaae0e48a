"""How tcgen05 takes part in a ring: the fence after a wait, and who arrives.

Tensor cores arrive for the thread that issued to them; warps that load accumulators arrive when their loads are
complete.  For a pair of CTAs the functions are those of ``transfers/pair.cu``.
"""

from __future__ import annotations

from typing import Any, Final

from pipelink.analysis.binding import Arg, Const, Instruction, Invoke, SharedAddress, Statement
from pipelink.ir.views import Port
from pipelink.transfers import COMMIT, of_pair

#: How the transfers number the units in which threads arrive (device.cuh).
UNITS: Final = {"thread": 0, "warp": 1, "warpgroup": 2}


def after_wait(port: Port) -> tuple[Statement, ...]:
    """What follows a wait: tcgen05 instructions are ordered behind it only by a fence."""
    return (Invoke("pl_tmem_after", ()),) if port.touch == "tcgen05" else ()


def commit(placed: dict[str, Any]) -> str:
    """The function by which tensor cores arrive."""
    return "pl_pair_commit" if of_pair(placed) else "pl_tmem_commit"


def release(placed: dict[str, Any], shared: bool) -> tuple[Statement, ...]:
    """A consumer's arrival, ``shared``: in both CTAs of a cluster.  Tensor cores arrive, or threads, whose loads
    from tensor memory are complete first; what they read from a slot that TMA fills again comes before that, in every
    thread (PTX ISA, async proxy)."""
    empty, stage = SharedAddress(placed["empty"]), Arg("stage")
    if placed["consumer_unit"] == COMMIT:
        return (Invoke(commit(placed), (empty, stage)),)
    loaded: tuple[Statement, ...] = (Invoke("pl_tmem_loaded", ()),) if "columns" in placed else ()
    if placed["consumer_fence"]:
        loaded = (*loaded, Instruction("fence.proxy.async.shared::cta;"))
    unit = Const(UNITS[placed["consumer_unit"]])
    function = "pl_pair_release" if of_pair(placed) else "pl_cluster_release" if shared else "pl_ring_release"
    return (*loaded, Invoke(function, (empty, stage, unit)))
