"""Gathers a placed kernel's resources for drawing.

Rows are lifetimes: what always lives comes first, then every alternative of every exclusive group.  Within a row,
regions that share addresses (apart in time, or overlaid) go to lanes of their own, so that none hides another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pipelink.analysis.placement.build import TMEM_WORD, TMEM_WORD_BYTES
from pipelink.analysis.placement.validate import validate
from pipelink.ir.placement import KernelPlacement, RingPlacement, SlotArray
from pipelink.ir.views import Component, Connect, Kernel, Program
from pipelink.model.demand import Scope
from pipelink.model.lifetimes import Lifetimes
from pipelink.support.diagnostics import Diagnostics
from pipelink.target import MBARRIER_BYTES, SMEM_BASE, WARPGROUP_WARPS, target
from pipelink.transfers import placement_of
from pipelink.transfers.binder import placed_instance

SYSTEM = ""  # owner of what no instance owns alone


@dataclass(frozen=True)
class Region:
    """Memory from ``begin`` up to ``end``, in bytes or columns; ``stages`` equal slots if it is a ring's."""

    name: str
    owner: str
    kind: str
    begin: int
    end: int
    stages: int = 1
    note: str = ""

    @property
    def size(self) -> int:
        return self.end - self.begin


@dataclass
class Row:
    """One lifetime and its lanes of regions that do not share addresses; ``group`` is empty for what always lives."""

    title: str
    group: str = ""
    lanes: list[list[Region]] = field(default_factory=list[list[Region]])


@dataclass(frozen=True)
class WarpSpan:
    """A role on its warps; roles of one exclusive group have equal spans and one ``group``."""

    name: str
    owner: str
    first: int
    warps: int
    group: str = ""


@dataclass(frozen=True)
class BarrierUse:
    """A named barrier of one owner."""

    id: int
    name: str
    owner: str
    threads: int


@dataclass(frozen=True)
class PlacementMap:
    """Everything that is drawn.  Addresses are shared-memory bytes, ``limit`` is one past the last usable one."""

    kernel: str
    target: str
    warps: int
    min_ctas: int
    registers: tuple[int, ...]  # by warpgroup; empty without setmaxnreg
    entry_registers: int
    smem_bytes: int
    limit: int
    optimal: bool
    owners: tuple[str, ...]
    rows: tuple[Row, ...]
    spans: tuple[WarpSpan, ...]
    barriers: tuple[BarrierUse, ...]
    mbarriers: tuple[tuple[str, int, int, int], ...]  # name, address, count, arrivals
    columns: tuple[Row, ...]
    tmem_columns: int
    reasons: tuple[str, ...]

    @property
    def regions(self) -> list[Region]:
        """Shared memory by address."""
        found = [region for row in self.rows for lane in row.lanes for region in lane]
        return sorted(found, key=lambda region: (region.begin, region.end, region.name))


def collect(program: Program, kernel: Kernel) -> PlacementMap:
    """The map of a placed kernel.  Raises LinkError ``not-placed``, ``bad-placement``."""
    diagnostics = Diagnostics()
    validate(kernel, program.components, diagnostics)
    diagnostics.raise_if_errors()
    placement = kernel.placement
    assert placement is not None
    return _Collector(program, kernel, placement).run()


class _Collector:
    def __init__(self, program: Program, kernel: Kernel, placement: KernelPlacement) -> None:
        self.kernel = kernel
        self.placement = placement
        self.lifetimes = Lifetimes(program, kernel)
        self.components = self.lifetimes.components
        self.regions: dict[Scope, list[Region]] = {}
        self.columns: dict[Scope, list[Region]] = {}
        self.barriers: list[BarrierUse] = []

    def run(self) -> PlacementMap:
        placement = self.placement
        facts = target(self.kernel.target)
        self.low_memory()
        for name, component in self.components.items():
            self.instance(name, component)
        self.connections()
        self.meetings()
        return PlacementMap(
            kernel=self.kernel.name,
            target=facts.name,
            warps=placement.warps,
            min_ctas=placement.min_ctas,
            registers=placement.registers,
            entry_registers=placement.entry_registers,
            smem_bytes=placement.smem_bytes,
            limit=SMEM_BASE + facts.smem_for(placement.min_ctas),
            optimal=placement.optimal,
            owners=tuple(self.components),
            rows=tuple(_rows(self.regions)),
            spans=tuple(self.spans()),
            barriers=tuple(sorted(self.barriers, key=lambda use: use.id)),
            mbarriers=tuple((m.name, m.address, m.count, m.arrivals) for m in placement.mbarriers),
            columns=tuple(_rows(self.columns)),
            tmem_columns=placement.tmem_columns or 0,
            reasons=placement.reasons,
        )

    def add(self, scope: Scope, region: Region) -> None:
        self.regions.setdefault(scope, []).append(region)

    def low_memory(self) -> None:
        placed = self.placement.mbarriers
        if placed:
            end = max(m.address + MBARRIER_BYTES * m.count for m in placed)
            count = sum(m.count for m in placed)
            self.add(Scope(), Region(f"{count} mbarriers", SYSTEM, "mbarriers", placed[0].address, end))
        words = self.placement.words
        if words:
            end = max(w.address + 4 * w.count for w in words)
            count = sum(w.count for w in words)
            self.add(Scope(), Region(f"{count} end flags", SYSTEM, "end flags", words[0].address, end))
        at = self.placement.tmem_word
        if at is not None:
            self.add(Scope(), Region(TMEM_WORD, SYSTEM, "tensor memory's address", at, at + TMEM_WORD_BYTES))

    def meetings(self) -> None:
        for name, use in self.placement.meetings.items():
            self.barriers.append(BarrierUse(use.id, f"exclusive group {name}", SYSTEM, use.threads))

    def scope(self, instance: str, role: str | None) -> Scope:
        return self.lifetimes.scope(self.lifetimes.users(instance, role))

    def instance(self, name: str, component: Component) -> None:
        placed = placed_instance(self.kernel.instances[name])
        for smem in component.smem.values():
            at = placed.smem[smem.name]
            live = f"live {smem.live[0]} to {smem.live[1]}" if smem.live else ""
            region = Region(f"{name}::{smem.name}", name, "buffer", at, at + smem.bytes, note=live)
            self.add(self.scope(name, smem.role), region)
        for port, local in placed.locals.items():
            scope = self.lifetimes.scope(self.lifetimes.port_users(name, port))
            self.ring(scope, f"{name}::{port}", name, "ring in one role", local.buffers, local.stages)
            self.barriers.append(BarrierUse(local.barrier.id, f"{name}::{port}", name, local.barrier.threads))
        for lease, pages in placed.leases.items():
            end = pages.address + pages.stride * pages.pages
            region = Region(f"{name}::{lease}", name, "pages", pages.address, end, pages.pages)
            self.add(Scope(), region)
        for barrier, use in placed.barriers.items():
            self.barriers.append(BarrierUse(use.id, f"{name}::{barrier}", name, use.threads))
        for turns, uses in placed.turns.items():
            for number, use in enumerate(uses):
                self.barriers.append(BarrierUse(use.id, f"{name}::{turns}[{number}]", name, use.threads))
        for tmem in component.tmem.values():
            at = placed.tmem[tmem.name]
            region = Region(f"{name}::{tmem.name}", name, "columns", at, at + tmem.columns)
            self.columns.setdefault(self.scope(name, tmem.role), []).append(region)

    def ring(self, scope: Scope, key: str, owner: str, kind: str, buffers: tuple[SlotArray, ...], stages: int) -> None:
        for index, part in enumerate(buffers):
            name = key if len(buffers) == 1 else f"{key} {index}"
            end = part.address + part.stride * (stages - 1) + part.bytes
            self.add(scope, Region(name, owner, kind, part.address, end, stages, f"{stages} x {part.bytes}"))

    def connections(self) -> None:
        by_source: dict[str, list[Connect]] = {}
        for connect in self.kernel.connects:
            by_source.setdefault(f"{connect.source.root}::{connect.source.leaf}", []).append(connect)
        for key, connects in by_source.items():
            placed = placement_of(connects[0])
            if not isinstance(placed, RingPlacement):
                continue
            owner = connects[0].source.root
            ends = [(connects[0].source.root, connects[0].source.leaf)]
            producers = self.lifetimes.port_users(*ends[0])
            ends += [(connect.target.root, connect.target.leaf) for connect in connects]
            scope = self.lifetimes.scope(user for end in ends for user in self.lifetimes.port_users(*end))
            self.ring(scope, key, owner, placed.transfer, placed.buffers, placed.stages)
            for column in placed.columns:
                end = column.column + column.stride * placed.stages
                region = Region(key, owner, "ring", column.column, end, placed.stages)
                self.columns.setdefault(scope, []).append(region)
            for staging in placed.staging:
                at = staging.address
                region = Region(f"{key} staging", owner, "staging", at, at + staging.bytes)
                self.add(self.lifetimes.scope(producers), region)
            if placed.barrier is not None:
                use = placed.barrier
                self.barriers.append(BarrierUse(use.id, f"{key} staging", owner, use.threads))

    def spans(self) -> Iterable[WarpSpan]:
        groups = {role: name for name, roles in self.lifetimes.warp_sharers().items() for role in roles}
        for name, instance in self.kernel.instances.items():
            for role, use in placed_instance(instance).roles.items():
                key = f"{name}::{role}"
                yield WarpSpan(key, name, use.first_warp, use.warps, groups.get(key, ""))


def _rows(regions: dict[Scope, list[Region]]) -> list[Row]:
    rows: list[Row] = []
    groups = list(dict.fromkeys(scope.group for scope in regions))
    for scope in sorted(regions, key=lambda s: (s.group is not None, groups.index(s.group))):
        row = Row(scope.alternative or "always", scope.group or "")
        for region in sorted(regions[scope], key=lambda r: (r.begin, -r.end)):
            lane = next((lane for lane in row.lanes if lane[-1].end <= region.begin), None)
            if lane is None:
                row.lanes.append([region])
            else:
                lane.append(region)
        rows.append(row)
    return rows


def warpgroup_count(drawn: PlacementMap) -> int:
    return -(-drawn.warps // WARPGROUP_WARPS)
