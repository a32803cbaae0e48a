"""Warpgroups of one role that take turns, for the simulator: small compositions."""

from __future__ import annotations

from test.protocol.contracts import SWIZZLED, component, count, into, kernel, out, role, says, smem, turns


def _in_turn(text: str, *parts: str, warps: int = 8) -> str:
    declared = role("run", warps) + turns("turn") + smem("part", 512)
    return component("t.turns", declared, *parts, count("n"), says("run", text)) + kernel(a="t.turns")


def _read_in_turn() -> str:
    """Two warpgroups that read one ring, and issue the products of a slot in turn."""
    load = component(
        "t.load", role("run", 1, threads="one"), out("ab", "tma", SWIZZLED, stages=[2, 2]), count("n"),
        says("run", "repeat n { ab.acquire; ab.copy; }"),
    )  # fmt: skip
    core = component(
        "t.core", role("run", 8), turns("turn"), into("ab", "wgmma", SWIZZLED), count("n"),
        says("run", "repeat n { ab.wait; turn.take; turn.pass; ab.release; }"),
    )  # fmt: skip
    return load + core + kernel("l.ab > c.ab", l="t.load", c="t.core")


ORDERS = {
    "turns_two": _in_turn("repeat n { turn.take; turn.pass; }"),
    "turns_three": _in_turn(
        "repeat n { turn.take; part.write; turn.pass; turn.take; part.read; turn.pass; }", warps=12
    ),
    "turns_read": _read_in_turn(),
}
