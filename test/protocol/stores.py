"""Bulk copies out of buffers, for the simulator.  They read through the async proxy, where what threads wrote is seen
behind a fence only, and go on reading until the thread that issued them has waited (PTX ISA, proxies, bulk groups)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from test.protocol.machine import FIELDS, FLIGHT, Fault, Machine, Use


def siblings(machine: Machine, i: int, j: int) -> bool:
    """Whether two movers are of one role, or of one group of roles, and not the same."""
    return i != j and machine.movers[i].role == machine.movers[j].role


def begin(machine: Machine, s: list[Any], bare: Iterable[tuple[int, str, int]], i: int, use: Use, threads: int) -> None:
    """One more copy of each thread reads; ``bare``: buffers written by whom without a fence since."""
    for cta, owner, writer in bare:
        apart = use.divided and siblings(machine, writer, i)
        if (cta, owner) == (use.cta, use.owner) and not apart:
            who = machine.movers[writer].name
            raise Fault(f"{machine.movers[i].name} stores {use.name}, which {who} wrote, without a fence")
    flight = dict(s[FIELDS * i + FLIGHT])
    copies, widest = flight.get(use.index, (0, 0))
    flight[use.index] = (min(copies + 1, use.slices), max(widest, threads))
    s[FIELDS * i + FLIGHT] = tuple(sorted(flight.items()))


def wait(s: list[Any], i: int, use: Use, keep: int, threads: int) -> None:
    """All copies but the newest ``keep`` of each of these threads have read."""
    flight = dict(s[FIELDS * i + FLIGHT])
    copies, widest = flight.get(use.index, (0, 0))
    if widest <= threads:
        flight[use.index] = (min(copies, keep), widest)
    s[FIELDS * i + FLIGHT] = tuple(sorted((index, one) for index, one in flight.items() if one[0]))


def check_write(machine: Machine, s: list[Any], i: int, use: Use, mask: int) -> None:
    """Nobody writes what a copy still reads.  Its own buffer has a part for each copy that may be in flight while the
    next part is written, and one more; where warps divide it, each has parts of its own."""
    for j, mover in enumerate(machine.movers):
        for index, (copies, _) in s[FIELDS * j + FLIGHT]:
            other = machine.uses[index]
            if not other.masks[0] & mask:
                continue
            own = copies < other.slices or (other.divided and siblings(machine, i, j))
            if other.owner != use.owner or not own:
                raise Fault(f"{use.name} is written while a bulk copy of {mover.name} reads {other.name}")
