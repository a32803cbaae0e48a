"""How tensor cores and TMA take part in a ring: fences about a wait, and who arrives.

Tensor cores arrive for the thread that issued to them; warps that load accumulators arrive when their loads are
complete.  For a pair of CTAs the functions are those of ``transfers/pair.cu``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pipelink.analysis.binding import Arg, Const, Instruction, Invoke, SharedAddress, Statement
from pipelink.ir.views import Connect, Port
from pipelink.transfers import COMMIT, of_pair

#: How the transfers number the units in which threads arrive (device.cuh).
UNITS: Final = {"thread": 0, "warp": 1, "warpgroup": 2}


def after_wait(port: Port) -> tuple[Statement, ...]:
    """What follows a wait: tcgen05 instructions are ordered behind it only by a fence."""
    return (Invoke("pl_tmem_after", ()),) if port.touch == "tcgen05" else ()


def before_refill(connects: Iterable[Connect]) -> tuple[Statement, ...]:
    """What TMA's thread does between the wait for a free slot and its copies, where threads of any of the ring's
    readers read the slot: they read it before the copies, which go through another proxy.  One fence on the way from
    the one to the other orders them, in the CTA that copies (Mixed-proxy extensions for the NVIDIA PTX memory
    consistency model, ISCA 2022, 5.4), so the one thread has it, not all the readers."""
    fenced = [connect for connect in connects if connect.placement and connect.placement.get("consumer_fence")]
    space = "cluster" if any(connect.shared for connect in fenced) else "cta"
    return (Instruction(f"fence.proxy.async.shared::{space};"),) if fenced else ()


def commit(placed: dict[str, Any]) -> str:
    """The function by which tensor cores arrive."""
    return "pl_pair_commit" if of_pair(placed) else "pl_tmem_commit"


def release(placed: dict[str, Any], shared: bool) -> tuple[Statement, ...]:
    """A consumer's arrival, ``shared``: in both CTAs of a cluster.  Tensor cores arrive, or threads, whose loads
    from tensor memory are complete first."""
    empty, stage = SharedAddress(placed["empty"]), Arg("stage")
    if placed["consumer_unit"] == COMMIT:
        return (Invoke(commit(placed), (empty, stage)),)
    loaded = (Invoke("pl_tmem_loaded", ()),) if "columns" in placed else ()
    unit = Const(UNITS[placed["consumer_unit"]])
    function = "pl_pair_release" if of_pair(placed) else "pl_cluster_release" if shared else "pl_ring_release"
    return (*loaded, Invoke(function, (empty, stage, unit)))
