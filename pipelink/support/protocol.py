"""The parts of a protocol: in what order a role, or the answer to a call, uses its ports, barriers and buffers.

:mod:`pipelink.support.protocol_text` parses a contract's text into these; ``docs/protocols.md`` describes it.  A count
is an integer, or a name whose value is known only at launch: every role that repeats by that name does so equally
often (its n-th loop by that name runs as often as everybody else's n-th).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Unit = Literal["thread", "warp", "warpgroup"]

#: Threads of each unit.
UNIT_THREADS: Final[dict[str, int]] = {"thread": 1, "warp": 32, "warpgroup": 128}


@dataclass(frozen=True)
class Callers:
    """The threads of a role that take a step: its first ``count`` threads, warps or warpgroups."""

    count: int
    unit: Unit

    @property
    def threads(self) -> int:
        return self.count * UNIT_THREADS[self.unit]


@dataclass(frozen=True)
class Action:
    """``subject.verb``: a step on a port, barrier or buffer of the component; ``column`` is its place in the text, from
    1.  A call has verb ``call``.  ``keep``: release, commit or copy the oldest slots until this many are still held.
    ``some``: no number was given, so there is at least one slot to give.  ``by``: who does it where not every thread
    of the role does."""

    subject: str
    verb: str
    keep: int = 0
    by: Callers | None = None
    column: int = 1
    some: bool = True


@dataclass(frozen=True)
class Repeat:
    """``body`` again and again.  ``count`` is an expression over integers, parameters, call ports (as long as their
    answer is true) and ``port.stages``; None: as often as the other ends of the ports want (the default protocols).
    ``at_least_once``: the count is never 0."""

    count: str | None
    body: Block
    at_least_once: bool = False
    column: int = 1


@dataclass(frozen=True)
class Until:
    """``body`` again and again until a wait in it finds the end mark of stream ``port``; the loop is left there."""

    port: str
    body: Block
    column: int = 1


@dataclass(frozen=True)
class Choose:
    """One of several ways.  With a name, every role that chooses by that name takes the same one (its n-th choice is
    everybody's n-th); without, nobody else knows."""

    name: str | None
    ways: tuple[Block, ...]
    column: int = 1


@dataclass(frozen=True)
class Rank:
    """``body`` in the CTA of this rank of the cluster alone."""

    rank: int
    body: Block
    column: int = 1


@dataclass(frozen=True)
class Fence:
    """``async``: earlier generic accesses of the thread come before its later asynchronous ones (fence.proxy.async)."""

    kind: Literal["async"]
    column: int = 1


Step = Action | Repeat | Until | Choose | Rank | Fence
Block = tuple[Step, ...]


@dataclass(frozen=True)
class Protocol:
    """What a role (or an answer) does from begin to end.  ``stated`` is False for a default one."""

    body: Block
    stated: bool = True
