"""The plan of a placed kernel's entry: barriers, warps by role, registers, tensor memory.  A part of ``bind``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pipelink.analysis.protocol.language import actions_of, protocol_of
from pipelink.ir.placement import KernelPlacement, NamedBarrier, RingPlacement
from pipelink.ir.views import Component, Kernel
from pipelink.model.binding import (
    DRAIN,
    Allocation,
    Body,
    Const,
    CursorPointer,
    EntryPlan,
    Instruction,
    Invoke,
    Mbarriers,
    Region,
    RoleCall,
    RoleEntry,
    Value,
    Words,
)
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.model.watch import Watch
from pipelink.target import WARP_THREADS, WARPGROUP_WARPS, target
from pipelink.transfers import joined, placement_of, transfer_of, turns
from pipelink.transfers.binder import cxx_name, parameter_address, placed_instance

#: The file of pipelink/transfers with the functions in which the warps of an exclusive group meet.
MEETING_SOURCE: Final = "exclusive.cu"


def plan(kernel: Kernel, lifetimes: Lifetimes, placement: KernelPlacement, calls: RoleCalls) -> EntryPlan:
    """The entry of a placed kernel."""
    parameters = (kernel.launch or {})["parameters"]
    components = {instance.component: lifetimes.components[name] for name, instance in kernel.instances.items()}
    tma = target(kernel.target, kernel.location).tma
    entries = calls.entries(kernel, placement)
    return EntryPlan(
        kernel=kernel.name,
        threads=placement.threads,
        min_ctas=placement.min_ctas,
        entry_registers=target(kernel.target).entry_registers(placement.warps, placement.min_ctas),
        parameter_bytes=parameters["bytes"],
        parameter_align=parameters["align"],
        mbarriers=tuple(Mbarriers(m.address, m.count, m.arrivals) for m in placement.mbarriers),
        words=tuple(Words(w.address, w.count, w.value) for w in placement.words),
        regions=_regions(entries, placement),
        paired=joined(kernel),
        tensor_memory=_tensor_memory(kernel, components, placement),
        drain=tma and any(map(_stores, components.values())),
    )


def _stores(component: Component) -> bool:
    """Whether a contract says that its code copies out of shared memory: by a map of a tile, or in a protocol."""
    if any(param.tile for param in component.params.values()):
        return True
    stated = [of for of, protocol in component.protocols.items() if "store" in protocol.text]
    return any(step.verb == "store" for of in stated for step in actions_of(protocol_of(component, of).body))


class RoleCalls:
    """What calls each role, and what stands ``around`` it: before and behind.  What the transfers of an operation's
    ports ask for is done where the dispatcher's role begins, since that is once a launch."""

    def __init__(self, kernel: Kernel, lifetimes: Lifetimes, watch: Watch) -> None:
        self.watch = watch
        self.firsts: dict[RoleKey, int] = {}
        self.calls: dict[RoleKey, RoleCall] = {}
        self.around: dict[RoleKey, tuple[Body, Body]] = {}
        self.sequences = lifetimes.sequences()
        entrances = _entrances(kernel, lifetimes)
        orders = list(turns.orders(kernel, lifetimes))
        programmatic = bool((kernel.launch or {}).get("programmatic"))
        for instance in kernel.instances.values():
            for role in lifetimes.components[instance.name].roles.values():
                placed, key = placed_instance(instance), f"{instance.name}::{role.name}"
                begin: Body = tuple(order.begin() for order in orders if order.role == key)
                end = tuple(order.end() for order in orders if order.role == key)
                if key in lifetimes.runner_of:
                    self.around[key] = (begin, end)
                    continue
                warps = placed.roles[role.name]
                path, self.firsts[key] = f"{cxx_name(instance.component)}::{role.name}", warps.first_thread
                before, after = watch.around(f"@{instance.name}::@{role.name}", warps.first_thread)
                begun = _begun(role.early and key not in entrances) if programmatic else ()
                before = (*before, *begun, *entrances.get(key, ()), *begin)
                self.calls[key] = RoleCall(placed.id, path, warps.threads, role.one_thread, before, (*end, *after))

    def entries(self, kernel: Kernel, placement: KernelPlacement) -> list[RoleEntry]:
        """What runs on the warps, in order of their threads."""
        calls, found = dict(self.calls), list[RoleEntry]()
        for name, keys in self.sequences.items():
            group = tuple(calls.pop(key) for key in keys)
            meeting = _meeting(kernel, placement.meetings.get(name), placement.tmem_columns is not None)
            found.append(
                RoleEntry(self.firsts[keys[0]], max(c.threads for c in group), group, meeting, self.watch.done)
            )
        found += [
            RoleEntry(self.firsts[key], call.threads, (call,), (), self.watch.done) for key, call in calls.items()
        ]
        return sorted(found, key=lambda entry: entry.first)


def dispatched_meetings(kernel: Kernel, lifetimes: Lifetimes, placement: KernelPlacement) -> dict[RoleKey, Body]:
    """What the threads of a role that dispatches do behind each operation: they meet, where operations have something
    of their own, since what the next one has may lie where the last one's was."""
    found: dict[RoleKey, Body] = {}
    for runner, roles in lifetimes.dispatched.items():
        instance, _, role = runner.partition("::")
        if any(map(lifetimes.private, roles)):
            alone = lifetimes.components[instance].roles[role].one_thread
            barrier, in_tmem = placement.meetings.get(runner), placement.tmem_columns is not None
            plain = all(_plain(lifetimes.components[key.partition("::")[0]]) for key in roles) and all(
                _plain(other) for other in lifetimes.components.values() if not other.roles
            )
            found[runner] = _meeting(kernel, barrier, in_tmem, alone=alone, plain=plain)
    return found


def _plain(component: Component) -> bool:
    """Whether a component's threads alone touch memory of its own, at once: no copies of any kind, no tensor cores."""
    ports = [port for port in component.ports.values() if port.kind == "stream"]
    touches = {port.touch for port in ports if port.direction == "in"}
    local = any(port.direction == "local" for port in ports)
    return not (_stores(component) or component.mbarriers or component.tmem or local) and touches <= {"threads"}


def _begun(early: bool) -> Body:
    """What each thread of a role does first in a programmatic launch: it lets the next kernel of the stream begin, and
    waits until the one in front has ended and what it wrote can be read (PTX ISA, griddepcontrol)."""
    launch, wait = (Instruction(f"griddepcontrol.{what};") for what in ("launch_dependents", "wait"))
    return (launch,) if early else (launch, wait)


def _meeting(
    kernel: Kernel, barrier: NamedBarrier | None, in_tmem: bool, *, alone: bool = False, plain: bool = False
) -> Body:
    """What each thread of an exclusive group does between two roles.  Its copies by cp.async, and the reads of its bulk
    stores, are waited for; its accesses come before copies that the next role lets TMA make to the same bytes (PTX ISA,
    async proxy), and its tcgen05 instructions before the next role's (tcgen05 memory consistency model).  ``alone``: it
    is one thread.  ``plain``: nothing has to settle."""
    settled = [] if plain else [Instruction("cp.async.wait_all;")]
    if not plain and target(kernel.target, kernel.location).tma:
        settled += [Instruction(DRAIN), Instruction("fence.proxy.async.shared::cta;")]
    if alone:
        return tuple(settled)
    meet = Invoke("pl_meet_warp", (), convergent=True)
    if barrier is not None:
        meet = Invoke("pl_meet_warps", (Const(barrier.id), Const(barrier.threads)), convergent=True)
    if plain or not in_tmem:
        return (*settled, meet)
    before, after = (Instruction(f"tcgen05.fence::{when}_thread_sync;") for when in ("before", "after"))
    return (*settled, before, meet, after)


def _regions(roles: list[RoleEntry], placement: KernelPlacement) -> tuple[Region, ...]:
    """Warpgroups that share a role, joined; each with its roles in order of their threads."""
    threads, registers = placement.threads, placement.registers
    size = WARPGROUP_WARPS * WARP_THREADS if registers else threads
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
            registers[first // size] if registers else None,
            tuple(role for role in roles if first <= role.first < end),
        )
        for first, end in groups
    )


def _entrances(kernel: Kernel, lifetimes: Lifetimes) -> dict[RoleKey, tuple[Invoke, ...]]:
    """What each role calls on its frame before its entry, on behalf of the transfers of its ports."""
    found: dict[RoleKey, dict[tuple[str, int], tuple[Value, ...]]] = {}
    for connect in kernel.connects:
        for ref in (connect.source, connect.target):
            instance = kernel.instances[ref.root]
            entrance = transfer_of(connect).entrance(connect, lifetimes.components[instance.name].ports[ref.leaf])
            if entrance is None:
                continue
            offsets = tuple(parameter_address(kernel, instance, name) for name in entrance.parameters)
            for user in lifetimes.port_users(ref.root, ref.leaf):
                user = lifetimes.runner_of.get(user, user)
                found.setdefault(user, {}).setdefault((entrance.function, entrance.cursor), offsets)
    roles = {
        f"{name}::{role.name}": role
        for name, component in lifetimes.components.items()
        for role in component.roles.values()
    }
    warps: dict[tuple[str, int], int] = {}
    for user, calls in found.items():
        for call in calls:
            warps[call] = warps.get(call, 0) + (1 if roles[user].one_thread else roles[user].warps)
    return {
        user: tuple(
            Invoke(call[0], (CursorPointer(call[1]), *offsets, Const(warps[call]), Const(int(roles[user].one_thread))))
            for call, offsets in calls.items()
        )
        for user, calls in found.items()
    }


def _tensor_memory(
    kernel: Kernel, components: Mapping[str, Component], placement: KernelPlacement
) -> Allocation | None:
    """The allocation.  Its warp is the first that reads a ring there, or the CTA's first: one whose threads stay
    together."""
    if placement.tmem_columns is None or placement.tmem_word is None:
        return None
    first = 0
    for connect in kernel.connects:
        ring = placement_of(connect)
        if isinstance(ring, RingPlacement) and ring.columns:
            reader = kernel.instances[connect.target.root]
            component = components[reader.component]
            role = component.role_of(component.ports[connect.target.leaf])
            assert role is not None, connect.name
            first = placed_instance(reader).roles[role.name].first_thread
            break
    pair = any(transfer_of(connect).cta_group > 1 for connect in kernel.connects)
    return Allocation(placement.tmem_word, placement.tmem_columns, first, pair)
