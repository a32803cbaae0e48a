"""Which roles of a kernel cannot be followed step by step, and why.

Beside those whose ports have no model, or that share their warps, these are all that such a role meets: who waits for
somebody that is not followed would seem to wait for ever.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipelink.analysis.protocol.language import actions_of, protocol_of
from pipelink.ir.views import Component, Kernel, Program
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.transfers import transfer_of


def left_out(kernel: Kernel, components: Mapping[str, Component]) -> dict[RoleKey, str]:
    """The roles that are not followed, each with the reason as a clause; ``components`` by name."""
    lifetimes = Lifetimes(Program(kernel.op, dict(components), (kernel,)), kernel)
    found = {
        f"{instance}::{role}": why
        for instance, component in lifetimes.components.items()
        for role in component.roles
        if (why := _unmodelled(kernel, instance, component, role)) is not None
    }
    meetings = _meetings(kernel, lifetimes)
    more = True
    while more:
        more = False
        for users in meetings:
            gone = next((user for user in users if user in found), None)
            others = [user for user in users if user not in found]
            if gone is not None and others:
                instance, _, role = gone.partition("::")
                found.update((user, f"it meets '@{instance}::@{role}', which is not followed") for user in others)
                more = True
    return found


def _unmodelled(kernel: Kernel, instance: str, component: Component, role: str) -> str | None:
    """Why a role cannot be followed by itself."""
    for port in component.ports.values():
        owner = component.role_of(port)
        if owner is not None and owner.name != role:
            continue
        for connect in kernel.connects:
            if (instance, port.name) in (connect.source.path, connect.target.path):
                why = transfer_of(connect).unmodelled(connect, producer=connect.source.path == (instance, port.name))
                if why is not None:
                    return why.format(port=f"@{instance}::@{port.name}")
    for group in kernel.exclusives:
        if any((ref.root, ref.leaf) == (instance, role) for ref in group.roles):
            return f"it shares its warps with other roles (exclusive group '{group.name}')"
    return None


def _meetings(kernel: Kernel, lifetimes: Lifetimes) -> list[set[RoleKey]]:
    """Sets of roles that wait for each other: at both ends of a ring or token, and at a named barrier."""
    found: list[set[RoleKey]] = []
    for connect in kernel.connects:
        source = lifetimes.components[connect.source.root].ports[connect.source.leaf]
        if source.kind in ("stream", "token"):
            ends = (connect.source, connect.target)
            found.append({user for ref in ends for user in lifetimes.port_users(ref.root, ref.leaf)})
    for instance, component in lifetimes.components.items():
        at: dict[str, set[RoleKey]] = {}
        for name in component.protocols:
            users = {f"{instance}::{name}"} if name in component.roles else set(lifetimes.users(instance))
            for action in actions_of(protocol_of(component, name).body):
                if action.subject in component.barriers:
                    at.setdefault(action.subject, set()).update(users)
        found += at.values()
    return found
