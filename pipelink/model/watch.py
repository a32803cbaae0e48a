"""How a debug link binds waits: with a limit, with a note in the timeline, or both.

:func:`pipelink.analysis.watch.instrument` states in a kernel's launch contract which waits are watched; :class:`Watch`
reads it back where functions are bound, so that every pass sees the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pipelink.ir.views import Kernel
from pipelink.model.binding import Const, CursorPointer, Invoke, ParameterPointer, Result, Statement, Value

#: The operation of a wait at an mbarrier of the component's own, among those of ports.
OWN_WAIT: Final = "mbarrier"
#: The operations of turns: a wait, and what ends it.
TAKE: Final = "take"
PASS: Final = "pass"


@dataclass(frozen=True)
class Watch:
    """How a kernel's waits are bound: with a limit (``hangs``), with a note in the timeline (``timeline``), or as
    ever.  ``lane`` is the cursor of the timeline in the frame."""

    offset: int = 0
    hangs: bool = False
    timeline: bool = False
    lane: int = 0
    sites: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    lanes: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def block(self) -> ParameterPointer:
        """Where the runtime's block lies."""
        return ParameterPointer(self.offset)

    def waits(
        self, instance: str, port: str, operation: str, *statements: Statement, stage: Value | None = None
    ) -> tuple[Statement, ...]:
        """``statements``, among which a port waits, as a debug link does it; ``stage``: for which of its slots or
        counters, where no statement has that as a result."""
        site = self.sites.get((f"@{instance}::@{port}", operation))
        if site is None:
            return statements
        if self.hangs:
            extra = (self.block, Const(site))
            statements = tuple(
                replace(s, arguments=(*s.arguments, *extra)) if isinstance(s, Invoke) and s.waits else s
                for s in statements
            )
        if not self.timeline:
            return statements
        named = any(isinstance(s, Invoke) and s.result == "stage" for s in statements)
        stage = Result("stage") if named else stage or Const(0)
        note = (self.block, CursorPointer(self.lane), Const(site), stage, Result("clock"))
        return (Invoke("pl_clock", (), "clock", "unsigned"), *statements, Invoke("pl_lane_note", note))

    def around(self, role: str, first: int) -> tuple[tuple[Invoke, ...], tuple[Invoke, ...]]:
        """What comes before and after a role (``@load::@load``), whose threads begin at ``first``."""
        if not self.timeline:
            return (), ()
        lane = CursorPointer(self.lane)
        before = Invoke("pl_lane_begin", (self.block, lane, Const(self.lanes[role]), Const(first)))
        return (before,), (Invoke("pl_lane_end", (self.block, lane)),)

    @property
    def done(self) -> tuple[Invoke, ...]:
        """What comes when warps have no role left."""
        return (Invoke("pl_watch_done", (self.block,)),) if self.hangs else ()


def watch_of(kernel: Kernel) -> Watch:
    """The watch that a placed kernel's launch contract states."""
    stated: dict[str, Any] | None = (kernel.launch or {}).get("debug")
    placed = kernel.placement
    if stated is None or placed is None:
        return Watch()
    return Watch(
        stated["offset"],
        bool(stated["limit_ms"]),
        stated["timeline"],
        placed.cursors,
        {(site["port"], site["operation"]): number for number, site in enumerate(stated["sites"])},
        {role["role"]: role["lane"] for role in stated["roles"]},
    )
