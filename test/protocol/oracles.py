"""What goes wrong in a placement without any step being taken: an opinion of its own on fences, registers, alignment
and what the hardware takes, in as few lines as the rules allow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from pipelink.ir.views import Component, Connect, Kernel, Port
from pipelink.support.protocol import Action, Block, Choose, Fence, Rank, Repeat, Step, Until
from pipelink.support.protocol_text import parse_text

ASYNC = ("tma", "wgmma", "tcgen05")
SWIZZLE = {"swizzle128": 1024, "swizzle64": 512, "swizzle32": 256}
REGISTER_FILE = 65536  # registers of an SM


def faults(kernel: Kernel, components: Mapping[str, Component]) -> Iterator[str]:
    """Every fault found."""
    of = {name: components[instance.component] for name, instance in kernel.instances.items()}
    yield from _fences(kernel, of)
    yield from _units(kernel, of)
    yield from _clusters(kernel, of)
    yield from _warps(kernel, of)
    yield from _registers(kernel, of)
    yield from _addresses(kernel, of)
    yield from _barriers(kernel, of)
    yield from _signals(kernel, of)
    yield from _polls(kernel, of)


def _ports(connect: Connect, of: Mapping[str, Component]) -> tuple[Port, Port]:
    return of[connect.source.root].ports[connect.source.leaf], of[connect.target.root].ports[connect.target.leaf]


def _fences(kernel: Kernel, of: Mapping[str, Component]) -> Iterator[str]:
    """Data that cross between ordinary and asynchronous accesses need fence.proxy.async (PTX ISA, proxies)."""
    for connect in kernel.connects:
        source, target = _ports(connect, of)
        placed = connect.data.get("placement") or {}
        if source.kind != "stream" or any(tile.space != "smem" for tile in source.tiles):
            continue
        if source.touch == "threads" and target.touch in ASYNC and not placed.get("producer_fence"):
            yield f"{connect.source}: threads write, {target.touch} reads, no fence"
        if source.touch == "tma" and target.touch == "threads" and not placed.get("consumer_fence"):
            yield f"{connect.target}: threads read, tma writes next, no fence"


def _units(kernel: Kernel, of: Mapping[str, Component]) -> Iterator[str]:
    """The first thread of a warpgroup speaks for the others only after an instruction of all of them; the first of a
    warp meets it, for which the warp has to be there."""
    for connect in kernel.connects:
        source, target = _ports(connect, of)
        placed = connect.data.get("placement") or {}
        for port, instance, unit in (
            (source, connect.source.root, placed.get("producer_unit")),
            (target, connect.target.root, placed.get("consumer_unit")),
        ):
            role = of[instance].role_of(port)
            if role is None:
                continue
            if unit == "warpgroup" and not role.one_thread and port.touch != "wgmma":
                yield f"{instance}::{port.name}: one thread of a warpgroup arrives for what {port.touch} do"
            if unit == "warp" and role.one_thread:
                yield f"{instance}::{port.name}: one thread arrives as a warp"


def _clusters(kernel: Kernel, of: Mapping[str, Component]) -> Iterator[str]:
    """A role that meets that of other CTAs arrives by lanes of its warps, which one thread has not; and the parity of
    each meeting has a place of the frame to itself."""
    frame = (kernel.data.get("pipelink.placement") or {}).get("cursors", 0)
    for name, instance in kernel.instances.items():
        placed = instance.data.get("placement") or {}
        for barrier, one in placed.get("cluster_barriers", {}).items():
            declared = of[name].cluster_barriers[barrier]
            roles = [role for role in of[name].roles.values() if declared.role in (None, role.name)]
            if one["unit"] == "warp" and any(role.one_thread for role in roles):
                yield f"{name}::{barrier}: one thread arrives as a warp"
            if not 0 <= one["cursor"] < frame:
                yield f"{name}::{barrier}: position {one['cursor']} of a frame of {frame}"


def _warps(kernel: Kernel, of: Mapping[str, Component]) -> Iterator[str]:
    """Each role, or the roles of an exclusive group, on warps of its own, all of them launched, whole warpgroups where
    it wants them."""
    taken: dict[int, str] = {}
    groups = {f"{ref.root}::{ref.leaf}": group.name for group in kernel.exclusives for ref in group.roles}
    starts: dict[str, int] = {}
    for name, instance in kernel.instances.items():
        for role in of[name].roles.values():
            first = (instance.data.get("placement") or {})["roles"][role.name]["first_warp"]
            if first % role.align or first + role.warps > (kernel.data.get("pipelink.placement") or {})["warps"]:
                yield f"{name}::{role.name} from warp {first} on"
            key = groups.get(f"{name}::{role.name}", f"{name}::{role.name}")
            for warp in range(first, first + role.warps):
                if taken.setdefault(warp, key) != key:
                    yield f"{key} and {taken[warp]} on warp {warp}"
            if starts.setdefault(key, first) != first:
                yield f"{key} begins on warps {starts[key]} and {first}"


def _registers(kernel: Kernel, of: Mapping[str, Component]) -> Iterator[str]:
    """setmaxnreg: multiples of 8 from 24 to 256, and in sum no more than the kernel started with, for a raise waits."""
    placement: dict[str, Any] = kernel.data.get("pipelink.placement") or {}
    at_entry = min(REGISTER_FILE // (placement["threads"] * placement["min_ctas"]) // 8 * 8, 255)
    groups = [group["registers"] for group in placement.get("warpgroups", [])]
    if not groups:
        groups = [at_entry] * -(-placement["warps"] // 4)
    elif any(value % 8 or not 24 <= value <= 256 for value in groups):
        yield f"setmaxnreg of {groups}"
    if sum(groups) > at_entry * len(groups):
        yield f"{groups} is more than {at_entry} each"
    for name, instance in kernel.instances.items():
        for role in of[name].roles.values():
            first = (instance.data.get("placement") or {})["roles"][role.name]["first_warp"]
            own = set(groups[first // 4 : (first + role.warps - 1) // 4 + 1])
            if len(own) > 1:
                yield f"{name}::{role.name} has {own}"
            if role.registers and min(own) < role.registers[0]:
                yield f"{name}::{role.name} needs {role.registers[0]} registers, it has {own}"


def _addresses(kernel: Kernel, of: Mapping[str, Component]) -> Iterator[str]:
    """Alignment of what the contract says is aligned, and of swizzles, in every stage."""
    for connect in kernel.connects:
        placed = connect.data.get("placement") or {}
        for port in _ports(connect, of):
            for buffer, tile in zip(placed.get("buffers", []), port.tiles, strict=False):
                need = SWIZZLE.get(tile.layout, tile.align)
                for stage in range(placed["stages"]):
                    if (buffer["address"] + stage * buffer["stride"]) % need:
                        yield f"{port.name}[{stage}] at {buffer}"
    for name, instance in kernel.instances.items():
        placed = instance.data.get("placement") or {}
        for buffer, address in placed.get("smem", {}).items():
            if address % of[name].smem[buffer].align:
                yield f"{name}::{buffer} at {address}"
        for port, ring in placed.get("locals", {}).items():
            for one, tile in zip(ring["buffers"], of[name].ports[port].tiles, strict=True):
                if any((one["address"] + s * one["stride"]) % tile.align for s in range(ring["stages"])):
                    yield f"{name}::{port} at {one}"


def _barriers(kernel: Kernel, of: Mapping[str, Component]) -> Iterator[str]:
    """Sixteen named barriers of whole warps; where tensor memory or a pair is left together, barrier 0 is in use."""
    for name, instance in kernel.instances.items():
        placed = instance.data.get("placement") or {}
        rings = [ring["barrier"] for ring in placed.get("locals", {}).values()]
        turns = [barrier for barriers in placed.get("turns", {}).values() for barrier in barriers]
        for barrier in [*placed.get("barriers", {}).values(), *rings, *turns]:
            if not 0 <= barrier["id"] < 16 or barrier["threads"] % 32 or barrier["threads"] <= 0:
                yield f"{name}: named barrier {barrier}"
            if barrier["id"] == 0 and "tmem_columns" in (kernel.data.get("pipelink.placement") or {}):
                yield f"{name}: barrier 0 is the one at which all leave"


def _signals(kernel: Kernel, of: Mapping[str, Component]) -> Iterator[str]:
    """Additions and waits are the instructions that the placement names: of the scope, and in the memory, that both
    ends state."""
    frame = (kernel.data.get("pipelink.placement") or {}).get("cursors", 0)
    entered: dict[str, int] = {}
    for connect in kernel.connects:
        placed = connect.data.get("placement") or {}
        if placed.get("transfer") != "signal":
            continue
        for port in _ports(connect, of):
            for key in ("scope", "owner", "reset", "workspace"):
                if placed.get(key) != port.data.get(key):
                    yield f"{port.name}: {key} {placed.get(key)}, it states {port.data.get(key)}"
        if not 0 <= placed.get("cursor", 0) < max(frame, 1):
            yield f"{connect.source}: position {placed['cursor']} of a frame of {frame}"
        if "cursor" in placed and entered.setdefault(placed["workspace"], placed["cursor"]) != placed["cursor"]:
            yield f"{connect.source}: the epoch of its memory is entered twice"


def _polls(kernel: Kernel, of: Mapping[str, Component]) -> Iterator[str]:
    """What was polled by ordinary loads is fetched by TMA only behind a fence, on every way (PTX ISA, proxies)."""
    own = {connect.target.path for connect in kernel.connects if "cursor" in (connect.data.get("placement") or {})}
    for name, component in of.items():
        for role, protocol in component.protocols.items():
            for way in _ways(parse_text(protocol.text)):
                polled = False
                for step in way:
                    if isinstance(step, Fence):
                        polled = False
                    elif isinstance(step, Action) and step.verb == "await":
                        polled = polled or (name, step.subject) not in own
                    elif isinstance(step, Action) and step.verb == "copy" and polled:
                        yield f"{name}::{role}: {step.subject} is copied behind a poll without a fence"


def _ways(block: Block) -> Iterator[tuple[Step, ...]]:
    """The ways through a block, its loops with none, one and two rounds."""
    for steps in itertools.product(*(list(_step_ways(step)) for step in block)):
        yield tuple(itertools.chain(*steps))


def _step_ways(step: Step) -> Iterator[tuple[Step, ...]]:
    match step:
        case Repeat(body=body) | Until(body=body):
            ways = list(_ways(body))
            yield from ways if isinstance(step, Repeat) and step.at_least_once else [(), *ways]
            yield from (first + second for first in ways for second in ways)
        case Rank(body=body):
            yield from [(), *_ways(body)]
        case Choose(ways=choices):
            yield from itertools.chain(*map(_ways, choices))
        case _:
            yield (step,)
