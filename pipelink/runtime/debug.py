"""What a debug link says about itself: ``debug`` in the launch contract (docs/package-format.md).

Input: the JSON that ``pipelink.analysis.watch`` wrote.  Output: frozen dataclasses.  Roles, ports and rings are
spelled as in the IR (``@load::@ab``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipelink.support.watch import BLOCK


@dataclass(frozen=True)
class Site:
    """A wait of a port: ``operation`` is acquire, end, wait or take; ``users`` are the roles that wait here,
    ``arrivers`` those whose arrivals end the wait.  A ring is named by the port that fills it."""

    port: str
    operation: str
    ring: str
    stages: int
    users: tuple[str, ...]
    arrivers: tuple[str, ...]


@dataclass(frozen=True)
class RoleThreads:
    """A role's threads in the CTA, and its first lane in the timeline."""

    role: str
    first: int
    threads: int
    lane: int


@dataclass(frozen=True)
class Debug:
    """``offset`` is where the runtime's block lies behind the kernel's own parameters; ``limit_ms`` how long a wait
    may take, 0: without limit; ``lanes`` how many a CTA has in the timeline."""

    offset: int
    limit_ms: int
    timeline: bool
    stays: bool
    lanes: int
    roles: tuple[RoleThreads, ...]
    sites: tuple[Site, ...]

    @property
    def warps(self) -> int:
        """The warps that have a role, a bit each."""
        found = 0
        for role in self.roles:
            for warp in range(role.first // 32, (role.first + role.threads - 1) // 32 + 1):
                found |= 1 << warp
        return found

    @staticmethod
    def from_json(data: Mapping[str, Any], parameter_bytes: int) -> Debug:
        """Raises KeyError, TypeError or ValueError where the data are malformed."""
        offset = int(data["offset"])
        if not 0 <= offset <= parameter_bytes - BLOCK.size:
            raise ValueError(f"the debug block at {offset} is outside the parameters")
        return Debug(
            offset,
            int(data["limit_ms"]),
            bool(data["timeline"]),
            bool(data["stays"]),
            int(data["lanes"]),
            tuple(
                RoleThreads(str(r["role"]), int(r["first"]), int(r["threads"]), int(r["lane"])) for r in data["roles"]
            ),
            tuple(
                Site(
                    str(site["port"]),
                    str(site["operation"]),
                    str(site["ring"]),
                    int(site["stages"]),
                    tuple(map(str, site["users"])),
                    tuple(map(str, site["arrivers"])),
                )
                for site in data["sites"]
            ),
        )
