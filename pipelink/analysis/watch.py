"""Debug links: which waits of a kernel are watched, and what the runtime needs to know about them.

``transfer`` with ``debug-hangs`` or ``timeline`` calls :func:`instrument`, which adds ``debug`` to the kernel's launch
contract: an offset in the parameter block behind the kernel's own fields, where the runtime puts what
``transfers/watch.cuh`` calls ``pl_watch``, and a table of *sites*, one for each wait of a port, with who waits there
and who would end the wait.  :class:`Watch` reads it back where functions are bound, so that every pass sees the same.
A contract without ``debug`` gives an ordinary link.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pipelink.analysis.binding import (
    Const,
    CursorPointer,
    Invoke,
    ParameterPointer,
    Result,
    Statement,
)
from pipelink.analysis.lifetimes import Lifetimes
from pipelink.ir.views import Kernel, Program
from pipelink.support.watch import BLOCK, BLOCK_ALIGN
from pipelink.transfers import BY_NAME

LANE_THREADS: Final = 128  # a role has one lane for each warpgroup

#: The functions that wait on mbarriers, and so can be given a limit.
_LIMITED: Final = ("pl_ring_acquire", "pl_ring_wait", "pl_ring_end", "pl_pair_acquire", "pl_token_take")


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

    def waits(self, instance: str, port: str, operation: str, *statements: Statement) -> tuple[Statement, ...]:
        """``statements``, among which a port waits, as a debug link does it."""
        site = self.sites.get((f"@{instance}::@{port}", operation))
        if site is None:
            return statements
        if self.hangs:
            extra = (self.block, Const(site))
            statements = tuple(
                replace(s, arguments=(*s.arguments, *extra)) if isinstance(s, Invoke) and s.function in _LIMITED else s
                for s in statements
            )
        if not self.timeline:
            return statements
        named = any(isinstance(s, Invoke) and s.result == "stage" for s in statements)
        stage = Result("stage") if named else Const(0)
        note = (self.block, CursorPointer(self.lane), Const(site), stage, Result("clock"))
        return (Invoke("pl_clock", (), "clock", "unsigned"), *statements, Invoke("pl_lane_note", note))

    def around(self, role: str, first: int) -> tuple[tuple[Invoke, ...], tuple[Invoke, ...]]:
        """What comes before and after a role (``@load::@load``), whose threads begin at ``first``."""
        before: tuple[Invoke, ...] = ()
        after: tuple[Invoke, ...] = ()
        if self.timeline:
            lane = CursorPointer(self.lane)
            before = (Invoke("pl_lane_begin", (self.block, lane, Const(self.lanes[role]), Const(first))),)
            after = (Invoke("pl_lane_end", (self.block, lane)),)
        if self.hangs:
            after = (*after, Invoke("pl_watch_done", (self.block,)))
        return before, after


def watch_of(kernel: Kernel) -> Watch:
    """The watch that a kernel's launch contract states."""
    stated: dict[str, Any] | None = (kernel.launch or {}).get("debug")
    if stated is None:
        return Watch()
    return Watch(
        stated["offset"],
        bool(stated["limit_ms"]),
        stated["timeline"],
        int((kernel.placement or {}).get("cursors", 0)),
        {(site["port"], site["operation"]): number for number, site in enumerate(stated["sites"])},
        {role["role"]: role["lane"] for role in stated["roles"]},
    )


def instrument(program: Program, kernel: Kernel, limit_ms: int, timeline: bool) -> None:
    """State in a placed kernel's launch contract that it is watched.  ``limit_ms`` is how long a wait may take, 0: as
    long as it likes."""
    launch, placement = kernel.launch, kernel.placement
    if launch is None or placement is None:
        return  # bind says so
    users = Lifetimes(program, kernel)
    parameters: dict[str, Any] = launch["parameters"]
    own = int(launch["debug"]["offset"]) if "debug" in launch else int(parameters["bytes"])
    offset = -(-own // BLOCK_ALIGN) * BLOCK_ALIGN
    roles, lanes = _roles(program, kernel)
    debug = {
        "limit_ms": limit_ms,
        "timeline": timeline,
        "offset": offset,
        "stays": "tmem_columns" in placement,
        "lanes": lanes,
        "roles": roles,
        "sites": list(_sites(program, kernel, users)),
    }
    parameters = {**parameters, "bytes": offset + BLOCK.size, "align": max(BLOCK_ALIGN, parameters["align"])}
    kernel.set("pipelink.launch", {**launch, "parameters": parameters, "debug": debug})


def _roles(program: Program, kernel: Kernel) -> tuple[list[dict[str, Any]], int]:
    """Every role with its threads and the number of its first lane; the number of lanes."""
    found: list[dict[str, Any]] = []
    lanes = 0
    for instance in kernel.instances.values():
        for role in program.components[instance.component].roles.values():
            placed = (instance.placement or {}).get("roles", {}).get(role.name)
            if placed is None:
                continue
            threads = 32 * int(placed["warps"])
            found.append(
                {
                    "role": f"@{instance.name}::@{role.name}",
                    "first": 32 * int(placed["first_warp"]),
                    "threads": 1 if role.one_thread else threads,
                    "lane": lanes,
                }
            )
            lanes += 1 if role.one_thread else -(-threads // LANE_THREADS)
    return found, lanes


def _sites(program: Program, kernel: Kernel, users: Lifetimes) -> Iterator[dict[str, Any]]:
    """Every wait of a port: who waits, for what, and whose arrival ends it."""
    readers: dict[tuple[str, ...], dict[str, None]] = {}
    for connect in kernel.connects:
        known = readers.setdefault(connect.source.path, {})
        known.update((user, None) for user in _users(users, *connect.target.path))
    seen: set[tuple[str, ...]] = set()
    for connect in kernel.connects:
        placed = connect.placement
        kind = BY_NAME[placed["transfer"]].kind if placed else ""
        if placed is None or kind not in ("ring", "tmem", "token"):
            continue
        writers, ring = _users(users, *connect.source.path), str(connect.source)
        if kind != "token" and connect.source.path not in seen:
            seen.add(connect.source.path)
            empty = {"port": ring, "ring": ring, "stages": placed["stages"]}
            empty |= {"users": writers, "arrivers": list(readers[connect.source.path])}
            yield {**empty, "operation": "acquire"}
            if "end" in placed:
                yield {**empty, "operation": "end"}
        yield {
            "port": str(connect.target),
            "operation": "take" if kind == "token" else "wait",
            "ring": ring,
            "stages": 1 if kind == "token" else placed["stages"],
            "users": _users(users, *connect.target.path),
            "arrivers": writers,
        }
    for instance in kernel.instances.values():
        for name, placed in (instance.placement or {}).get("locals", {}).items():
            own = _users(users, instance.name, name)
            port = f"@{instance.name}::@{name}"
            yield {
                "port": port, "operation": "wait", "ring": port, "stages": placed["stages"], "users": own,
                "arrivers": own,
            }  # fmt: skip


def _users(users: Lifetimes, instance: str, port: str) -> list[str]:
    found = (user.partition("::") for user in users.port_users(instance, port))
    return [f"@{name}::@{role}" for name, _, role in found]
