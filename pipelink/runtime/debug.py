"""What a debug link says about itself: ``debug`` in the launch contract (docs/package-format.md).

Input: the JSON that ``pipelink.analysis.watch`` wrote.  Output: frozen dataclasses.  Roles, ports and rings are
spelled as in the IR (``@load::@ab``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Site:
    """A wait: ``operation`` is acquire, end, wait, take or await of a port, mbarrier, sync of a cluster, or take of
    turns; or where turns are passed on, pass.  ``users`` are the roles that wait here, ``arrivers`` those whose
    arrivals end the wait.  A ring is named by the port that fills it."""

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
    def of(data: Mapping[str, Any]) -> Debug:
        """From what the table of :mod:`pipelink.runtime.schema` has read."""
        return Debug(
            data["offset"],
            data["limit_ms"],
            data["timeline"],
            data["stays"],
            data["lanes"],
            tuple(RoleThreads(role["role"], role["first"], role["threads"], role["lane"]) for role in data["roles"]),
            tuple(
                Site(
                    site["port"],
                    site["operation"],
                    site["ring"],
                    site["stages"],
                    tuple(site["users"]),
                    tuple(site["arrivers"]),
                )
                for site in data["sites"]
            ),
        )
