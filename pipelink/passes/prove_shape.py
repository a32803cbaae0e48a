"""Part of ``prove``: do the parts of a placement agree with each other and with the contracts?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pipelink.analysis.placement.validate import validate
from pipelink.ir.placement import (
    ClusterMeeting,
    ConnectionPlacement,
    KernelPlacement,
    LocalRing,
    RingPlacement,
    TokenPlacement,
)
from pipelink.ir.views import Component, Connect, Kernel, Port
from pipelink.support.diagnostics import Diagnostics, Location, Note
from pipelink.target import MBARRIER_BYTES, WARP_THREADS
from pipelink.transfers import placement_of, transfer_of
from pipelink.transfers.binder import placed_instance

WORD_BYTES = 4
MAX_ARRIVALS = (1 << 20) - 1  # PTX ISA, mbarrier: the range of the count

#: What all connections of one port hold in common.
_SHARED = (
    "transfer", "stages", "full", "empty", "end", "bytes", "buffers", "columns", "staging", "barrier",
    "producer_arrivals", "producer_unit", "producer_fence", "producer_cursor", "consumer_arrivals",
)  # fmt: skip

#: What has a position in the frame, and the key that names it.
_CURSORS: Final = {"the producer of ": "producer_cursor", "the consumer of ": "consumer_cursor", "": "cursor"}


def check_shape(kernel: Kernel, components: Mapping[str, Component], diagnostics: Diagnostics) -> bool:
    """Whether the placement of a kernel can be read and does not contradict itself; ``components`` by name.  Reports
    ``not-placed``, ``bad-placement`` and ``arrival-count``.  Where the result is False nothing else should look at it.
    """
    before = len(diagnostics.errors)
    if not validate(kernel, components, diagnostics):
        return False
    placement = kernel.placement
    assert placement is not None
    _Checker(kernel, components, placement, diagnostics).agreement()
    return all(item.id != "bad-placement" for item in diagnostics.errors[before:])


class _Checker:
    def __init__(
        self, kernel: Kernel, components: Mapping[str, Component], placement: KernelPlacement, diagnostics: Diagnostics
    ) -> None:
        self.kernel = kernel
        self.components = components
        self.diagnostics = diagnostics
        self.placement = placement
        self.launch: dict[str, Any] = kernel.launch or {}

    def error(self, message: str, where: Location, notes: Iterable[Note] = ()) -> None:
        self.diagnostics.error("bad-placement", message, where, notes=list(notes))

    def port(self, connect: Connect, end: str) -> Port:
        ref = connect.source if end == "source" else connect.target
        return self.components[self.kernel.instances[ref.root].component].ports[ref.leaf]

    def agreement(self) -> None:
        """What the entry sets up against what the functions of ports will use."""
        kernel, placement = self.kernel, self.placement
        where = kernel.location
        if placement.threads != WARP_THREADS * placement.warps:
            message = f"{placement.threads} threads are placed on {placement.warps} warps of {WARP_THREADS}"
            self.error(message, where)
        placed_with = {
            "threads": placement.threads, "smem_bytes": placement.smem_bytes, "min_ctas": placement.min_ctas,
        }  # fmt: skip
        for key, value in placed_with.items():
            if self.launch.get(key, value) != value:
                message = f"kernel '{kernel.name}' is placed with {key} = {value} and launched with "
                self.error(f"{message}{self.launch[key]}", where)
        asked = kernel.min_ctas or 1
        if placement.min_ctas < asked:
            message = f"{asked} CTAs of kernel '{kernel.name}' are asked on one SM, {placement.min_ctas} are placed"
            self.error(message, where)
        launched = self.launch.get("cluster", [1, 1, 1])
        cluster = list(placement.cluster) or [1, 1, 1]
        if cluster != launched:
            message = f"the entry is for clusters of {cluster}, the launch has {launched}"
            self.error(message, where)
        ids = [i.placement.id for i in kernel.instances.values() if i.placement]
        if len(set(ids)) < len(ids):
            self.error(f"two instances of kernel '{kernel.name}' have one id: {sorted(ids)}", where)
        self.cursors()
        self.connections()

    def connections(self) -> None:
        placement = self.placement
        expected = _expand(((m.address, m.count, m.arrivals) for m in placement.mbarriers), MBARRIER_BYTES)
        words = _expand(((w.address, w.count, w.value) for w in placement.words), WORD_BYTES)
        owners: dict[int, str] = {}
        first: dict[tuple[str, ...], Connect] = {}
        for connect in self.kernel.connects:
            placed, what = placement_of(connect), f"'{connect.source}' to '{connect.target}'"
            if not isinstance(placed, RingPlacement | TokenPlacement):
                continue
            other = first.setdefault(connect.source.path, connect)
            for key in _SHARED:
                ours, theirs = getattr(placed, key, None), getattr(placement_of(other), key, None)
                if ours != theirs:
                    message = f"{what} is placed with {key} = {ours}, another connection of "
                    notes = [Note("placed here", other.location)]
                    self.error(f"{message}'{connect.source}' with {theirs}", connect.location, notes)
                    break
            if other is connect:
                self.mbarriers(connect, placed, what, expected, owners)
                self.marks(connect, placed, what, words)
            self.depth(connect, transfer_of(connect).depth(placed), what)
        self.cluster_barriers(expected, owners)

    def marks(self, connect: Connect, placed: ConnectionPlacement, what: str, words: Mapping[int, int]) -> None:
        """The entry clears each end mark."""
        if not isinstance(placed, RingPlacement) or placed.end is None:
            return
        if any(words.get(at) != 0 for at in _slots(placed.end, placed.stages, WORD_BYTES)):
            message = f"the end marks of {what} at {placed.end} are not {placed.stages} words that the entry clears"
            self.error(message, connect.location)

    def mbarriers(
        self,
        connect: Connect,
        placed: RingPlacement | TokenPlacement,
        what: str,
        expected: dict[int, int],
        owners: dict[int, str],
    ) -> None:
        """The entry initialises each mbarrier of a ring or token, with its arrivals, and no two share one."""
        lease = placed.lease if isinstance(placed, RingPlacement) else None
        owner = what if lease is None else f"the pages of '@{lease.replace('::', '::@')}'"
        groups = [("full", "producer", placed.full, placed.producer_arrivals)]
        if isinstance(placed, RingPlacement):
            groups.append(("empty", "consumer", placed.empty, placed.consumer_arrivals))
        for key, side, first, arrivals in groups:
            for at in _slots(first, transfer_of(connect).depth(placed), MBARRIER_BYTES):
                if at not in expected:
                    message = f"the entry initialises no mbarrier at {at}, where {what} has one of its {key} ones"
                    self.error(message, connect.location)
                elif not 1 <= expected[at] <= MAX_ARRIVALS:
                    message = f"the {key} mbarriers of {what} expect {expected[at]} arrivals, not 1 to {MAX_ARRIVALS}"
                    self.diagnostics.error("arrival-count", message, connect.location)
                elif expected[at] != arrivals:
                    message = f"a phase of the {key} mbarriers of {what} takes {arrivals} arrivals of its {side}, "
                    message += f"the entry initialises them with {expected[at]}"
                    self.diagnostics.error("arrival-count", message, connect.location)
                elif owners.get(at, owner) != owner or (at in owners and lease is None):
                    message = f"the {key} mbarriers of {what} and those of {owners[at]} are both at {at}"
                    self.diagnostics.error("placement-overlap", message, connect.location)
                else:
                    owners[at] = owner
                    continue
                break

    def cluster_barriers(self, expected: dict[int, int], owners: dict[int, str]) -> None:
        """The entry initialises the mbarrier of each cluster barrier, and nothing else has it."""
        for instance in self.kernel.instances.values():
            declared = self.components[instance.component].mbarriers
            for name, first in placed_instance(instance).mbarriers.items():
                for at in _slots(first, declared[name].count, MBARRIER_BYTES):
                    owners.setdefault(at, f"'@{instance.name}::@{name}'")
        for instance in self.kernel.instances.values():
            for name, placed in placed_instance(instance).cluster_barriers.items():
                what = f"'@{instance.name}::@{name}'"
                if placed.address not in expected:
                    message = f"the entry initialises no mbarrier at {placed.address}, where {what} has its own"
                    self.error(message, instance.location)
                elif placed.address in owners:
                    message = f"the mbarrier of {what} and those of {owners[placed.address]} are both at "
                    message += f"{placed.address}"
                    self.diagnostics.error("placement-overlap", message, instance.location)
                owners.setdefault(placed.address, what)

    def depth(self, connect: Connect, stages: int, what: str) -> None:
        """Whether both ports and the connection accept the number of slots."""
        for end in ("source", "target"):
            port = self.port(connect, end)
            low, high = port.stages
            if port.kind == "stream" and not low <= stages <= high:
                ref = connect.source if end == "source" else connect.target
                message = f"{what} is placed in {stages} stages, '{ref}' accepts {low} … {high}"
                notes = [Note("the port is declared here", port.location)]
                self.error(message, connect.location, notes)
                return
        if connect.stages is not None and stages != connect.stages:
            message = f"{what} is placed in {stages} stages, the connection asks for {connect.stages}"
            self.error(message, connect.location)

    def cursors(self) -> None:
        """The frame has room for the position of each ring."""
        count = self.placement.cursors
        views: list[tuple[str, ConnectionPlacement | LocalRing | ClusterMeeting | None, Location]] = [
            (f"'{connect.source}' to '{connect.target}'", placement_of(connect), connect.location)
            for connect in self.kernel.connects
        ]
        for instance in self.kernel.instances.values():
            local_rings = instance.placement.locals if instance.placement else {}
            met = instance.placement.cluster_barriers if instance.placement else {}
            views += [(f"'@{instance.name}::@{port}'", ring, instance.location) for port, ring in local_rings.items()]
            views += [(f"'@{instance.name}::@{name}'", one, instance.location) for name, one in met.items()]
        for what, placed, where in views:
            for end, name in _CURSORS.items():
                cursor: int | None = getattr(placed, name, None)
                if cursor is not None and cursor >= count:
                    self.error(f"{end}{what} has position {cursor}, the frame has {count}", where)


def _slots(address: int, count: int, size: int) -> range:
    return range(address, address + size * count, size)


def _expand(groups: Iterable[tuple[int, int, int]], size: int) -> dict[int, int]:
    """What is set up at each address."""
    return {at: value for address, count, value in groups for at in _slots(address, count, size)}
