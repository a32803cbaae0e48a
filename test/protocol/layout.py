"""The memory of a simulated kernel: which bytes ring slots, buffers, mbarriers and end marks of the placement have in
common, as numbered cells."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from pipelink.ir.views import Component, Kernel
from test.protocol.machine import Fault, Interval, Machine, Mover, Use, least_parts


class Layout:
    def __init__(self, kernel: Kernel, components: Mapping[str, Component], ctas: int) -> None:
        self.kernel, self.ctas = kernel, ctas
        self.component = {name: components[instance.component] for name, instance in kernel.instances.items()}
        self.placement: dict[str, Any] = kernel.data.get("pipelink.placement") or {}

    def mbarriers(self) -> dict[int, int]:
        """Address -> arrivals, as the entry initialises them: the last word counts."""
        found: dict[int, int] = {}
        for group in self.placement.get("mbarriers", []):
            for index in range(group["count"]):
                address = group["address"] + 8 * index
                if address % 8:
                    raise Fault(f"the mbarrier at {address} is not aligned")
                if not 1 <= group["arrivals"] < 1 << 20:
                    raise Fault(f"the mbarrier at {address} is initialised with {group['arrivals']}")
                found[address] = group["arrivals"]
        return found

    def memory(
        self, movers: list[Mover], uses: list[Use], barriers: list[tuple[int, int]], touched: set[tuple[str, str]]
    ) -> Machine:
        mbarriers = self.mbarriers()
        words = [w["address"] + 4 * i for w in self.placement.get("words", []) for i in range(w["count"])]
        unstated = self.unstated(touched)
        intervals: dict[Interval, None] = {}
        for use in uses:
            intervals |= dict.fromkeys(place for places in use.places for place in places)
        intervals |= dict.fromkeys(("smem", at, at + 8) for at in mbarriers)
        intervals |= dict.fromkeys(("smem", at, at + 4) for at in words)
        intervals |= dict.fromkeys(interval for _, interval in unstated)
        last = 1024 + self.placement.get("smem_bytes", 0)
        for space, first, end in intervals:
            if space == "smem" and (first < 1024 or end > last):
                raise Fault(f"bytes {first} to {end} are outside of the shared memory, 1024 to {last}")
        cells, of = least_parts(list(intervals))

        def cells_of(places: list[Interval]) -> list[int]:
            return sorted({cell for place in places for cell in of[place]})

        for use in uses:
            if use.stages < 1:
                raise Fault(f"{use.name} has no slots")
            for places in use.places:
                if sum(len(of[place]) for place in places) > len(cells_of(places)):
                    raise Fault(f"two tiles of one slot of {use.name} overlap")
            # tensor cores of a pair read the operands, and write the accumulators, of both CTAs
            both = use.function == "pair" and use.unit == "commit"
            ctas = range(self.ctas) if both else (use.cta,)
            use.cells = [[cta * cells + cell for cta in ctas for cell in cells_of(places)] for places in use.places]
            use.masks = [sum(1 << cell for cell in stage) for stage in use.cells]
            if use.end is not None:
                ends = [("smem", use.end + 4 * s, use.end + 4 * s + 4) for s in range(use.stages)]
                if any(end not in of for end in ends):
                    raise Fault(f"{use.name}: no word of the entry at its end marks")
                use.word_cells = [use.cta * cells + cells_of([end])[0] for end in ends]
        own = sum(1 << cell for at in mbarriers for cell in of["smem", at, at + 8])
        masks = [(sum(1 << c for c in of[interval]), name) for name, interval in unstated]
        for (mask, name), (other, second) in itertools.combinations(masks, 2):
            if mask & other and not self.apart(name, second):
                raise Fault(f"{name} and {second} overlap")
        for mask, name in masks:
            if mask & own:
                raise Fault(f"{name} overlaps an mbarrier")
        word_mask = sum(1 << cell for at in words for cell in of["smem", at, at + 4])
        if word_mask & own:
            raise Fault("an end mark overlaps an mbarrier")
        return Machine(
            movers, uses,
            {(cta, at): arrivals for cta in range(self.ctas) for at, arrivals in mbarriers.items()},
            barriers, cells, sum(own << cta * cells for cta in range(self.ctas)),
            {cta * cells + c: 0 for cta in range(self.ctas) for at in words for c in of["smem", at, at + 4]},
            [(mask << cta * cells, name) for cta in range(self.ctas) for mask, name in masks],
        )  # fmt: skip

    def unstated(self, touched: set[tuple[str, str]]) -> list[tuple[str, Interval]]:
        found: list[tuple[str, Interval]] = []
        for instance, component in self.component.items():
            for name, address in (self.kernel.instances[instance].data.get("placement") or {}).get("smem", {}).items():
                if (instance, name) not in touched:
                    found.append((f"{instance}::{name}", ("smem", address, address + component.smem[name].bytes)))
        return found

    def apart(self, first: str, second: str) -> bool:
        """Whether the contract or the kernel says that two buffers may share bytes."""
        (a, x), (b, y) = first.split("::"), second.split("::")
        if a == b:
            one, two = self.component[a].smem[x].live, self.component[b].smem[y].live
            if one and two and (one[1] <= two[0] or two[1] <= one[0]):
                return True
        for overlay in self.kernel.overlays:
            if {first, second} <= {f"{ref.root}::{ref.leaf}" for ref in overlay.data["buffers"]}:
                return True
        for exclusive in self.kernel.exclusives:
            if {a, b} <= {ref.root for ref in exclusive.data["roles"]} and a != b:
                return True
        return False
