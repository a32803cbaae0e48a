"""Debug links: which waits of a kernel are watched, and what the runtime needs to know about them.

``transfer`` with ``debug-hangs`` or ``timeline`` calls :func:`instrument`, which adds ``debug`` to the kernel's launch
contract: an offset in the parameter block behind the kernel's own fields, where the runtime puts what
``transfers/watch.cuh`` calls ``pl_watch``, and a table of *sites*, one for each wait of a port and each mbarrier or
cluster barrier of a component's own, with who waits there and who would end the wait; for a timeline also where turns
are taken and passed on.  A contract without ``debug`` gives an ordinary link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from pipelink.analysis.protocol.language import actions_of, protocol_of
from pipelink.ir.views import Component, Kernel, Program
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.model.watch import OWN_WAIT, PASS, TAKE
from pipelink.support.watch import BLOCK, BLOCK_ALIGN
from pipelink.transfers import BY_NAME, placement_of
from pipelink.transfers.cluster_barrier import SYNC

LANE_THREADS: Final = 128  # a role has one lane for each warpgroup


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
        "stays": placement.tmem_columns is not None,
        "lanes": lanes,
        "roles": roles,
        "sites": [
            *_sites(kernel, users),
            *_own_sites(program, kernel, users),
            *(_turns(program, kernel, users) if timeline else ()),
        ],
    }
    parameters = {**parameters, "bytes": offset + BLOCK.size, "align": max(BLOCK_ALIGN, parameters["align"])}
    kernel.set("pipelink.launch", {**launch, "parameters": parameters, "debug": debug})


def _roles(program: Program, kernel: Kernel) -> tuple[list[dict[str, Any]], int]:
    """Every role with its threads and the number of its first lane; the number of lanes."""
    found: list[dict[str, Any]] = []
    lanes = 0
    for instance in kernel.instances.values():
        placed = instance.placement
        for role in program.components[instance.component].roles.values():
            warps = placed.roles.get(role.name) if placed is not None else None
            if warps is None:
                continue
            found.append(
                {
                    "role": f"@{instance.name}::@{role.name}",
                    "first": warps.first_thread,
                    "threads": 1 if role.one_thread else warps.threads,
                    "lane": lanes,
                }
            )
            lanes += 1 if role.one_thread else -(-warps.threads // LANE_THREADS)
    return found, lanes


def _sites(kernel: Kernel, users: Lifetimes) -> Iterator[dict[str, Any]]:
    """Every wait of a port: who waits, for what, and whose arrival ends it."""
    readers: dict[tuple[str, ...], dict[str, None]] = {}
    for connect in kernel.connects:
        known = readers.setdefault(connect.source.path, {})
        known.update((user, None) for user in _users(users, *connect.target.path))
    seen: set[tuple[str, ...]] = set()
    for connect in kernel.connects:
        placed = placement_of(connect)
        if placed is None:
            continue
        transfer = BY_NAME[placed.transfer]
        writers, ring = _users(users, *connect.source.path), str(connect.source)
        stages = transfer.depth(placed)
        if connect.source.path not in seen:
            seen.add(connect.source.path)
            arrivers = list(readers[connect.source.path])
            for operation in transfer.producer_waits(placed):
                yield {
                    "port": ring, "ring": ring, "stages": stages, "users": writers, "arrivers": arrivers,
                    "operation": operation,
                }  # fmt: skip
        for operation in transfer.consumer_waits:
            yield {
                "port": str(connect.target), "operation": operation, "ring": ring, "stages": stages,
                "users": _users(users, *connect.target.path), "arrivers": writers,
            }  # fmt: skip
    for instance in kernel.instances.values():
        local_rings = instance.placement.locals if instance.placement is not None else {}
        for name, local in local_rings.items():
            own = _users(users, instance.name, name)
            port = f"@{instance.name}::@{name}"
            yield {
                "port": port, "operation": "wait", "ring": port, "stages": local.stages, "users": own,
                "arrivers": own,
            }  # fmt: skip


def _own_sites(program: Program, kernel: Kernel, users: Lifetimes) -> Iterator[dict[str, Any]]:
    """Waits at mbarriers of a component's own: by the protocols who waits there and who arrives; where a role states
    none, whoever may.  And where a role meets that of the other CTAs."""
    for instance in kernel.instances.values():
        component = program.components[instance.component]
        for mbarrier in component.mbarriers.values():
            site = f"@{instance.name}::@{mbarrier.name}"
            everyone = _named(users.users(instance.name, mbarrier.role))
            stated = bool(component.roles) and set(component.roles) <= set(component.protocols)
            found: dict[str, list[str]] = {}
            for verb in ("wait", "arrive"):
                names = [of for of in component.protocols if _does(component, of, mbarrier.name, verb)]
                found[verb] = [f"@{instance.name}::@{name}" for name in names] if stated else everyone
            yield {
                "port": site, "operation": OWN_WAIT, "ring": site, "stages": mbarrier.count, "users": found["wait"],
                "arrivers": found["arrive"],
            }  # fmt: skip
        for barrier in component.cluster_barriers.values():
            site = f"@{instance.name}::@{barrier.name}"
            meeting = _named(users.users(instance.name, barrier.role))
            yield {
                "port": site, "operation": SYNC, "ring": site, "stages": 1, "users": meeting, "arrivers": meeting,
            }  # fmt: skip


def _turns(program: Program, kernel: Kernel, users: Lifetimes) -> Iterator[dict[str, Any]]:
    """Where warpgroups of a role take turns, and where they pass them on, which is no wait.  Neither has a limit: named
    barriers are waited for by one instruction."""
    for instance in kernel.instances.values():
        for turns in program.components[instance.component].turns.values():
            site, taking = f"@{instance.name}::@{turns.name}", _named(users.users(instance.name, turns.role))
            for operation in (TAKE, PASS):
                yield {
                    "port": site, "operation": operation, "ring": site, "stages": 1, "users": taking,
                    "arrivers": taking,
                }  # fmt: skip


def _does(component: Component, of: str, subject: str, verb: str) -> bool:
    body = protocol_of(component, of).body
    return any((action.subject, action.verb) == (subject, verb) for action in actions_of(body))


def _users(users: Lifetimes, instance: str, port: str) -> list[str]:
    return _named(users.port_users(instance, port))


def _named(users: Iterable[RoleKey]) -> list[str]:
    found = (user.partition("::") for user in users)
    return [f"@{name}::@{role}" for name, _, role in found]
