"""The transfers: how data go from one port to another.

A transfer is a passive component that ships with PipeLink: CUDA C++ in this folder (``device.cuh`` and one ``.cu`` a
kind), compiled once per toolkit, plus the rule here that says between which ports it is legal.  ``check`` lists the
legal ones of each connection in the order of :data:`TRANSFERS`, which is the order of preference; ``place`` chooses
one; the ``transfer`` pass binds the ports to its functions with placed constants.

A new transfer is a new entry here and, when it has code, a new ``.cu``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pipelink.ir.views import Port, Tile

#: PTX ISA, "Shared memory swizzling": bytes of one swizzled row, and the address bits (4 + n) that are exchanged.
SWIZZLE_ROW_BYTES: Final[dict[str, int]] = {"swizzle128": 128, "swizzle64": 64, "swizzle32": 32}


@dataclass(frozen=True)
class Transfer:
    """One row of the table.  ``applies(source, target)`` returns None where the transfer is legal between the two
    ports, otherwise the reason it is not, as a clause ('the layouts differ: row_major, swizzle128').  ``sources``
    are the files with its device functions (none where the linker alone makes it); a transfer whose ``sources`` are
    None can be checked and placed but not fused.  ``min_arch`` is the oldest architecture that has their
    instructions."""

    name: str
    kind: str
    applies: Callable[[Port, Port], str | None]
    sources: tuple[str, ...] | None = None
    min_arch: str = "sm_80"

    @property
    def has_code(self) -> bool:
        return self.sources is not None


def _difference(source: Tile, target: Tile, index: int, *, layouts: bool = True) -> str | None:
    """Why a slot's tile cannot be read as it was written."""
    what = f"tile {index}"
    if source.element != target.element:
        return f"{what}: the elements differ: {source.element} is written, {target.element} is read"
    if tuple(source.shape) != tuple(target.shape):
        return f"{what}: the shapes differ: {list(source.shape)} is written, {list(target.shape)} is read"
    if source.space != target.space:
        return f"{what}: the spaces differ: {source.space} is written, {target.space} is read"
    if layouts and source.layout_key != target.layout_key:
        return f"{what}: the layouts differ: {source.layout} is written, {target.layout} is read"
    if source.bytes != target.bytes:
        return f"{what}: the sizes differ: {source.bytes} bytes are written, {target.bytes} are read"
    return None


def _tiles_differ(source: Port, target: Port) -> str | None:
    if len(source.tiles) != len(target.tiles):
        return f"the tile counts differ: {len(source.tiles)} are written, {len(target.tiles)} are read"
    for index, (written, read) in enumerate(zip(source.tiles, target.tiles, strict=True)):
        if why := _difference(written, read, index):
            return why
    return None


def _stream(source: Port, target: Port, space: str = "smem", *, pair: bool = False) -> str | None:
    if source.kind != "stream" or target.kind != "stream":
        return f"it links streams, not a {source.kind} to a {target.kind} port"
    if source.direction != "out" or target.direction != "in":
        return f"it goes from an out to an in port, not from {source.direction} to {target.direction}"
    if any(tile.space != space for tile in source.tiles):
        return f"the tiles are not in {space}"
    if (source.cta_group, target.cta_group) != ((2, 2) if pair else (1, 1)):
        return f"it is for cta_group {2 if pair else 1}, not {source.cta_group} to {target.cta_group}"
    return None


def _ring_tma(source: Port, target: Port) -> str | None:
    if why := _stream(source, target):
        return why
    if source.touch != "tma":
        return f"the slots are filled by {source.touch}, not by tma"
    return _tiles_differ(source, target)


def _ring_threads(source: Port, target: Port) -> str | None:
    if why := _stream(source, target):
        return why
    if source.touch != "threads":
        return f"the slots are filled by {source.touch}, not by threads"
    return _tiles_differ(source, target)


def _ring_convert(source: Port, target: Port) -> str | None:
    if why := _stream(source, target):
        return why
    if source.touch != "threads":
        return f"the slots are filled by {source.touch}, not by threads"
    if len(source.tiles) != 1 or len(target.tiles) != 1:
        return "it converts slots of one tile"
    written, read = source.tiles[0], target.tiles[0]
    if why := _difference(written, read, 0, layouts=False):
        return why
    if written.layout != "row_major" or read.layout not in SWIZZLE_ROW_BYTES:
        return f"it converts row_major to a swizzle, not {written.layout} to {read.layout}"
    row_bytes = written.bytes // written.shape[0]
    if row_bytes != SWIZZLE_ROW_BYTES[read.layout]:
        return f"{read.layout} needs rows of {SWIZZLE_ROW_BYTES[read.layout]} bytes, the tile has {row_bytes}"
    return None


def _call(source: Port, target: Port) -> str | None:
    if source.kind != "call" or target.kind != "call":
        return f"it links call ports, not a {source.kind} to a {target.kind} port"
    if source.direction != "calls" or target.direction != "answers":
        return f"it goes from a calls to an answers port, not from {source.direction} to {target.direction}"
    if source.signature != target.signature:
        return f"the signatures differ: {source.signature} is called, {target.signature} answers"
    return None


def _pair(kind: str, source_direction: str, target_direction: str) -> Callable[[Port, Port], str | None]:
    def applies(source: Port, target: Port) -> str | None:
        if source.kind != kind or target.kind != kind:
            return f"it links {kind} ports, not a {source.kind} to a {target.kind} port"
        if (source.direction, target.direction) != (source_direction, target_direction):
            return (
                f"it goes from a port that {source_direction} to one that is {target_direction}, "
                f"not from {source.direction} to {target.direction}"
            )
        return None

    return applies


def _tmem(source: Port, target: Port) -> str | None:
    if why := _stream(source, target, "tmem"):
        return why
    return _tiles_differ(source, target)


def _pair_tma(source: Port, target: Port) -> str | None:
    if why := _stream(source, target, pair=True):
        return why
    if (source.touch, target.touch) != ("tma", "tcgen05"):
        return f"the slots go from {source.touch} to {target.touch}, not from tma to tcgen05"
    if source.ends:
        return "the stream ends, and an end mark reaches one CTA alone"
    return _tiles_differ(source, target)


def _pair_tmem(source: Port, target: Port) -> str | None:
    if why := _stream(source, target, "tmem", pair=True):
        return why
    if source.touch != "tcgen05":
        return f"the accumulators are written by {source.touch}, not by tcgen05"
    return _tiles_differ(source, target)


def _cluster(source: Port, target: Port) -> str | None:
    if why := _stream(source, target):
        return why
    if source.touch not in ("tma", "tma_multicast"):
        return f"the slots are filled by {source.touch}, not by tma"
    if source.ends:
        return "the stream ends, and an end mark reaches one CTA alone"
    return _tiles_differ(source, target)


#: All transfers, in order of preference.
TRANSFERS: Final[tuple[Transfer, ...]] = (
    Transfer("ring.tma", "ring", _ring_tma, sources=("ring.cu",), min_arch="sm_90"),
    Transfer("ring.threads", "ring", _ring_threads, sources=("ring.cu",), min_arch="sm_90"),
    Transfer("ring.threads.convert", "ring", _ring_convert, sources=("ring.cu",), min_arch="sm_90"),
    Transfer("ring.local", "local", lambda *_: "it stays inside one role", sources=("local.cu",), min_arch="sm_80"),
    Transfer("call", "call", _call, sources=()),
    Transfer("token", "token", _pair("token", "out", "in"), sources=("ring.cu",), min_arch="sm_90"),
    Transfer("cluster", "ring", _cluster, sources=("ring.cu", "cluster.cu"), min_arch="sm_90"),
    Transfer("tmem", "tmem", _tmem, sources=("tmem.cu",), min_arch="sm_100f"),
    Transfer("pair.tma", "ring", _pair_tma, sources=("pair.cu",), min_arch="sm_100f"),
    Transfer("pair.tmem", "tmem", _pair_tmem, sources=("pair.cu",), min_arch="sm_100f"),
    Transfer("signal", "signal", _pair("signal", "out", "in")),
    Transfer("dispatch", "dispatch", _pair("dispatch", "dispatches", "dispatched")),
    Transfer("lease", "lease", _pair("lease", "lends", "borrows")),
)

BY_NAME: Final[dict[str, Transfer]] = {t.name: t for t in TRANSFERS}


#: The unit of an arrival that tensor cores make: tcgen05.commit.
COMMIT: Final = "commit"


def sources(placement: Mapping[str, Any]) -> set[str]:
    """The files whose functions a placed connection, or local ring, calls."""
    found = set(BY_NAME[placement["transfer"]].sources or ())
    if "columns" in placement or COMMIT in (placement.get("producer_unit"), placement.get("consumer_unit")):
        found |= {"ring.cu", "tmem.cu"}
    return found


def of_pair(placement: Mapping[str, Any] | None) -> bool:
    """Whether a placed connection is between the tensor cores of two CTAs (cta_group 2)."""
    return placement is not None and placement["transfer"].startswith("pair.")


def legal(source: Port, target: Port) -> tuple[list[str], dict[str, str]]:
    """The names of the legal transfers in order of preference, and why each other one of the same port kind is not."""
    names: list[str] = []
    refused: dict[str, str] = {}
    for transfer in TRANSFERS:
        why = transfer.applies(source, target)
        if why is None:
            names.append(transfer.name)
        else:
            refused[transfer.name] = why
    return names, refused
