"""Who uses what, and when: the scope of every resource, from roles, calls and exclusive groups.

A passive component runs on the warps of whoever calls it, so its users are found by following call connections.  A
role that is dispatched runs on its dispatcher's warps, one at a time, while the dispatcher's own resources stay in use.
A resource whose users are one role of an exclusive group lives only while that role runs; resources of two alternatives
of a group may share memory, barrier ids and columns.  Anything used by several roles lives always: the loader of one
operation runs ahead while the consumer of another still works.
"""

from __future__ import annotations

from collections.abc import Iterable

from pipelink.ir.views import Component, Kernel, Program
from pipelink.model.demand import ALWAYS, Scope

RoleKey = str  # instance::role


class Lifetimes:
    """Users and scopes of one kernel's resources."""

    def __init__(self, program: Program, kernel: Kernel) -> None:
        self.kernel = kernel
        self.components: dict[str, Component] = {
            instance.name: program.components[instance.component] for instance in kernel.instances.values()
        }
        self.group_of: dict[RoleKey, str] = {
            f"{role.root}::{role.leaf}": group.name for group in kernel.exclusives for role in group.roles
        }
        self._callers: dict[str, list[tuple[str, str]]] = {}
        for connect in kernel.connects:
            source = self.components[connect.source.root].ports[connect.source.leaf]
            if source.kind == "call":
                self._callers.setdefault(connect.target.root, []).append((connect.source.root, connect.source.leaf))
        self._users: dict[str, tuple[RoleKey, ...]] = {}
        #: The dispatcher's role that runs each role of an operation.
        self.runner_of: dict[RoleKey, RoleKey] = {}
        for operation in kernel.operations:
            dispatcher, instance = operation.dispatcher.root, operation.instance.root
            for role in self.components[instance].roles:
                runner = operation.roles.get(role, role)
                if runner in self.components[dispatcher].roles:
                    self.runner_of.setdefault(f"{instance}::{role}", f"{dispatcher}::{runner}")
        self.group_of.update((role, runner) for role, runner in self.runner_of.items() if role not in self.group_of)

    def sequences(self) -> dict[str, tuple[RoleKey, ...]]:
        """The exclusive groups, whose roles run one after the other, as listed."""
        return {
            group.name: tuple(f"{role.root}::{role.leaf}" for role in group.roles) for group in self.kernel.exclusives
        }

    @property
    def dispatched(self) -> dict[RoleKey, tuple[RoleKey, ...]]:
        """The roles of operations, by the dispatcher's role that runs them."""
        found: dict[RoleKey, tuple[RoleKey, ...]] = {}
        for role, runner in self.runner_of.items():
            found[runner] = (*found.get(runner, ()), role)
        return found

    def warp_sharers(self) -> dict[str, tuple[RoleKey, ...]]:
        """Sets of roles on the same warps, by the exclusive group or dispatching role that first joins them."""
        sets: dict[str, list[RoleKey]] = {}
        joins = [
            (group, [role for role, g in self.group_of.items() if g == group])
            for group in dict.fromkeys(self.group_of.values())
        ]
        joins += [(runner, [runner, *roles]) for runner, roles in self.dispatched.items()]
        for name, roles in joins:
            met = [known for known, members in sets.items() if any(role in members for role in roles)]
            merged = [role for known in met for role in sets.pop(known)] + roles
            sets[met[0] if met else name] = list(dict.fromkeys(merged))
        return {name: tuple(roles) for name, roles in sets.items()}

    def users(self, instance: str, role: str | None = None) -> tuple[RoleKey, ...]:
        """Roles that use a resource of ``instance``: the stated one, its own, or its callers' (for a passive one)."""
        component = self.components[instance]
        if role is not None:
            return (f"{instance}::{role}",)
        if component.roles:
            return tuple(f"{instance}::{name}" for name in component.roles)
        if instance not in self._users:
            self._users[instance] = ()  # calls that come back to their caller end here
            found: dict[RoleKey, None] = {}
            for caller, port in self._callers.get(instance, ()):
                stated = self.components[caller].ports[port].role
                found.update((user, None) for user in self.users(caller, stated))
            self._users[instance] = tuple(found)
        return self._users[instance]

    def port_users(self, instance: str, port: str) -> tuple[RoleKey, ...]:
        return self.users(instance, self.components[instance].ports[port].role)

    def scope(self, users: Iterable[RoleKey]) -> Scope:
        """When resources with these users are in use."""
        found = list(dict.fromkeys(users))
        if len(found) != 1:
            return ALWAYS
        group = self.group_of.get(found[0])
        return ALWAYS if group is None else Scope(group, found[0])

    def private(self, key: RoleKey) -> bool:
        """Whether anything is in use while this role alone runs: memory, or barriers of threads."""
        instance = key.partition("::")[0]
        component = self.components[instance]
        owned = (component.smem, component.barriers, component.tmem, component.turns)
        roles = [one.role for table in owned for one in table.values()]
        roles += [port.role for port in component.ports.values() if port.direction == "local"]
        return any(self.users(instance, stated) == (key,) for stated in roles) or any(
            other.smem or other.barriers or other.tmem
            for name, other in self.components.items()
            if not other.roles and self.users(name) == (key,)
        )
