"""What can go wrong in a run, one class a kind; :mod:`counterexample` has the words."""

from __future__ import annotations

from dataclasses import dataclass

from pipelink.analysis.protocol.program import Endpoint, Operation


@dataclass(eq=False, repr=False)
class Violation(Exception):
    """``agent`` breaks a rule with ``step``, at ``slot`` of a ring (-1: at none)."""

    agent: int = -1
    step: Operation | None = None
    slot: int = -1


@dataclass(eq=False, repr=False)
class AtBarrier(Violation):
    """A violation at an mbarrier."""

    barrier: int = -1


class Blocked(Violation):
    """Somebody waits for ever."""


@dataclass(eq=False, repr=False)
class Untaken(AtBarrier):
    """Everybody has finished, and a phase is complete that nobody took."""


class Uninitialised(AtBarrier):
    """An arrival at an mbarrier that nobody initialises."""


class ArrivedTwice(AtBarrier):
    """An agent arrives twice in one phase."""


class Overrun(AtBarrier):
    """An arrival of somebody who does not know that the phase before is complete."""


@dataclass(eq=False, repr=False)
class TooMany(AtBarrier):
    """More ``arrivals`` in a phase than it has."""

    arrivals: int = 0


@dataclass(eq=False, repr=False)
class PhaseLost(AtBarrier):
    """A phase is complete before ``taker`` has taken the one before."""

    taker: Endpoint | None = None


@dataclass(eq=False, repr=False)
class PhaseMissed(AtBarrier):
    """A wait for a phase behind which ``completed`` others are complete."""

    completed: int = 0


@dataclass(eq=False, repr=False)
class Race(Violation):
    """A touch of ``place`` by somebody who does not know of ``records``."""

    records: int = 0
    place: int = -1


class StagingBusy(Violation):
    """An acquire where the staging tile still holds a slot."""


class EndAsData(Violation):
    """A wait outside of ``until`` finds the end mark."""


class NothingHeld(Violation):
    """A slot is given on, and none is held."""


class NothingTouched(Violation):
    """Slots are touched, and none is held."""


@dataclass(eq=False, repr=False)
class SlotsKept(Violation):
    """A role ends its turn with ``count`` slots of a ring in which another reads on."""

    count: int = 0


@dataclass(eq=False, repr=False)
class Unwritten(Violation):
    """A buffer is read that holds nothing."""

    place: int = -1


class Overwritten(Violation):
    """A slot of a local ring is filled before it was released."""


@dataclass(eq=False, repr=False)
class ReadEarly(Violation):
    """A slot of a local ring is read with ``groups`` committed from it on."""

    groups: int = 0


class PartOfWarp(Violation):
    """Part of a warp comes to a named barrier."""


@dataclass(eq=False, repr=False)
class OtherCount(Violation):
    """A step counts ``threads`` at a named barrier, where others count otherwise."""

    threads: int = 0


class MetTwice(Violation):
    """An agent comes twice to one round of a named barrier."""


class RoundOverrun(Violation):
    """An arrival at a named barrier of somebody who does not know that the round before is over."""


@dataclass(eq=False, repr=False)
class Crowd(Violation):
    """A round of a named barrier gets ``threads``, more than it counts."""

    threads: int = 0
