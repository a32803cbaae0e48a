"""The plan of a placed kernel's entry: barriers, warps by role, registers, tensor memory.  A part of ``bind``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pipelink.analysis.binding import Allocation, EntryPlan, Mbarriers, Region, RoleEntry, Words
from pipelink.analysis.watch import Watch
from pipelink.ir.views import Component, Connect, Instance, Kernel
from pipelink.transfers import of_pair

REGISTERS_PER_SM: Final = 65536  # 32-bit registers, all architectures from sm_80


def placement_of(view: Instance | Connect) -> dict[str, Any]:
    """The placement that ``bind`` made sure of."""
    assert view.placement is not None, view.name
    return view.placement


def cxx_name(component: str) -> str:
    """``acme::tma_loader`` for ``acme.tma_loader``."""
    return component.replace(".", "::")


def entry_registers(threads: int, min_ctas: int) -> int:
    """Registers per thread that ptxas allots under launch bounds: the register file over all threads, rounded down
    to a multiple of 8, at most 255 (CUDA programming guide, compute capabilities)."""
    return min(REGISTERS_PER_SM // (threads * min_ctas) // 8 * 8, 255)


def plan(kernel: Kernel, components: Mapping[str, Component], watch: Watch) -> EntryPlan:
    """The entry of a placed kernel."""
    placement = kernel.placement or {}
    parameters = (kernel.launch or {})["parameters"]
    return EntryPlan(
        kernel=kernel.name,
        threads=placement["threads"],
        min_ctas=placement.get("min_ctas", 1),
        entry_registers=entry_registers(placement["threads"], placement.get("min_ctas", 1)),
        parameter_bytes=parameters["bytes"],
        parameter_align=parameters["align"],
        mbarriers=tuple(Mbarriers(m["address"], m["count"], m["arrivals"]) for m in placement.get("mbarriers", [])),
        words=tuple(Words(w["address"], w["count"], w["value"]) for w in placement.get("words", [])),
        regions=_regions(kernel, components, placement, watch),
        paired=any(connect.shared or of_pair(connect.placement) for connect in kernel.connects),
        tensor_memory=_tensor_memory(kernel, components, placement),
        drain=any(
            param.tile
            for instance in kernel.instances.values()
            for param in components[instance.component].params.values()
        ),
    )


def _regions(
    kernel: Kernel, components: Mapping[str, Component], placement: Mapping[str, Any], watch: Watch
) -> tuple[Region, ...]:
    """Warpgroups that share a role, joined; each with its roles in order of their threads."""
    roles: list[RoleEntry] = []
    for instance in kernel.instances.values():
        for role in components[instance.component].roles.values():
            placed = placement_of(instance)["roles"][role.name]
            first = 32 * placed["first_warp"]
            before, after = watch.around(f"@{instance.name}::@{role.name}", first)
            roles.append(
                RoleEntry(
                    placement_of(instance)["id"],
                    f"{cxx_name(instance.component)}::{role.name}",
                    first,
                    32 * placed["warps"],
                    role.one_thread,
                    before,
                    after,
                )
            )
    roles.sort(key=lambda role: role.first)
    threads = placement["threads"]
    registers = [group["registers"] for group in placement.get("warpgroups", [])]
    size = 128 if registers else threads
    groups: list[list[int]] = []  # [first, end) in threads
    for first in range(0, threads, size):
        if groups and any(r.first < first < r.first + r.threads for r in roles):
            groups[-1][1] = min(first + size, threads)
        else:
            groups.append([first, min(first + size, threads)])
    return tuple(
        Region(
            first,
            end,
            registers[first // 128] if registers else None,
            tuple(role for role in roles if first <= role.first < end),
        )
        for first, end in groups
    )


def _tensor_memory(
    kernel: Kernel, components: Mapping[str, Component], placement: Mapping[str, Any]
) -> Allocation | None:
    """The allocation.  Its warp is the first that reads a ring there, or the CTA's first: one whose threads stay
    together."""
    if "tmem_columns" not in placement:
        return None
    first = 0
    for connect in kernel.connects:
        if "columns" in placement_of(connect):
            reader = kernel.instances[connect.target.root]
            component = components[reader.component]
            role = component.role_of(component.ports[connect.target.leaf])
            assert role is not None, connect.name
            first = 32 * int(placement_of(reader)["roles"][role.name]["first_warp"])
            break
    pair = any(of_pair(connect.placement) for connect in kernel.connects)
    return Allocation(placement["tmem_word"], placement["tmem_columns"], first, pair)
