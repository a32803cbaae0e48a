"""The verdict on a kernel: all small values of its counts, each of its independent parts by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pipelink.ir.views import Component, Kernel
from test.protocol.explore import Verdict, explore
from test.protocol.machine import Counts, Fault, Machine, Symbol, assignments
from test.protocol.programs import Builder
from test.protocol.simulator import Simulator

MOST = 5  # of any count


def parts_of(machine: Machine) -> Iterator[Machine]:
    """Movers that share no barrier, slot or byte with the others, apart: neither can notice the other."""
    group = list(range(len(machine.movers)))
    first: dict[Any, int] = {}

    def find(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    for i, mover in enumerate(machine.movers):
        keys: set[Any] = {("barrier", op[1]) for op in mover.ops if op[0] == "meet"}
        used = mover.mentions | {op[1] for op in mover.ops if op[0] not in ("meet", "met", "jump", "settle", "fence")}
        for use in (machine.uses[index] for index in used):
            keys |= {("owner", owner) for owner in (use.owner, *use.sources)}
            keys |= {("cell", cell) for stage in use.cells for cell in stage}
            keys |= {("cell", cell) for cell in use.word_cells}
            if use.kind not in ("buffer", "local"):
                keys |= {("at", use.cta, at + 8 * s) for at in (use.full, use.empty) if at for s in range(use.stages)}
        for key in keys:
            group[find(i)] = find(first.setdefault(key, i))
    for root in sorted({find(i) for i in range(len(group))}):
        yield replace(machine, movers=[mover for i, mover in enumerate(machine.movers) if find(i) == root])


def machine_of(kernel: Kernel, components: Mapping[str, Component], counts: Counts) -> Machine:
    return Builder(kernel, components, counts).build()


def simulate(kernel: Kernel, components: Mapping[str, Component], values: Mapping[Symbol, Any], limit: int) -> Verdict:
    """The verdict for one value of every count."""
    try:
        machine = machine_of(kernel, components, Counts(values))
    except Fault as fault:
        return Verdict(str(fault), "fault", counts=tuple(values.items()))
    states = 0
    for part in parts_of(machine):
        found = explore(Simulator(part, initial_parities(kernel)), limit)
        states += found.states
        if found.problem is not None:
            return replace(found, states=states, counts=tuple(values.items()))
    return Verdict(None, states=states)


def initial_parities(kernel: Kernel) -> dict[int, int]:
    """Cursors that do not start with parity 0."""
    placed = [connect.data.get("placement") or {} for connect in kernel.connects]
    return {one["consumer_cursor"]: int(one.get("initial", 0)) for one in placed if one["transfer"] == "token"}


def judge(kernel: Kernel, components: Mapping[str, Component], *, rounds: int = 9, limit: int = 200_000) -> Verdict:
    """The first assignment of the counts under which something goes wrong, or that none does.

    Counts go up to :data:`MOST`, and their product, zeros left out, to ``rounds``.
    Raises UnsupportedError and LimitError."""
    counts = Counts()
    try:
        machine_of(kernel, components, counts)
    except Fault as fault:
        return Verdict(str(fault), "fault")
    states = 0
    for values in sorted(assignments(counts.asked, MOST), key=_size):
        if _size(values) > rounds:
            break
        verdict = simulate(kernel, components, values, limit)
        states += verdict.states
        if verdict.problem is not None:
            return replace(verdict, states=states)
    return Verdict(None, states=states)


def _size(values: Mapping[Symbol, Any]) -> int:
    return math.prod(max(value, 1) for value in values.values() if isinstance(value, int))
