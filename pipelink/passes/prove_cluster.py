"""Part of ``prove``: what components do with the other CTAs of a cluster, as far as the placement decides about it.

A cluster barrier is an mbarrier in each CTA, which counts the warps or threads of the role that meets in all of them.
And who reaches into another CTA's memory needs that CTA to have begun, and not to have ended.
"""

from __future__ import annotations

from pipelink.analysis.protocol.language import actions_of, place_of, protocol_of
from pipelink.ir.placement import KernelPlacement
from pipelink.ir.views import Component, Kernel
from pipelink.model.lifetimes import Lifetimes
from pipelink.support.diagnostics import Diagnostics
from pipelink.target import MBARRIER_BYTES
from pipelink.transfers import joined
from pipelink.transfers.binder import placed_instance

PEER_VERBS = ("peer_read", "peer_write")  # of another CTA's buffer


def check_cluster(kernel: Kernel, lifetimes: Lifetimes, placement: KernelPlacement, diagnostics: Diagnostics) -> None:
    """Reports ``arrival-count``, ``bad-placement`` and ``peer-lifetime`` of a kernel's components."""
    arrivals = {
        group.address + MBARRIER_BYTES * index: group.arrivals
        for group in placement.mbarriers
        for index in range(group.count)
    }
    for name, component in lifetimes.components.items():
        _check_barriers(kernel, lifetimes, name, arrivals, placement.ctas, diagnostics)
        _check_lifetime(kernel, name, component, placement.ctas, diagnostics)


def _check_barriers(
    kernel: Kernel,
    lifetimes: Lifetimes,
    name: str,
    arrivals: dict[int, int],
    ctas: int,
    diagnostics: Diagnostics,
) -> None:
    """A phase is complete when all that meet have arrived: those of one role, in every CTA."""
    component, instance = lifetimes.components[name], kernel.instances[name]
    for barrier, placed in placed_instance(instance).cluster_barriers.items():
        what = f"'@{name}::@{barrier}'"
        users = lifetimes.users(name, component.cluster_barriers[barrier].role)
        if len(users) != 1:
            message = f"cluster barrier {what} is used by {len(users)} roles; it needs exactly one"
            diagnostics.error("bad-placement", message, instance.location)
            continue
        of, _, role = users[0].partition("::")
        meeting = lifetimes.components[of].roles[role]
        if placed.unit == "warp" and meeting.one_thread:
            message = f"'@{of}::@{role}' runs in one thread, its arrivals at {what} are placed a warp at a time"
            diagnostics.error("arrival-count", message, instance.location)
            continue
        units = (meeting.warps if placed.unit == "warp" else meeting.thread_count) * ctas
        expected = arrivals.get(placed.address)
        if expected is not None and expected != units:
            message = f"the mbarrier of {what} is initialised for {expected} arrivals, and {units} come: those of "
            message += f"'@{of}::@{role}' in {ctas} CTA{'s' if ctas > 1 else ''}, one a {placed.unit}"
            diagnostics.error("arrival-count", message, instance.location)


def _check_lifetime(kernel: Kernel, name: str, component: Component, ctas: int, diagnostics: Diagnostics) -> None:
    """Who reaches into another CTA needs the entry and the exit to let them meet."""
    if ctas == 1 or joined(kernel):
        return
    for of in component.protocols:
        for action in actions_of(protocol_of(component, of).body):
            if action.verb in PEER_VERBS:
                message = f"'@{name}::@{of}': {action.verb} {action.subject}, in a CTA which may not have begun yet, "
                message += "or have ended: nothing lets the CTAs of the cluster meet"
                hint = "a PL_CLUSTER_BARRIER does: they begin and end together then, and meet where it says"
                diagnostics.error("peer-lifetime", message, place_of(component, of), hint=hint)
                return
