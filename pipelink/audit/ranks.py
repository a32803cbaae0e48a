"""The CTAs of a cluster that a protocol tells apart: what each of them does, and how its code knows which it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from pipelink.audit.claims import Claims
from pipelink.support.protocol import Block, Choose, Rank, Repeat, Step, Until
from pipelink.support.protocol_text import steps_of

_RANK: Final = "%cluster_ctarank"


def by_rank(claims: Claims, body: Block) -> Iterator[tuple[int | None, Block, Mapping[str, int]]]:
    """A protocol once for each rank that it names, and for one that it does not, if the cluster has such: the rank, its
    steps, and what special registers are there.  The whole of it, of no rank, where it names none."""
    named = {step.rank for step in steps_of(body) if isinstance(step, Rank)}
    if not named:
        yield None, body, {}
        return
    extents = _extents(claims)
    other = next(rank for rank in range(len(named) + 1) if rank not in named)
    for rank in sorted({*named, other}):
        if extents is None or rank < math.prod(extents):
            line = extents is not None and math.prod(extents) == extents[0]
            place = {f"%cluster_ctaid.{axis}": rank if axis == "x" else 0 for axis in "xyz"} if line else {}
            yield rank, _of(body, rank), {_RANK: rank, **place}


def _extents(claims: Claims) -> list[int] | None:
    """The cluster, where the contract states it."""
    for record in claims.of("cluster"):
        value: Any = record.values.get("value")
        if isinstance(value, list) and value and all(isinstance(extent, int) for extent in value):
            return value
    return None


def _of(body: Block, rank: int) -> Block:
    found: list[Step] = []
    for step in body:
        match step:
            case Rank(rank=of, body=inner):
                found += _of(inner, rank) if of == rank else ()
            case Repeat(body=inner) | Until(body=inner):
                found.append(replace(step, body=_of(inner, rank)))
            case Choose(ways=ways):
                found.append(replace(step, ways=tuple(_of(way, rank) for way in ways)))
            case _:
                found.append(step)
    return tuple(found)
