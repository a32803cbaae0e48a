"""The changes that make mutants: one at a time, to a placed kernel's dictionaries or to a component's protocol."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipelink.ir.protocol_names import check_names
from pipelink.ir.views import Component, Instance, Kernel
from pipelink.support.diagnostics import LinkError
from pipelink.support.protocol import Action, Block, Callers, Choose, Fence, Rank, Repeat, Step, Until
from pipelink.support.protocol_text import ProtocolError, parse_text

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Change:
    """``place`` names a dictionary: ("kernel",), ("instance", name), ("connect", index, ...), or an operation of a
    component, ("protocol" | "smem" | "role" | "mbarrier", component, name), or a cluster barrier that is left out
    wherever it is, ("meeting", instance, component, name); each of ``edits`` is a path in it with its new value (None:
    removed), of an operation the attribute."""

    kind: str
    what: str
    place: tuple[Any, ...]
    edits: tuple[tuple[Path, Any], ...]

    def apply(self, kernel: Kernel, components: Mapping[str, Component]) -> None:
        if self.place[0] in ("protocol", "smem", "role", "mbarrier"):
            which, component, of = self.place
            views = components[component]
            known = {"protocol": views.protocols, "smem": views.smem, "role": views.roles, "mbarrier": views.mbarriers}
            view = known[which][of]
            for (attribute,), new in self.edits:
                view.set(str(attribute), new)
            return
        if self.place[0] == "meeting":
            _forget(kernel, components[self.place[2]], self.place[1], self.place[3])
            return
        if self.place[0] == "kernel":
            targets: list[tuple[Any, str]] = [(kernel, "pipelink.placement")]
        elif self.place[0] == "instance":
            targets = [(kernel.instances[self.place[1]], "placement")]
        else:
            targets = [(kernel.connects[index], "placement") for index in self.place[1:]]
        for view, key in targets:
            value = copy.deepcopy(view.data[key])
            for path, new in self.edits:
                inner = value
                for part in path[:-1]:
                    inner = inner[part]
                if new is None:
                    del inner[path[-1]]
                else:
                    inner[path[-1]] = new
            view.set(key, value)


def _forget(kernel: Kernel, component: Component, instance: str, barrier: str) -> None:
    """Leave out a cluster barrier: its declaration, its place and its steps."""
    view = kernel.instances[instance]
    placed = copy.deepcopy(view.data["placement"])
    del placed["cluster_barriers"][barrier]
    if not placed["cluster_barriers"]:
        del placed["cluster_barriers"]
    view.set("placement", placed)
    for protocol in component.protocols.values():
        protocol.set("text", spell(_without(parse_text(protocol.text), barrier)))
    component.cluster_barriers[barrier].op.erase()


def _without(block: Block, subject: str) -> Block:
    found: list[Step] = []
    for step in block:
        match step:
            case Action() if step.subject == subject:
                continue
            case Repeat(body=body) | Until(body=body) | Rank(body=body):
                found.append(replace(step, body=_without(body, subject)))
            case Choose(ways=ways):
                found.append(replace(step, ways=tuple(_without(way, subject) for way in ways)))
            case _:
                found.append(step)
    return tuple(found)


def all_changes(kernel: Kernel, components: Mapping[str, Component]) -> Iterator[Change]:
    """Every change of a placed kernel, in a fixed order."""
    yield from _kernel(kernel)
    rings: dict[tuple[str, str], list[int]] = {}
    for index, connect in enumerate(kernel.connects):
        rings.setdefault((connect.source.root, connect.source.leaf), []).append(index)
    for name, indices in rings.items():
        yield from _ring("::".join(name), indices, kernel)
    for name, instance in kernel.instances.items():
        yield from _instance(name, instance, kernel)
    for name in dict.fromkeys(instance.component for instance in kernel.instances.values()):
        yield from _contract(components[name])
        for of in components[name].protocols:
            yield from _protocol(components[name], of)


# -------------------------------------------------------------------------------------------------- dictionaries


def _kernel(kernel: Kernel) -> Iterator[Change]:
    placement: dict[str, Any] = kernel.data.get("pipelink.placement") or {}

    def change(kind: str, what: str, *path: Any, value: Any) -> Change:
        return Change(kind, what, ("kernel",), ((path, value),))

    for i, group in enumerate(placement.get("mbarriers", [])):
        name, arrivals = group["name"], group["arrivals"]
        for value in dict.fromkeys((arrivals - 1, arrivals + 1, 2 * arrivals, 32 * arrivals)):
            yield change("arrival count", f"{name}: {arrivals} -> {value}", "mbarriers", i, "arrivals", value=value)
        yield change("mbarrier", f"{name}: not initialised", "mbarriers", i, value=None)
        yield change("mbarrier", f"{name}: one less", "mbarriers", i, "count", value=group["count"] - 1)
        yield change("mbarrier", f"{name}: 8 bytes further", "mbarriers", i, "address", value=group["address"] + 8)
    for i, word in enumerate(placement.get("words", [])):
        yield change("end mark", f"{word['name']}: not initialised", "words", i, value=None)
        yield change("end mark", f"{word['name']}: elsewhere", "words", i, "address", value=word["address"] + 4)
    for i, group in enumerate(placement.get("warpgroups", [])):
        count = group["registers"]
        for value in dict.fromkeys((16, count - 8, count + 4, count + 8, count + 64, 24, 256)):
            what = f"warpgroup {i}: {count} -> {value}"
            yield change("registers", what, "warpgroups", i, "registers", value=value)
    for group, one in placement.get("meetings", {}).items():
        yield from _named(kernel, ("kernel",), ("meetings", group), f"group {group}", one)
        yield change("meeting", f"group {group}: none", "meetings", group, value=None)
    yield change("shared memory", "less than is placed", "smem_bytes", value=placement["smem_bytes"] - 128)


def _addresses(kernel: Kernel) -> dict[str, int]:
    """Where every ring and buffer begins."""
    found: dict[str, int] = {}
    for connect in kernel.connects:
        for part, buffer in enumerate((connect.data.get("placement") or {}).get("buffers", [])):
            found[f"{connect.source} part {part}"] = buffer["address"]
        for part, buffer in enumerate((connect.data.get("placement") or {}).get("staging", [])):
            found[f"{connect.source} staging {part}"] = buffer["address"]
    for name, instance in kernel.instances.items():
        placed: dict[str, Any] = instance.data.get("placement") or {}
        found |= {f"{name}::{buffer}": address for buffer, address in placed.get("smem", {}).items()}
        for port, ring in placed.get("locals", {}).items():
            found |= {f"{name}::{port} part {i}": b["address"] for i, b in enumerate(ring["buffers"])}
    found["the first mbarrier"] = 1024
    return found


def _barrier_ids(kernel: Kernel) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, instance in kernel.instances.items():
        placed: dict[str, Any] = instance.data.get("placement") or {}
        found |= {f"{name}::{barrier}": one["id"] for barrier, one in placed.get("barriers", {}).items()}
        found |= {f"{name}::{port}": one["barrier"]["id"] for port, one in placed.get("locals", {}).items()}
        found |= {f"{name}::{t}[{n}]": o["id"] for t, of in placed.get("turns", {}).items() for n, o in enumerate(of)}
    for connect in kernel.connects:
        if "barrier" in (connect.data.get("placement") or {}):
            found[f"{connect.source} conversion"] = (connect.data.get("placement") or {})["barrier"]["id"]
    meetings: dict[str, Any] = (kernel.data.get("pipelink.placement") or {}).get("meetings", {})
    return found | {f"group {name}": one["id"] for name, one in meetings.items()}


def _named(kernel: Kernel, place: tuple[Any, ...], path: Path, name: str, barrier: dict[str, int]) -> Iterator[Change]:
    number, threads = barrier["id"], barrier["threads"]
    others = {f"that of {other}": i for other, i in _barrier_ids(kernel).items() if i != number}
    for what, value in {"0": 0, "15": 15, "16": 16, **others}.items():
        yield Change("barrier id", f"{name}: {number} -> {what}", place, (((*path, "id"), value),))
    for value in (threads - 32, threads + 32, threads // 2, threads - 1, 32):
        what = f"{name}: {threads} -> {value}"
        yield Change("barrier threads", what, place, (((*path, "threads"), value),))


def _buffers(
    kernel: Kernel, place: tuple[Any, ...], path: Path, name: str, buffers: list[dict[str, int]]
) -> Iterator[Change]:
    for part, buffer in enumerate(buffers):
        at = (*path, part)
        own, stride = buffer["address"], buffer.get("stride")
        for other, address in _addresses(kernel).items():
            if address != own:
                yield Change("address", f"{name} part {part} where {other} is", place, (((*at, "address"), address),))
        yield Change("address", f"{name} part {part}: 128 bytes further", place, (((*at, "address"), own + 128),))
        yield Change("address", f"{name} part {part}: 4096 bytes further", place, (((*at, "address"), own + 4096),))
        if stride is not None:
            for value in (stride // 2, 0, 2 * stride):
                yield Change("address", f"{name} part {part}: stride {value}", place, (((*at, "stride"), value),))


def _ring(name: str, indices: list[int], kernel: Kernel) -> Iterator[Change]:
    placed: dict[str, Any] = kernel.connects[indices[0]].data.get("placement") or {}
    everywhere = [("connect", *indices)]
    places = everywhere if len(indices) == 1 else [*everywhere, *(("connect", index) for index in indices)]
    if placed["transfer"] == "token":
        place = places[0]
        yield Change("initial parity", f"{name}: flipped", place, ((("initial",), 1 - placed["initial"]),))
        yield from _units(name, place, "producer_unit", placed)
        yield Change("mbarrier", f"{name}: 8 bytes further", place, ((("full",), placed["full"] + 8),))
    if placed["transfer"] == "signal":
        yield from _signal(name, places[0], placed)
    if "stages" not in placed:
        return
    stages = placed["stages"]
    for place in places:
        which = "" if place is places[0] else f" to {kernel.connects[place[1]].target}"
        for value in (stages - 1, stages + 1):
            if value > 0:
                yield Change("ring depth", f"{name}{which}: {stages} -> {value}", place, ((("stages",), value),))
        for key in ("full", "empty"):
            for by in (8, -8):
                what = f"{name}{which}: {key} {by:+} bytes"
                yield Change("mbarrier", what, place, (((key,), placed[key] + by),))
        swapped = ((("full",), placed["empty"]), (("empty",), placed["full"]))
        yield Change("mbarrier", f"{name}{which}: full and empty exchanged", place, swapped)
        yield from _units(f"{name}{which}", place, "consumer_unit", placed)
    place = places[0]
    yield from _units(name, place, "producer_unit", placed)
    for key in ("producer_fence", "consumer_fence"):
        if key in placed:
            yield Change("fence", f"{name}: {key}", place, (((key,), not placed[key]),))
    if placed["producer_unit"] == "tx":
        for value in (placed["bytes"] - 16, placed["bytes"] + 16, placed["bytes"] // 2, 2 * placed["bytes"]):
            yield Change("bytes", f"{name}: {placed['bytes']} -> {value}", place, ((("bytes",), value),))
    if "end" in placed:
        yield Change("end mark", f"{name}: 4 bytes further", place, ((("end",), placed["end"] + 4),))
        yield Change("end mark", f"{name}: on an mbarrier", place, ((("end",), placed["full"]),))
        yield Change("end mark", f"{name}: on a slot", place, ((("end",), placed["buffers"][0]["address"]),))
    if "buffers" in placed:
        yield from _buffers(kernel, place, ("buffers",), name, placed["buffers"])
    if "staging" in placed:
        yield from _buffers(kernel, place, ("staging",), f"{name} staging", placed["staging"])
    if "barrier" in placed:
        yield from _named(kernel, place, ("barrier",), f"{name} conversion", placed["barrier"])
    for index in indices if len(indices) > 1 else ():
        one = kernel.connects[index].data.get("placement") or {}
        shifted = one["buffers"][0]["address"] + one["buffers"][0]["stride"]
        what = f"{name} to {kernel.connects[index].target} alone: one slot further"
        yield Change("address", what, ("connect", index), ((("buffers", 0, "address"), shifted),))


def _signal(name: str, place: tuple[Any, ...], placed: dict[str, Any]) -> Iterator[Change]:
    """Another scope, memory or way of counting than both ends state, and another place of the frame."""
    edits: list[tuple[str, Any]] = [
        *(("scope", scope) for scope in ("cta", "cluster", "gpu", "system")),
        *(("owner", owner) for owner in ("workspace", "peer")),
        *(("reset", reset) for reset in ("epoch", "launch", None)),
        ("workspace", "others"),
        *(("cursor", placed["cursor"] + by) for by in (1, 64) if "cursor" in placed),
    ]
    for key, value in edits:
        if placed.get(key) != value:
            yield Change("signal", f"{name}: {key} {placed.get(key)} -> {value}", place, (((key,), value),))


def _units(name: str, place: tuple[Any, ...], key: str, placed: dict[str, Any]) -> Iterator[Change]:
    if placed[key] in ("thread", "warp", "warpgroup"):
        for unit in ("thread", "warp", "warpgroup"):
            if unit != placed[key]:
                yield Change("arrival unit", f"{name}: {key} {placed[key]} -> {unit}", place, (((key,), unit),))


def _instance(name: str, instance: Instance, kernel: Kernel) -> Iterator[Change]:
    placed: dict[str, Any] = instance.data.get("placement") or {}
    place = ("instance", name)
    for barrier, one in placed.get("barriers", {}).items():
        yield from _named(kernel, place, ("barriers", barrier), f"{name}::{barrier}", one)
    for turns, barriers in placed.get("turns", {}).items():
        for number, one in enumerate(barriers):
            yield from _named(kernel, place, ("turns", turns, number), f"{name}::{turns}[{number}]", one)
    for buffer, address in placed.get("smem", {}).items():
        for other, there in _addresses(kernel).items():
            if there != address:
                what = f"{name}::{buffer} where {other} is"
                yield Change("address", what, place, ((("smem", buffer), there),))
        for by in (8, 256):
            what = f"{name}::{buffer}: {by} bytes further"
            yield Change("address", what, place, ((("smem", buffer), address + by),))
    for mbarrier, address in placed.get("mbarriers", {}).items():
        for by in (8, -8, 256):
            what = f"{name}::{mbarrier}: {by:+} bytes"
            yield Change("mbarrier", what, place, ((("mbarriers", mbarrier), address + by),))
    yield from _cluster_barriers(name, instance, placed.get("cluster_barriers", {}))
    for role, one in placed.get("roles", {}).items():
        for other in kernel.instances.values():
            for taken, where in (other.data.get("placement") or {}).get("roles", {}).items():
                if where["first_warp"] != one["first_warp"]:
                    at = (("roles", role, "first_warp"), where["first_warp"])
                    yield Change("warps", f"{name}::{role} where {other.name}::{taken} is", place, (at,))
        at = (("roles", role, "first_warp"), one["first_warp"] + 1)
        yield Change("warps", f"{name}::{role}: one warp further", place, (at,))
    for param, one in placed.get("params", {}).items():
        if isinstance(one.get("value"), int):
            for value in (one["value"] - 1, one["value"] + 1, 0):
                what = f"{name}::{param}: {one['value']} -> {value}"
                yield Change("trip count", what, place, ((("params", param, "value"), value),))
        elif "field" in one:
            yield Change("trip count", f"{name}::{param}: bound to 2", place, ((("params", param), {"value": 2}),))
    for port, ring in placed.get("locals", {}).items():
        at = ("locals", port)
        for value in (ring["stages"] - 1, ring["stages"] + 1):
            what = f"{name}::{port}: {ring['stages']} -> {value}"
            yield Change("ring depth", what, place, (((*at, "stages"), value),))
        yield from _named(kernel, place, (*at, "barrier"), f"{name}::{port}", ring["barrier"])
        yield from _buffers(kernel, place, (*at, "buffers"), f"{name}::{port}", ring["buffers"])


def _cluster_barriers(name: str, instance: Instance, placed: dict[str, Any]) -> Iterator[Change]:
    """Another mbarrier, unit or place of the frame; or none, and nobody who meets there."""
    for barrier, one in placed.items():
        others = {f"that of {other}": found["cursor"] for other, found in placed.items() if other != barrier}
        edits: list[tuple[str, str, Any]] = [
            *((f"{by:+} bytes", "address", one["address"] + by) for by in (8, -8, 256)),
            *(("at that of " + other, "address", found["address"]) for other, found in placed.items()),
            *((f"one a {unit}", "unit", unit) for unit in ("thread", "warp")),
            *((what, "cursor", value) for what, value in {"a position further": one["cursor"] + 1, **others}.items()),
        ]
        for what, key, value in edits:
            if value != one[key]:
                at = (("cluster_barriers", barrier, key), value)
                yield Change("cluster barrier", f"{name}::{barrier}: {what}", ("instance", name), (at,))
        yield Change("cluster barrier", f"{name}::{barrier}: none", ("meeting", name, instance.component, barrier), ())


# -------------------------------------------------------------------------------------------------- contracts


def _contract(component: Component) -> Iterator[Change]:
    """Intervals and registers that are not what they were when the kernel was placed."""
    for buffer in component.smem.values():
        if buffer.live is not None:
            begin, end = buffer.live
            for value in ([begin, end + 1], [max(begin - 1, 0), end]):
                what = f"{component.name}::{buffer.name}: {[begin, end]} -> {value}"
                yield Change("live interval", what, ("smem", component.name, buffer.name), ((("live",), value),))
    for one in component.mbarriers.values():
        for value in dict.fromkeys((max(one.arrivals - 1, 1), one.arrivals + 1, 32 * one.arrivals)):
            what = f"{component.name}::{one.name}: of {one.arrivals} -> {value}"
            yield Change("arrival count", what, ("mbarrier", component.name, one.name), ((("arrivals",), value),))
    for role in component.roles.values():
        if role.registers is not None:
            low, high = role.registers
            for value in ([low + 24, high + 24], [high, high], [256, 256]):
                what = f"{component.name}::{role.name}: {[low, high]} -> {value}"
                yield Change("register range", what, ("role", component.name, role.name), ((("registers",), value),))


# -------------------------------------------------------------------------------------------------- protocols


def _protocol(component: Component, of: str) -> Iterator[Change]:
    body = parse_text(component.protocols[of].text)
    for kind, what, changed in _variants(body, component, of):
        text = spell(changed)
        try:
            if not changed or check_names(component, of, parse_text(text)):
                continue
        except (ProtocolError, LinkError):
            continue
        yield Change(kind, f"{component.name}::{of}: {what}", ("protocol", component.name, of), ((("text",), text),))


def _variants(block: Block, component: Component, of: str) -> Iterator[tuple[str, str, Block]]:
    for i, step in enumerate(block):
        shown = spell((step,))
        rest = (*block[:i], *block[i + 1 :])
        yield _kind("dropped step", component, step), shown, rest
        yield _kind("doubled step", component, step), shown, (*block[: i + 1], step, *block[i + 1 :])
        if i + 1 < len(block):
            swapped = (*block[:i], block[i + 1], step, *block[i + 2 :])
            yield _kind("order", component, step, block[i + 1]), f"{shown} after {spell((block[i + 1],))}", swapped
        if kind := _kind("", component, step):  # further than by one
            for j in range(len(block)):
                yield kind, f"{shown} as number {j}", (*rest[:j], step, *rest[j:])
        if isinstance(step, Repeat):  # out of the loop
            for j, inner in enumerate(step.body):
                if kind := _kind("", component, inner):
                    loop = replace(step, body=(*step.body[:j], *step.body[j + 1 :]))
                    for where, moved in (("before", (inner, loop)), ("behind", (loop, inner))):
                        yield kind, f"{spell((inner,))} {where} its loop", (*block[:i], *moved, *block[i + 1 :])
        for kind, what, other in _step_variants(step, component, of):
            yield kind, what, (*block[:i], other, *block[i + 1 :])


def _kind(otherwise: str, component: Component, *steps: Step) -> str:
    """The kind of a change to steps: of fences, of bulk copies out of buffers, and of what CTAs of a cluster do in each
    other's memory, there are kinds of their own."""
    if any(isinstance(step, Fence) for step in steps):
        return "proxy fence"
    names = component.cluster_barriers
    if any(isinstance(s, Action) and (s.subject in names or s.verb.startswith("peer_")) for s in steps):
        return "cluster meeting"
    stores = ("store", "stored")
    if any(isinstance(s, Action) and s.verb in stores and s.subject in component.smem for s in steps):
        return "bulk store"
    return otherwise


def _step_variants(step: Step, component: Component, of: str) -> Iterator[tuple[str, str, Step]]:
    match step:
        case Action():
            if step.verb in ("release", "commit", "copy"):
                for keep in sorted({step.keep + 1, max(step.keep - 1, 0)} - {step.keep}):
                    yield "keep", f"{spell((step,))} keep {keep}", replace(step, keep=keep, some=False)
                yield "keep", f"{spell((step,))} all", replace(step, keep=0, some=True)
            if step.verb == "stored":
                yield (
                    "bulk store",
                    f"{spell((step,))} keep {step.keep + 1}",
                    replace(step, keep=step.keep + 1, some=False),
                )
            role = component.roles.get(of)
            if step.by is not None:
                yield "by", f"{spell((step,))} by all", replace(step, by=None)
                yield (
                    "by",
                    f"{spell((step,))} by twice as many",
                    replace(step, by=replace(step.by, count=2 * step.by.count)),
                )
            elif role is not None and role.warps > 1 and step.verb != "call":
                yield "by", f"{spell((step,))} by 1 warp", replace(step, by=Callers(1, "warp"))
                if role.warps >= 8:
                    yield "by", f"{spell((step,))} by 1 warpgroup", replace(step, by=Callers(1, "warpgroup"))
        case Repeat(count=str(count)):
            for other in ("1", "2", f"{count} + 1", f"2 * ({count})"):
                if other != count:
                    yield "trip count", f"repeat {count} -> {other}", replace(step, count=other)
        case Choose(name=name):
            yield "choice", f"{name}: ways exchanged", replace(step, ways=tuple(reversed(step.ways)))
            yield "choice", f"{name}: of its own", replace(step, name=None)
            yield "choice", f"{name}: another name", replace(step, name="elsewise")
        case _:
            pass
    match step:
        case Repeat(body=body) | Until(body=body) | Rank(body=body):
            for kind, what, inner in _variants(body, component, of):
                yield kind, what, replace(step, body=inner)
        case Choose(ways=ways):
            for i, way in enumerate(ways):
                for kind, what, inner in _variants(way, component, of):
                    yield kind, what, replace(step, ways=(*ways[:i], inner, *ways[i + 1 :]))
        case _:
            pass


def spell(block: Block) -> str:
    """The text of steps."""
    return " ".join(_spelled(step) for step in block)


def _spelled(step: Step) -> str:
    match step:
        case Action():
            verb = "" if step.verb == "call" else f".{step.verb}"
            keep = "" if step.some else f" keep {step.keep}"
            by = f" by {step.by.count} {step.by.unit}{'s' if step.by.count > 1 else ''}" if step.by else ""
            return f"{step.subject}{verb}{keep}{by};"
        case Repeat():
            return f"repeat {step.count}{'+' if step.at_least_once else ''} {{ {spell(step.body)} }}"
        case Until():
            return f"until {step.port} {{ {spell(step.body)} }}"
        case Rank():
            return f"rank {step.rank} {{ {spell(step.body)} }}"
        case Choose():
            ways = " or ".join(f"{{ {spell(way)} }}" for way in step.ways)
            return f"choose {step.name} {ways}" if step.name else f"choose {ways}"
        case Fence():
            return "fence async;"


__all__ = ["Change", "all_changes", "spell"]
