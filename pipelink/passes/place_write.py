"""Writes a placement back as attributes: on the kernel, on each instance, on each connection."""

from __future__ import annotations

import math
from typing import Any

from pipelink.analysis.launch import Launch
from pipelink.analysis.placement.build import TMEM_WORD, Built, LocalPlan
from pipelink.ir.placement import (
    ClusterMeeting,
    FrameState,
    InstancePlacement,
    KernelPlacement,
    LocalRing,
    MbarrierGroup,
    ParameterSource,
    RoleWarps,
    Warpgroup,
    WordGroup,
)
from pipelink.ir.views import Component, Kernel, Program
from pipelink.model.demand import Options, Solution
from pipelink.model.lifetimes import Lifetimes
from pipelink.target import WARP_THREADS
from pipelink.transfers import LOCAL, operations
from pipelink.transfers.base import Plan, Solved
from pipelink.transfers.stream import StreamPlan


def write(views: Program, kernel: Kernel, built: Built, solution: Solution, launch: Launch, options: Options) -> None:
    """Set every attribute that later passes read."""
    plans: dict[str, Plan] = {plan.site.key: plan for plan in built.plans.values()}
    rings = [key for key, plan in plans.items() if plan.rings]
    leased = {plan.lease: plan for plan in plans.values() if isinstance(plan, StreamPlan) and plan.lease is not None}
    solved = Solved(built.problem, solution, {key: n for n, key in enumerate([*rings, *leased])})
    for index, connect in enumerate(kernel.connects):
        plan = built.plans[index]
        connect.set_placement(plan.transfer.place(plan, connect, solved))
    local_rings: dict[str, list[LocalPlan]] = {}
    for local in built.locals:
        local_rings.setdefault(local.instance, []).append(local)
    for number, instance in enumerate(kernel.instances.values()):
        component = views.components[instance.component]
        params = launch.params.get(instance.name, {})
        own = local_rings.get(instance.name, [])
        placed = _instance(number, instance.name, component, params, own, built, solved)
        instance.set_placement(placed)
    holders = [*(plans[key] for key in rings), *leased.values()]
    mbarriers = [group for plan in holders for group in plan.transfer.mbarriers(plan, solved)]
    lifetimes = Lifetimes(views, kernel)
    operations.place(kernel, lifetimes)
    placed = _kernel(mbarriers, launch, options, solved, built.meeting_groups)
    kernel.set_placement(placed, "pipelink.placement")
    sizes: dict[str, Any] = {
        "threads": solution.warps.warps * WARP_THREADS,
        "smem_bytes": solution.smem_bytes,
        "min_ctas": built.problem.min_ctas,
    }
    if kernel.operations:
        sizes["operations"] = operations.contract(kernel, lifetimes, launch.contract["parameters"]["fields"])
    kernel.set("pipelink.launch", {**launch.contract, **sizes})


def _instance(
    number: int,
    name: str,
    component: Component,
    params: dict[str, ParameterSource],
    local_rings: list[LocalPlan],
    built: Built,
    solved: Solved,
) -> InstancePlacement:
    solution = solved.solution
    return InstancePlacement(
        id=number,
        roles={
            role.name: RoleWarps(solution.warps.first[f"{name}::{role.name}"], role.warps)
            for role in component.roles.values()
        },
        smem={smem: solution.buffers[f"{name}::{smem}"] for smem in component.smem},
        barriers={barrier: solved.barrier(f"{name}::{barrier}") for barrier in component.barriers},
        params=params,
        states={state.name: FrameState(state.bytes, state.align) for state in component.states.values()},
        locals={plan.port.name: _local(plan.key, solved) for plan in local_rings},
        tmem={tmem: solution.columns[f"{name}::{tmem}"][0] for tmem in component.tmem},
        mbarriers={one: solution.mbarrier[f"{name}::{one}"] for one in component.mbarriers},
        cluster_barriers={
            meeting.name: ClusterMeeting(
                solution.mbarrier[meeting.key], meeting.unit, solved.cursor(meeting.key, "cluster")
            )
            for meeting in built.meetings
            if meeting.instance == name
        },
        turns={plan.name: tuple(map(solved.barrier, plan.keys)) for plan in built.turns if plan.instance == name},
        leases={
            lease: solved.pages(f"{name}::{lease}")
            for lease in component.leases
            if f"{name}::{lease}" in solution.stages
        },
    )


def _local(key: str, solved: Solved) -> LocalRing:
    return LocalRing(
        LOCAL.name,
        solved.solution.stages[key],
        solved.slots(key),
        solved.cursor(key, "producer"),
        solved.cursor(key, "consumer"),
        solved.barrier(key),
    )


def _kernel(
    mbarriers: list[MbarrierGroup], launch: Launch, options: Options, solved: Solved, groups: list[str]
) -> KernelPlacement:
    """``mbarriers`` are those of the rings; the others of the problem follow.  ``groups``: whose warps meet."""
    solution, problem, warps = solved.solution, solved.problem, solved.solution.warps
    words = {ring.key: ring.words for ring in problem.rings}
    cluster: list[int] = launch.contract["cluster"]
    others = (MbarrierGroup(solution.mbarrier[m.key], m.count, m.arrivals, m.key) for m in problem.mbarriers)
    return KernelPlacement(
        threads=warps.warps * WARP_THREADS,
        warps=warps.warps,
        min_ctas=problem.min_ctas,
        entry_registers=warps.entry_registers,
        smem_bytes=solution.smem_bytes,
        cursors=solved.cursors,
        mbarriers=(*mbarriers, *others),
        words=tuple(WordGroup(at, solution.stages[key] * words[key], 0, key) for key, at in solution.word.items()),
        warpgroups=tuple(Warpgroup(count) for count in warps.registers or ()),
        cluster=tuple(cluster) if math.prod(cluster) > 1 else (),
        meetings={name: solved.barrier(name) for name in groups if name in solution.barriers},
        tmem_columns=solution.tmem_columns or None,
        tmem_word=solution.buffers[TMEM_WORD] if solution.tmem_columns else None,
        objective="min-smem" if options.min_smem else "deepest",
        optimal=solution.optimal,
        value=solution.value,
        bound=solution.bound,
        smem_bound=solution.smem_bound,
        reasons=tuple(solution.reasons),
    )
