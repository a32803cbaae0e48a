"""A ring that both CTAs of a cluster fill together (``cluster.cu``): TMA multicasts the tiles that both need.

How they divide such a tile depends on the component's tensor map, which has the tile's box or a smaller one.  The
tile's: the map that is made has half the rows, and each CTA copies its half of the tile to both.  A smaller one, for a
tile of several copies: the box stays, and each CTA makes the copies into its half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from pipelink.contract.vocabulary import SWIZZLES
from pipelink.ir.views import Component, Connect, Port, Tile
from pipelink.model.binding import Const
from pipelink.model.graph import ConnectionGraph, Edge
from pipelink.support.diagnostics import Diagnostics
from pipelink.transfers.base import CLUSTER_CTAS, Arrival, declared
from pipelink.transfers.ring import RingTma
from pipelink.transfers.stream import LOCKSTEP, Copy

_TMA_ALIGN: Final = 128  # bytes, where a copy may start in shared memory


@dataclass(frozen=True)
class Split:
    """The box of the map that is made; rows (0: the tile takes several copies) and bytes of a CTA's half."""

    box: tuple[int, ...]
    rows: int
    bytes: int


def split(tile: Tile, box: tuple[int, ...] | None) -> Split | str:
    """How a shared tile is divided for a map with ``box`` (None: the tile), or why it cannot be, as a clause."""
    shape = tuple(tile.shape)
    if len(shape) != 2:
        return f"it has {len(shape)} dimensions, not 2"
    half, odd = divmod(tile.bytes, CLUSTER_CTAS)
    start = SWIZZLES[tile.layout].repeat_bytes if tile.layout in SWIZZLES else _TMA_ALIGN
    if odd or shape[0] % CLUSTER_CTAS or half % start:
        return f"its {shape[0]} rows of {tile.layout} have no half that a copy can start at"
    if box is None or tuple(box)[-2:] == shape:
        rows = shape[0] // CLUSTER_CTAS
        return Split((*(box or ())[:-2], rows, shape[1]), rows, half)
    elements = 1
    for extent in box:
        elements *= extent
    if shape[0] * shape[1] // CLUSTER_CTAS % elements:
        return f"copies of {'×'.join(map(str, box))} do not divide half of it evenly"
    return Split(tuple(box), 0, half)


def division(component: Component, port: Port, part: int) -> Split | str:
    """How the copies of one part of a port are divided, over all maps that its component has for it."""
    tile = port.tiles[part]
    maps = [p for p in component.params.values() if p.type == "tensor_map" and (p.port, p.part) == (port.name, part)]
    found = [split(tile, param.box) for param in maps] or [split(tile, None)]
    for one in found:
        if isinstance(one, str):
            return one
    if len({(one.rows, one.bytes) for one in found if isinstance(one, Split)}) > 1:
        return "some of its tensor maps bring the tile at once, some in several copies"
    return found[0]


class Cluster(RingTma):
    """The linker multicasts the tiles that a connection shares; a component that multicasts by itself can be checked
    and placed."""

    name: ClassVar[str] = "cluster"
    sources: ClassVar[tuple[str, ...] | None] = ("ring.cu", "cluster.cu")
    filled_by: ClassVar[tuple[str, ...]] = ("tma", "tma_multicast")
    release_function: ClassVar[str] = "pl_cluster_release"

    def touch_misfit(self, source: Port, target: Port) -> str | None:
        why = super().touch_misfit(source, target)
        return why or ("the stream ends, and an end mark reaches one CTA alone" if source.ends else None)

    def unrequested(self, connect: Connect, source: Port) -> str | None:
        if source.touch != "tma" or connect.shared or connect.transfer == self.name:
            return super().unrequested(connect, source)
        return "the connection does not say which tiles both CTAs share"

    def has_code(self, connect: Connect) -> bool:
        return bool(connect.shared)

    def way_out(self) -> str | None:
        how = "fill the port by tma, and say on the connection which tiles both CTAs need, shared = [0, …]"
        return f"let the linker multicast: {how}"

    def copies(self, component: Component, connect: Connect, port: Port, own: list[Copy]) -> list[Copy]:
        found = list(own)
        for part in connect.shared:
            divided = division(component, port, part)
            assert isinstance(divided, Split), divided  # check refuses others
            found[part] = Copy("pl_cluster_tma", (Const(divided.rows), Const(divided.bytes)))
        return found

    def unmodelled(self, connect: Connect, producer: bool) -> str | None:
        return None if connect.shared or not producer else "'{port}' is multicast by the component itself"

    def reaches_peer(self, connect: Connect, source: Port, target: Port) -> bool:
        return True

    def copied(self, connect: Connect, port: Port, at: int, cta: int, ctas: int) -> tuple[Arrival, ...]:
        if not connect.shared:
            return super().copied(connect, port, at, cta, ctas)
        half = sum(port.tiles[part].bytes for part in connect.shared) // ctas
        own = sum(tile.bytes for tile in port.tiles) - half * (ctas - 1)
        return tuple(Arrival(other, at, bytes=own if other == cta else half) for other in range(ctas))

    def given(self, producer: bool, connect: Connect, unit: str, at: int, cta: int, ctas: int) -> tuple[Arrival, ...]:
        if producer or not connect.shared:
            return super().given(producer, connect, unit, at, cta, ctas)
        # a warpgroup's first warp arrives in CTA 0, its second in CTA 1
        skew = 32 if unit == "warpgroup" else 0
        return tuple(Arrival(other, at, unit, skew=skew * other) for other in range(ctas))


def check_shared(graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
    """Where a connection shares tiles, or asks for the transfer that does: whether the kernel has the cluster that it
    is for, and both CTAs can share what they shall."""
    connect, port, where = edge.connect, edge.source.port, edge.connect.location
    asked = connect.transfer == Cluster.name
    if not connect.shared and not (asked and port.touch == "tma"):
        return

    def refuse(message: str, hint: str | None = None) -> None:
        diagnostics.error("cluster-mismatch", message, where, notes=declared(port), hint=hint)

    if not asked:
        refuse(f"{edge.source} to {edge.target} shares tiles, which transfer 'cluster' alone does", "ask for it")
        return
    ctas = graph.cluster_size
    if ctas != CLUSTER_CTAS:
        what = f"clusters of {ctas} CTAs" if ctas > 1 else "no cluster"
        message = f"transfer 'cluster' of {edge.source} to {edge.target} is for clusters of {CLUSTER_CTAS} CTAs, "
        refuse(f"{message}kernel '{graph.kernel.name}' has {what}")
        return
    if not connect.shared:
        refuse(f"{edge.source} to {edge.target} does not say which tiles both CTAs share", "shared = [1]")
    for part in dict.fromkeys(connect.shared):
        if part >= len(port.tiles) or connect.shared.count(part) > 1:
            why = f"it has {len(port.tiles)} tiles" if part >= len(port.tiles) else "it is listed twice"
        else:
            divided = division(edge.source.component, port, part)
            why = divided if isinstance(divided, str) else None
        if why:
            refuse(f"tile {part} of {edge.source} cannot be shared: {why}")
    of = [p.part for p in edge.source.component.params.values() if p.type == "tensor_map" and p.port == port.name]
    lacking = next((part for part in range(len(port.tiles)) if of and part not in of), None)
    if connect.shared and lacking is not None:
        message = (
            f"tile {lacking} of {edge.source} has no tensor map of its own; the box of another may bring half a tile"
        )
        refuse(message, "declare a tensor map for each tile of a connection that shares some")
    other = next((c for c in graph.by_source[edge.source.key] if c.connect.shared != connect.shared), None)
    if other is not None:
        refuse(f"the connections of {edge.source} share different tiles")
    if not graph.promises(LOCKSTEP, CLUSTER_CTAS, edge.source.instance.name):
        message = f"{edge.source} to {edge.target} shares tiles between the CTAs of a cluster, but nothing promises "
        refuse(
            f"{message}{LOCKSTEP} = {CLUSTER_CTAS}: that both take equally many slots, with the same shared tiles",
            "let a scheduler for clusters deal out the work, such as plc::paired_tiles",
        )
