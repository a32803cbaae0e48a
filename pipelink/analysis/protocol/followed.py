"""Which roles of a kernel cannot be followed step by step, and why.

Beside those whose ports have no model, or that share their warps, these are all that such a role meets: who waits for
somebody that is not followed would seem to wait for ever.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipelink.analysis.protocol.language import actions_of, protocol_of
from pipelink.ir.attributes import SymbolRef
from pipelink.ir.views import Component, Kernel, Program
from pipelink.model.demand import spelled
from pipelink.model.lifetimes import Lifetimes, RoleKey
from pipelink.support.protocol import Action, Until
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
    found = {**_shared(lifetimes), **_untold(lifetimes), **found}
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
    return None


def _shared(lifetimes: Lifetimes) -> dict[RoleKey, str]:
    """Roles on warps of others that are not followed.  It has to be known that they run one after the other, and when
    each ends, so it states a protocol; and if they go on in one ring, the same threads have to take all steps."""
    found: dict[RoleKey, str] = {}
    sequences = lifetimes.sequences()
    for group in lifetimes.kernel.exclusives:
        keys = [f"{ref.root}::{ref.leaf}" for ref in group.roles]
        unstated = [key for key in keys if not _is_stated(lifetimes, key)]
        if group.name not in sequences or unstated:
            why = f"it shares its warps with other roles (exclusive group '{group.name}')"
            why += f", and {spelled(unstated[0])} states no protocol" if group.name in sequences else ""
            found.update((key, why) for key in keys)
        elif (ring := _common(lifetimes, keys)) is not None and not _alike(lifetimes, keys):
            why = (
                f"it shares warps and ring '{ring}' with other roles (exclusive group '{group.name}'), of other threads"
            )
            found.update((key, why) for key in keys)
    return found


def _untold(lifetimes: Lifetimes) -> dict[RoleKey, str]:
    """Dispatchers' roles that run what states no protocol, or state none themselves."""
    found: dict[RoleKey, str] = {}
    streams: dict[str, set[SymbolRef | None]] = {}
    for runner in lifetimes.dispatched:
        streams.setdefault(runner.partition("::")[0], set()).add(_instructions(lifetimes, runner))
    for runner, roles in lifetimes.dispatched.items():
        if len(streams[runner.partition("::")[0]]) > 1:
            found.setdefault(runner, "its dispatcher's roles read their instructions from several streams")
        for role in roles:
            if not _is_stated(lifetimes, role):
                found.setdefault(runner, f"it runs {spelled(role)}, which states no protocol")
        if not _is_stated(lifetimes, runner):
            found.setdefault(runner, "it runs operations, and states no protocol")
        elif not _interprets(lifetimes, runner):
            why = (
                "its protocol is not `until x { x.wait; d.run; x.release; }`, so that all run one sequence is not known"
            )
            found.setdefault(runner, why)
    return found


def _instructions(lifetimes: Lifetimes, key: RoleKey) -> SymbolRef | None:
    """Whose stream a role reads to its end; None where it reads none so."""
    instance, _, role = key.partition("::")
    body = protocol_of(lifetimes.components[instance], role).body
    ports = [(instance, step.port) for step in body if isinstance(step, Until)]
    return next((connect.source for connect in lifetimes.kernel.connects if connect.target.path in ports), None)


def _interprets(lifetimes: Lifetimes, key: RoleKey) -> bool:
    """Whether a role does nothing but to run each instruction of a stream, until that ends."""
    instance, _, role = key.partition("::")
    component = lifetimes.components[instance]
    match protocol_of(component, role).body:
        case (
            Until(
                port=port,
                body=(
                    Action(subject=first, verb="wait"),
                    Action(subject=run, verb="run", by=None),
                    Action(subject=last, verb="release", by=None),
                ),
            ),
        ):
            return first == last == port and run in component.dispatches
        case _:
            return False


def _common(lifetimes: Lifetimes, keys: list[RoleKey]) -> SymbolRef | None:
    """A connection of which several of the roles are one end."""
    readers: dict[SymbolRef, set[RoleKey]] = {}
    for connect in lifetimes.kernel.connects:
        ends = readers.setdefault(connect.source, set()), set[RoleKey]()
        for users, ref in zip(ends, (connect.target, connect.source), strict=True):
            users.update(user for user in lifetimes.port_users(ref.root, ref.leaf) if user in keys)
        if any(len(users) > 1 for users in ends):
            return connect.source
    return None


def _alike(lifetimes: Lifetimes, keys: list[RoleKey]) -> bool:
    """Whether the roles have equally many threads, all of which take every step."""
    roles = [lifetimes.components[key.partition("::")[0]].roles[key.partition("::")[2]] for key in keys]
    parts = any(
        action.by
        for component in lifetimes.components.values()
        for name in component.protocols
        for action in actions_of(protocol_of(component, name).body)
    )
    return not parts and len({role.thread_count for role in roles}) == 1


def _is_stated(lifetimes: Lifetimes, key: RoleKey) -> bool:
    instance, _, role = key.partition("::")
    protocol = protocol_of(lifetimes.components[instance], role)
    return protocol.stated or not protocol.body


def _meetings(kernel: Kernel, lifetimes: Lifetimes) -> list[set[RoleKey]]:
    """Sets of roles that wait for each other: at both ends of a ring or token, at a named barrier, for their turn."""
    found = [set(keys) for keys in lifetimes.sequences().values()]
    for connect in kernel.connects:
        source = lifetimes.components[connect.source.root].ports[connect.source.leaf]
        if source.kind in ("stream", "token"):
            ends = (connect.source, connect.target)
            users = {user for ref in ends for user in lifetimes.port_users(ref.root, ref.leaf)}
            found.append({lifetimes.runner_of.get(user, user) for user in users})
    for instance, component in lifetimes.components.items():
        at: dict[str, set[RoleKey]] = {}
        for name in component.protocols:
            users = {f"{instance}::{name}"} if name in component.roles else set(lifetimes.users(instance))
            for action in actions_of(protocol_of(component, name).body):
                if action.subject in component.barriers:
                    at.setdefault(action.subject, set()).update(lifetimes.runner_of.get(u, u) for u in users)
        found += at.values()
    return found
