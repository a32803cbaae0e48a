"""Where a role meets that of the other CTAs of its cluster (``cluster_barrier.cu``): who arrives, and its code.

No connection carries it, but it joins CTAs as transfers between them do: they begin together, when the mbarriers of all
are set up, and end together, since others may still arrive.
"""

from __future__ import annotations

from typing import Final

from pipelink.ir.placement import ClusterMeeting
from pipelink.ir.views import Instance, Kernel
from pipelink.model.binding import Const, CursorPointer, Invoke, Return, SharedAddress
from pipelink.transfers.binder import Binder, placed_instance
from pipelink.transfers.touch import UNITS

SOURCE: Final = "cluster_barrier.cu"
SYNC: Final = "sync"  # the operation, among those that debug links watch


def in_clusters(kernel: Kernel) -> bool:
    """Whether a placed kernel has clusters whose CTAs meet by such barriers."""
    placement = kernel.placement
    barriers = (placed_instance(instance).cluster_barriers for instance in kernel.instances.values())
    return placement is not None and placement.ctas > 1 and any(barriers)


def bind(binder: Binder, instance: Instance, name: str, placed: ClusterMeeting, ctas: int) -> None:
    """Define what a role does where it meets that of the other CTAs, so many with its own."""
    at, unit = SharedAddress(placed.address), Const(UNITS[placed.unit])
    given = (CursorPointer(placed.cursor), at, Const(ctas), unit)
    meet = Invoke("pl_cluster_barrier_sync", given, waits=True, convergent=True)
    watched = binder.watch.waits(instance.name, name, SYNC, meet)
    binder.operation(instance, "cluster_barrier", name, "pl_sync", *watched, Return())
