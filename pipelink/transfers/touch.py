"""How what touches a slot takes part in a ring: who arrives, and what orders the access.

TMA arrives once and adds bytes.  Tensor cores arrive for the thread that issued to them (tcgen05.commit), and wgmma
reads for a warpgroup at once, where each slot has a product.  Loads and stores of threads are done only when every warp
says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pipelink.contract.vocabulary import TOUCHES
from pipelink.ir.placement import ConnectionPlacement, RingPlacement
from pipelink.ir.views import Connect, Port
from pipelink.model.binding import Instruction, Invoke, Statement
from pipelink.target import WARP_THREADS, WARPGROUP_WARPS
from pipelink.transfers.base import Arrivals, End

TX: Final = "tx"
COMMIT: Final = "commit"  # the unit of an arrival that tensor cores make: tcgen05.commit
#: How the transfers number the units in which threads arrive (device.cuh).
UNITS: Final = {"thread": 0, "warp": 1, "warpgroup": 2}


def producer(end: End, elect: bool) -> Arrivals:
    """Who arrives when a slot is filled."""
    arrival = TOUCHES[end.port.touch].arrival
    return Arrivals(arrival, 1) if arrival in (TX, COMMIT) else threads(end, elect)


def consumer(end: End, elect: bool, ctas: int) -> Arrivals:
    """Who arrives when a slot is read, in each of so many CTAs."""
    warpgroup = WARPGROUP_WARPS * WARP_THREADS
    if end.port.touch == "wgmma" and not end.port.per_warp and end.threads % warpgroup == 0:
        found = Arrivals("warpgroup", end.threads // warpgroup)
    elif _reads_by_cores(end.port):
        found = Arrivals(COMMIT, 1)
    else:
        found = threads(end, elect)
    return Arrivals(found.unit, found.count * ctas)


def threads(end: End, elect: bool) -> Arrivals:
    """Threads arrive once a warp after __syncwarp, or each for itself; part of a warp cannot meet."""
    if not elect or end.threads % WARP_THREADS:
        return Arrivals("thread", end.threads)
    return Arrivals("warp", end.threads // WARP_THREADS)


def _reads_by_cores(port: Port) -> bool:
    return port.touch == "tcgen05" and all(tile.space == "smem" for tile in port.tiles)


def wanted_unit(port: Port, side: str) -> str | None:
    """The arrival that alone says that a slot is filled or read; None: one of threads, or anything."""
    if port.kind != "stream" or TOUCHES[port.touch].arrival is None:
        return None
    if side == "producer":
        return TOUCHES[port.touch].arrival
    return COMMIT if _reads_by_cores(port) else "threads"


def mixes_proxies(source: Port, target: Port) -> bool:
    """Whether what threads write is read through the async proxy."""
    return not TOUCHES[source.touch].asynchronous and TOUCHES[target.touch].asynchronous


def refills(source: Port, target: Port) -> bool:
    """Whether copies through the async proxy fill again what threads read."""
    return TOUCHES[source.touch].copies and not TOUCHES[target.touch].asynchronous


def after_wait(port: Port) -> tuple[Statement, ...]:
    """What follows a wait: tcgen05 instructions are ordered behind it only by a fence."""
    return (Invoke("pl_tmem_after", ()),) if port.touch == "tcgen05" else ()


def before_refill(placed: Iterable[tuple[Connect, ConnectionPlacement | None]]) -> tuple[Statement, ...]:
    """What TMA's thread does between the wait for a free slot and its copies, where threads of any of the ring's
    readers read the slot: they read it before the copies, which go through another proxy.  One fence on the way from
    the one to the other orders them, in the CTA that copies (Mixed-proxy extensions for the NVIDIA PTX memory
    consistency model, ISCA 2022, 5.4), so the one thread has it, not all the readers."""
    fenced = [connect for connect, ring in placed if isinstance(ring, RingPlacement) and ring.consumer_fence]
    space = "cluster" if any(connect.shared for connect in fenced) else "cta"
    return (Instruction(f"fence.proxy.async.shared::{space};"),) if fenced else ()
