"""Writes a placement back as attributes: on the kernel, on each instance, on each connection."""

from __future__ import annotations

import math
from typing import Any

from pipelink.analysis.launch import Launch
from pipelink.analysis.placement.build import TMEM_WORD, Built, LocalPlan, RingPlan
from pipelink.analysis.placement.model import Options, Placement, Ring
from pipelink.ir.views import Component, Connect, Kernel, Program
from pipelink.target import MBARRIER_BYTES, WARP_THREADS

Attributes = dict[str, Any]


class _Cursors:
    """Numbers the ring positions of the per-thread frame."""

    def __init__(self) -> None:
        self.count = 0
        self.known: dict[tuple[str, str], int] = {}

    def of(self, ring: str, slot: str) -> int:
        if (ring, slot) not in self.known:
            self.known[ring, slot] = self.count
            self.count += 1
        return self.known[ring, slot]


def write(views: Program, kernel: Kernel, built: Built, placement: Placement, launch: Launch, options: Options) -> None:
    """Set every attribute that later passes read."""
    writer = _Writer(views, kernel, built, placement, launch)
    for index, connect in enumerate(kernel.connects):
        connect.set("placement", writer.connect(index, connect))
    for number, instance in enumerate(kernel.instances.values()):
        instance.set("placement", writer.instance(number, instance.name, views.components[instance.component]))
    kernel.set("pipelink.placement", writer.kernel_attribute(options))
    kernel.set("pipelink.launch", writer.launch_attribute())


class _Writer:
    def __init__(self, views: Program, kernel: Kernel, built: Built, placement: Placement, launch: Launch) -> None:
        self.kernel = kernel
        self.components: dict[str, Component] = {
            instance.name: views.components[instance.component] for instance in kernel.instances.values()
        }
        self.built = built
        self.placement = placement
        self.launch = launch
        self.cursors = _Cursors()
        self.rings: dict[str, Ring] = {ring.key: ring for ring in built.problem.rings}
        self.ring_index = {key: index for index, key in enumerate(built.rings)}
        self.threads = {barrier.key: barrier.threads for barrier in built.problem.barriers}
        self.locals: dict[str, list[LocalPlan]] = {}
        for plan in built.locals:
            self.locals.setdefault(plan.instance, []).append(plan)

    # -- connections

    def connect(self, index: int, connect: Connect) -> Attributes:
        transfer = self.built.transfers[index]
        key = f"{connect.source.root}::{connect.source.leaf}"
        if key in self.built.rings:
            return self.ring(self.built.rings[key], connect)
        found: Attributes = {"transfer": transfer}
        source = self.components[connect.source.root].ports[connect.source.leaf]
        if transfer == "token":
            token = next(t for t in self.built.tokens if t.key == key)
            found |= {
                "full": self.placement.mbarrier[key],
                "producer_arrivals": token.producer.count,
                "producer_unit": token.producer.unit,
                "consumer_cursor": self.cursors.of(key, connect.name),
                "initial": token.credit % 2,
            }
        elif transfer == "dispatch":
            found["opcode"] = connect.opcode if connect.opcode is not None else self.opcode(connect)
        elif transfer == "signal":
            found |= {name: source.data[name] for name in _SIGNAL if name in source.data}
        elif transfer == "lease":
            found |= self.pool(f"{connect.source.root}::{source.pool}")
        return found

    def opcode(self, connect: Connect) -> int:
        """The position among the targets of one dispatch port, where none is stated."""
        same = [c for c in self.kernel.connects if c.source == connect.source]
        return next(index for index, other in enumerate(same) if other.target == connect.target)

    def ring(self, plan: RingPlan, connect: Connect) -> Attributes:
        key, placement = plan.key, self.placement
        ring, stages = self.rings[key], placement.stages[key]
        full = placement.mbarrier[key]
        number = next(i for i, c in enumerate(plan.connects) if c.target == connect.target)
        found: Attributes = {
            "transfer": plan.transfer,
            "ring": self.ring_index[key],
            "stages": stages,
            "full": full,
            "empty": full + MBARRIER_BYTES * stages,
            "bytes": sum(tile.bytes for tile in plan.tiles),
            "producer_arrivals": plan.producer.count,
            "producer_unit": plan.producer.unit,
            "producer_fence": plan.fence,
            "producer_cursor": self.cursors.of(key, "producer"),
            "consumer_arrivals": plan.consumer_total,
            "consumer_unit": plan.consumers[number].unit,
            "consumer_fence": plan.refilled[number],
            "consumer_cursor": self.cursors.of(key, plan.consumer_slots[number]),
        }
        if ring.columns:
            columns = zip(placement.columns[key], ring.columns, strict=True)
            found["columns"] = [{"column": at, "stride": part.stride} for at, part in columns]
        else:
            found["buffers"] = self.buffers(key)
        if plan.ends:
            found["end"] = placement.word[key]
        if plan.barrier is not None:
            sizes = {buffer.key: buffer.size for buffer in self.built.problem.buffers}
            found["staging"] = [{"address": placement.buffers[name], "bytes": sizes[name]} for name in plan.staging]
            found["barrier"] = self.barrier(plan.barrier)
        if plan.source.multicast > 1:
            found["multicast"] = plan.source.multicast
        if connect.shared:
            found["shared"] = list(connect.shared)
        return found

    def buffers(self, key: str) -> list[Attributes]:
        return [
            {"address": address, "stride": part.stride, "bytes": part.size}
            for address, part in zip(self.placement.parts[key], self.rings[key].parts, strict=True)
        ]

    def barrier(self, key: str) -> Attributes:
        return {"id": self.placement.barriers[key], "threads": self.threads[key]}

    def pool(self, key: str) -> Attributes:
        part = self.rings[key].parts[0]
        return {"address": self.placement.parts[key][0], "pages": self.placement.stages[key], "stride": part.stride}

    # -- instances

    def instance(self, number: int, name: str, component: Component) -> Attributes:
        placement = self.placement
        found: Attributes = {
            "id": number,
            "roles": {
                role.name: {"first_warp": placement.warps.first[f"{name}::{role.name}"], "warps": role.warps}
                for role in component.roles.values()
            },
            "smem": {smem: placement.buffers[f"{name}::{smem}"] for smem in component.smem},
            "barriers": {barrier: self.barrier(f"{name}::{barrier}") for barrier in component.barriers},
            "params": self.launch.params.get(name, {}),
            "states": {state.name: {"bytes": state.bytes, "align": state.align} for state in component.states.values()},
            "locals": {plan.port.name: self.local(plan.key) for plan in self.locals.get(name, [])},
            "tmem": {tmem: placement.columns[f"{name}::{tmem}"][0] for tmem in component.tmem},
        }
        if component.mbarriers:
            found["mbarriers"] = {one: placement.mbarrier[f"{name}::{one}"] for one in component.mbarriers}
        if component.pools:
            found["pools"] = {pool: self.pool(f"{name}::{pool}") for pool in component.pools}
        return found

    def local(self, key: str) -> Attributes:
        return {
            "transfer": "ring.local",
            "stages": self.placement.stages[key],
            "buffers": self.buffers(key),
            "producer_cursor": self.cursors.of(key, "producer"),
            "consumer_cursor": self.cursors.of(key, "consumer"),
            "barrier": self.barrier(key),
        }

    # -- kernel

    def kernel_attribute(self, options: Options) -> Attributes:
        placement, warps = self.placement, self.placement.warps
        found: Attributes = {
            "threads": warps.warps * WARP_THREADS,
            "warps": warps.warps,
            "min_ctas": self.built.problem.min_ctas,
            "entry_registers": warps.entry_registers,
            "smem_bytes": placement.smem_bytes,
            "cursors": self.cursors.count,
            "mbarriers": self.mbarriers(),
            "words": [
                {"address": at, "count": placement.stages[key] * self.rings[key].words, "value": 0, "name": key}
                for key, at in placement.word.items()
            ],
            "objective": "min-smem" if options.min_smem else "deepest",
            "optimal": placement.optimal,
            "value": placement.value,
            "bound": placement.bound,
            "smem_bound": placement.smem_bound,
            "reasons": placement.reasons,
        }
        if warps.registers is not None:
            found["warpgroups"] = [{"registers": count} for count in warps.registers]
        if math.prod(self.launch.contract["cluster"]) > 1:
            found["cluster"] = self.launch.contract["cluster"]
        if placement.tmem_columns:
            found["tmem_columns"] = placement.tmem_columns
            found["tmem_word"] = placement.buffers[TMEM_WORD]
        return found

    def mbarriers(self) -> list[Attributes]:
        placement = self.placement
        found: list[Attributes] = []
        for key, plan in self.built.rings.items():
            at, stages = placement.mbarrier[key], placement.stages[key]
            for name, address, arrivals in (
                ("full", at, plan.producer.count),
                ("empty", at + MBARRIER_BYTES * stages, plan.consumer_total),
            ):
                found.append({"address": address, "count": stages, "arrivals": arrivals, "name": f"{key} {name}"})
        found += [
            {"address": placement.mbarrier[m.key], "count": m.count, "arrivals": m.arrivals, "name": m.key}
            for m in self.built.problem.mbarriers
        ]
        return found

    def launch_attribute(self) -> Attributes:
        contract = self.launch.contract
        placement = self.placement
        sizes = {
            "threads": placement.warps.warps * WARP_THREADS,
            "smem_bytes": placement.smem_bytes,
            "min_ctas": self.built.problem.min_ctas,
        }
        return {**contract, **sizes}


_SIGNAL = ("scope", "epoch", "reset", "owner", "workspace")
