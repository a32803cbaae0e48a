"""Part of ``check``: what is asked of the SM, as far as no placement could help.

These are lower bounds: roles that exclude each other count once, dispatched roles run on their dispatcher's warps.
Shared memory is ``place``'s, which can say what would fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipelink.ir.attributes import SymbolRef
from pipelink.ir.views import Component, Exclusive, Kernel, Role
from pipelink.model.graph import ConnectionGraph
from pipelink.model.lifetimes import Lifetimes
from pipelink.support.diagnostics import Diagnostics, Note
from pipelink.target import (
    MAX_CLUSTER,
    MAX_CTA_WARPS,
    NAMED_BARRIERS,
    SETMAXNREG_MAX,
    SETMAXNREG_MIN,
    SETMAXNREG_STEP,
    WARP_THREADS,
    WARPGROUP_WARPS,
    Target,
    split_that_fits,
)

_MAX_REGISTERS = 256  # upper end of a role's range; setmaxnreg's largest operand

Key = tuple[str, str]  # (instance, role)


def check_demand(graph: ConnectionGraph, target: Target, diagnostics: Diagnostics) -> None:
    """Warps, registers, barriers, tensor memory and clusters of one kernel."""
    for component in {c.name: c for c in graph.components.values()}.values():
        for role in component.roles.values():
            _check_role(role, component.name, diagnostics)
        for barrier in component.barriers.values():
            role = component.roles.get(barrier.role or "")
            if role is not None and barrier.threads > role.warps * WARP_THREADS:
                message = (
                    f"barrier '{barrier.name}' of component '{component.name}' waits for {barrier.threads} threads, "
                    f"role '{role.name}' has {role.warps * WARP_THREADS}"
                )
                notes = [Note("the role is declared here", role.location)]
                diagnostics.error("barrier-mismatch", message, barrier.location, notes=notes)
    _check_warps(graph, target, diagnostics)
    _check_barriers(graph, diagnostics)
    _check_features(graph, target, diagnostics)


def _check_role(role: Role, component: str, diagnostics: Diagnostics) -> None:
    if role.align & (role.align - 1) or role.align > MAX_CTA_WARPS:
        message = f"role '{role.name}' of component '{component}' is aligned to {role.align} warps, not a power of two"
        diagnostics.error("unaligned-warpgroup", message, role.location)
    if role.registers is None:
        return
    low, high = role.registers
    for count in (low, high):
        if count % SETMAXNREG_STEP or not SETMAXNREG_MIN <= count <= _MAX_REGISTERS:
            message = (
                f"role '{role.name}' of component '{component}' states {count} registers, "
                f"setmaxnreg takes multiples of {SETMAXNREG_STEP} from {SETMAXNREG_MIN} to {_MAX_REGISTERS}"
            )
            diagnostics.error("bad-registers", message, role.location)
            return
    if low > SETMAXNREG_MAX:
        message = (
            f"role '{role.name}' of component '{component}' needs at least {low} registers, "
            f"a thread can use {SETMAXNREG_MAX}"
        )
        diagnostics.error("bad-registers", message, role.location)


def _alternatives(graph: ConnectionGraph) -> list[list[tuple[Key, Role]]]:
    """Roles in sets of which at least the largest member needs warps of its own."""
    run = Lifetimes(graph.program, graph.kernel).runner_of
    roles = {
        (instance, name): role
        for instance, component in graph.components.items()
        for name, role in component.roles.items()
        if f"{instance}::{name}" not in run
    }
    group_of: dict[Key, int] = {key: index for index, key in enumerate(roles)}
    for exclusive in graph.kernel.exclusives:
        members = [(ref.root, ref.leaf) for ref in exclusive.roles if (ref.root, ref.leaf) in group_of]
        merged = {group_of[key] for key in members}
        for key, group in group_of.items():
            if group in merged:
                group_of[key] = min(merged)
    groups: dict[int, list[tuple[Key, Role]]] = {}
    for key, role in roles.items():
        groups.setdefault(group_of[key], []).append((key, role))
    return list(groups.values())


def _check_warps(graph: ConnectionGraph, target: Target, diagnostics: Diagnostics) -> None:
    for exclusive in graph.kernel.exclusives:
        if len(set(exclusive.roles)) < len(exclusive.roles):
            message = f"exclusive '{exclusive.name}' lists a role twice"
            diagnostics.error("duplicate-name", message, exclusive.location)
    _check_groups(graph, diagnostics)
    groups = _alternatives(graph)
    kernel = graph.kernel
    largest = [max(group, key=lambda item: item[1].warps) for group in groups]
    warps = sum(role.warps for _, role in largest)
    if warps > MAX_CTA_WARPS:
        message = f"kernel '{kernel.name}' needs {warps} warps, a CTA has at most {MAX_CTA_WARPS}"
        notes = [Note(f"'@{key[0]}::@{key[1]}' has {role.warps} warps", role.location) for key, role in largest]
        diagnostics.error("too-many-warps", message, kernel.location, notes=notes)
        return
    ctas = kernel.min_ctas or 1
    if warps * ctas > target.warps_per_sm or ctas > target.ctas_per_sm:
        message = (
            f"{ctas} CTAs of kernel '{kernel.name}' with {warps} warps each are asked on one SM, "
            f"{target.name} has {target.warps_per_sm} warps in at most {target.ctas_per_sm} CTAs"
        )
        diagnostics.error("too-many-warps", message, kernel.location)
        return
    _check_registers(graph, target, [max(group, key=lambda item: _least(item[1])) for group in groups], diagnostics)


def _least(role: Role) -> int:
    """Registers that a role takes at least."""
    return role.warps * WARP_THREADS * (role.registers or (0, 0))[0]


def _check_registers(
    graph: ConnectionGraph, target: Target, asked: list[tuple[Key, Role]], diagnostics: Diagnostics
) -> None:
    """``asked``: of roles that exclude each other, the one that needs most."""
    kernel, ctas = graph.kernel, graph.kernel.min_ctas or 1
    registers = sum(_least(role) for _, role in asked)
    if registers * ctas <= target.registers_per_sm:
        return
    stated = [(key, role, role.registers[0]) for key, role in asked if role.registers is not None]
    terms = [f"{least} x {role.warps * WARP_THREADS}" for _, role, least in stated]
    each, limit = f" for each of {ctas} CTAs" if ctas > 1 else "", target.registers_per_sm // ctas
    message = (
        f"kernel '{kernel.name}' needs at least {' + '.join(terms)} = {registers} registers{each}, "
        f"{registers - limit} over the {limit} that {target.name} has"
    )
    notes = [
        Note(f"'@{key[0]}::@{key[1]}' needs {least} in {role.warps * WARP_THREADS} threads", role.location)
        for key, role, least in stated
    ]
    diagnostics.error("register-overcommit", message, kernel.location, notes=notes, hint=_split(asked, target, ctas))


def _split(asked: list[tuple[Key, Role]], target: Target, ctas: int) -> str | None:
    """Counts that fit, where every role has warpgroups of its own."""
    sizes = [-(-role.warps // WARPGROUP_WARPS) for _, role in asked]
    entry = target.entry_registers(sum(sizes) * WARPGROUP_WARPS, ctas)
    needs = [((role.registers or (0, 0))[0], size) for (_, role), size in zip(asked, sizes, strict=True)]
    split = split_that_fits(needs, entry * sum(sizes)) if target.setmaxnreg else [entry] * len(asked)
    if split is None or sum(sizes) * WARPGROUP_WARPS > MAX_CTA_WARPS:
        return None
    counts = [f"{count} for '@{key[0]}::@{key[1]}'" for (key, _), count in zip(asked, split, strict=True)]
    return f"{', '.join(counts)} would fit"


def _check_groups(graph: ConnectionGraph, diagnostics: Diagnostics) -> None:
    """A role is in one exclusive group: two would put it after others twice."""
    first: dict[SymbolRef, Exclusive] = {}
    for exclusive in graph.kernel.exclusives:
        for ref in dict.fromkeys(exclusive.roles):
            other = first.setdefault(ref, exclusive)
            if other is not exclusive:
                message = f"'{ref}' is in exclusive group '{exclusive.name}' and in '{other.name}'; a role is in one"
                notes = [Note("the other group is declared here", other.location)]
                diagnostics.error("duplicate-name", message, exclusive.location, notes=notes)


def _check_barriers(graph: ConnectionGraph, diagnostics: Diagnostics) -> None:
    exclusive = {(ref.root, ref.leaf) for group in graph.kernel.exclusives for ref in group.roles}
    counted: list[tuple[str, str, Note]] = []
    for instance, component in graph.components.items():
        shared = any((instance, role) in exclusive for role in component.roles)
        if shared:  # may share its ids with those that it excludes
            continue
        for barrier in component.barriers.values():
            note = Note(f"'@{instance}::@{barrier.name}' is one", barrier.location)
            counted.append((instance, barrier.name, note))
    if len(counted) > NAMED_BARRIERS - 1:
        message = (
            f"kernel '{graph.kernel.name}' needs {len(counted)} named barriers, "
            f"a CTA has {NAMED_BARRIERS - 1} besides its own"
        )
        notes = [note for *_, note in counted]
        diagnostics.error("too-many-barriers", message, graph.kernel.location, notes=notes)


def _check_programmatic(
    views: Sequence[Kernel | Component], kernel: str, target: Target, diagnostics: Diagnostics
) -> None:
    """A kernel that begins before the one in front has ended: on which architectures, and not with all CTAs at once."""
    asked = next((view.programmatic for view in views if view.programmatic is not None), None)
    if asked is None:
        return
    if not target.tma:
        message = f"kernel '{kernel}' is to begin before the one in front of it has ended (programmatic), which "
        diagnostics.error("unsupported-by-target", f"{message}{target.name} cannot", asked.location)
    elif any(view.resident for view in views):
        message = (
            f"kernel '{kernel}' is to begin before the one in front of it has ended (programmatic), and needs all "
        )
        message += "its CTAs to run at once (resident), for which the device has to be free"
        diagnostics.error("launch-conflict", message, asked.location)


def _check_features(graph: ConnectionGraph, target: Target, diagnostics: Diagnostics) -> None:
    for instance, component in graph.components.items():
        where = graph.kernel.instances[instance].location
        for allocation in component.tmem.values():
            if allocation.columns > target.tmem_columns:
                has = f"has {target.tmem_columns} columns" if target.tmem_columns else "has none"
                message = f"'@{instance}::@{allocation.name}' needs {allocation.columns} columns of tensor memory, "
                notes = [Note("declared here", allocation.location)]
                diagnostics.error("unsupported-by-target", f"{message}{target.name} {has}", where, notes=notes)
        if component.mbarriers and not target.tma:
            message = f"instance '{instance}' uses mbarriers with transaction counts, which {target.name} lacks"
            diagnostics.error("unsupported-by-target", message, where)
        if component.cluster_barriers and not target.clusters:
            message = f"instance '{instance}' meets other CTAs of a cluster, which {target.name} does not have"
            diagnostics.error("unsupported-by-target", message, where)
    views = (graph.kernel, *graph.components.values())
    _check_programmatic(views, graph.kernel.name, target, diagnostics)
    for cluster in (view.cluster for view in views):
        if cluster is None:
            continue
        size = math.prod(cluster.value)
        if size > 1 and not target.clusters:
            message = f"a cluster of {size} CTAs is asked, {target.name} has no clusters"
            diagnostics.error("unsupported-by-target", message, cluster.location)
        elif size > MAX_CLUSTER:
            message = f"a cluster of {size} CTAs is asked, the largest has {MAX_CLUSTER}"
            diagnostics.error("cluster-too-large", message, cluster.location)
