"""CTAs of a cluster that reach into each other's shared memory, for the simulator: small compositions, and what a step
does to a buffer that may be that of any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from test.protocol.contracts import cluster_barrier, component, count, kernel, role, says, smem
from test.protocol.machine import FIELDS, HELD, Fault, Use

if TYPE_CHECKING:
    from test.protocol.simulator import Simulator


def enter(simulator: Simulator, s: list[Any], i: int, uses: list[Use]) -> None:
    """A mover begins to touch a buffer in some CTA of the cluster; one of them at least holds what is read."""
    for use in uses:
        simulator.hold(s, i, use, 0, 0)
    owners = ([(s[simulator.cells_at + cell] or ("",))[0] for cell in use.cells[0]] for use in uses)
    if uses[0].mode == "r" and not any(set(found) == {uses[0].owner} for found in owners):
        raise Fault(f"{simulator.movers[i].name} reads {uses[0].name} in other CTAs, and it is written in none")


def leave(simulator: Simulator, s: list[Any], i: int, uses: list[Use]) -> None:
    """It is done there."""
    held = list(s[FIELDS * i + HELD])
    for use in uses:
        held.remove((use.index, 0, 0))
        for cell in use.cells[0] if use.mode == "w" else ():
            s[simulator.cells_at + cell] = (use.owner, ())
    s[FIELDS * i + HELD] = tuple(held)


def _exchange(text: str, *parts: str, warps: int = 1, **more: Any) -> str:
    declared = role("run", warps, **more) + smem("part", 512) + cluster_barrier("met")
    return component("t.exchange", declared, *parts, count("n"), says("run", text)) + kernel(e="t.exchange", cluster=2)


CLUSTERS = {
    "exchange": _exchange("repeat n { part.write; met.sync; part.peer_read; met.sync; }"),
    "pushed": _exchange("repeat n { part.peer_write; met.sync; part.read; met.sync; }", threads="one"),
    "broadcast": _exchange("repeat n { rank 0 { part.write; } met.sync; part.peer_read; met.sync; }", warps=2),
    "in_turn": _exchange(
        "repeat n { part.write; met.sync; part.peer_read; other.peer_write; again.sync; other.read; }",
        smem("other", 512),
        cluster_barrier("again"),
    ),
}
