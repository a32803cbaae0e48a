"""How the two CTAs of a cluster divide the copies of a tile that both need (transfer ``cluster``).

A component's tensor map has the tile's box or a smaller one.  The tile's: the map that is made has half the rows, and
each CTA copies its half of the tile to both.  A smaller one, for a tile of several copies: the box stays, and each CTA
makes the copies into its half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pipelink.ir.views import Component, Port, Tile

CLUSTER_CTAS: Final = 2
_REPEATS: Final = {"swizzle128": 1024, "swizzle64": 512, "swizzle32": 256}  # bytes after which a swizzle starts anew
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
    if odd or shape[0] % CLUSTER_CTAS or half % _REPEATS.get(tile.layout, _TMA_ALIGN):
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
