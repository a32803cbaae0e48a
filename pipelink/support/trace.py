"""A counterexample as data: what each role did, step by step, until something went wrong."""

from __future__ import annotations

from dataclasses import dataclass

from pipelink.support.diagnostics import UNKNOWN, Location


@dataclass(frozen=True)
class Step:
    """One step of a role.  ``lane`` names the role (``@load::@load``, with ``, CTA 1`` in a cluster), ``action`` what
    it did (``acquire ab[0]``), ``detail`` why that matters, in a clause.  ``after`` are the earlier steps, by index,
    that let a wait go on.  ``blocked``: it waits for ever.  ``location`` is where the contract says so."""

    lane: str
    action: str
    detail: str = ""
    after: tuple[int, ...] = ()
    blocked: bool = False
    location: Location = UNKNOWN


@dataclass(frozen=True)
class Trace:
    """The shortest way to a violation.  ``steps`` are in an order in which they can happen; ``conflict`` are the steps
    that must not meet; ``cycle`` the lanes that wait for each other, each for the next and the last for the first.
    ``counts`` says how often each named loop ran and which way each choice went (``{"k_tiles": "1, 2"}``)."""

    title: str
    lanes: tuple[str, ...]
    steps: tuple[Step, ...]
    conflict: tuple[int, ...] = ()
    cycle: tuple[str, ...] = ()
    counts: tuple[tuple[str, str], ...] = ()
