"""Part of ``check``: do a dispatcher's roles fit those of the operations that they run, and pages what lies in them?

An operation's role runs on the warps of the role that dispatches it, so both have the same threads; its operands fit
into an instruction.  The slots of operations are taken from one ring of pages, in the order in which they are
dispatched, so one role fills all of them and one reads them.
"""

from __future__ import annotations

from typing import Final

from pipelink.ir.views import Component, Connect, Operation, Role
from pipelink.model.graph import ConnectionGraph
from pipelink.model.lifetimes import Lifetimes
from pipelink.support.diagnostics import Diagnostics, Location, Note
from pipelink.support.launch import SCALARS
from pipelink.transfers import operations

_NUMBERS: Final = f"operands are pointers or one of {', '.join(SCALARS)}"


def check_operations(graph: ConnectionGraph, diagnostics: Diagnostics) -> None:
    """Check all operations and leases of a kernel, and that every operand comes with an operation."""
    kernel, before = graph.kernel, len(diagnostics.errors)
    lifetimes = Lifetimes(graph.program, kernel)
    checker = _Checker(graph, lifetimes, diagnostics)
    checker.dispatches()
    for operation in kernel.operations:
        checker.operation(operation)
    checker.opcodes()
    if len(diagnostics.errors) == before:
        checker.operands()
        for connect in kernel.connects:
            checker.connect(connect)
        checker.leases()


class _Checker:
    def __init__(self, graph: ConnectionGraph, lifetimes: Lifetimes, diagnostics: Diagnostics) -> None:
        self.graph, self.kernel = graph, graph.kernel
        self.lifetimes, self.diagnostics = lifetimes, diagnostics
        self.components: dict[str, Component] = graph.components
        self.exclusive = {f"{ref.root}::{ref.leaf}" for group in self.kernel.exclusives for ref in group.roles}

    def error(self, message: str, where: Location, *declared: tuple[str, Location], hint: str | None = None) -> None:
        notes = [Note(f"{what} is declared here", at) for what, at in declared]
        self.diagnostics.error("operation-mismatch", message, where, notes=notes, hint=hint)

    def dispatches(self) -> None:
        """Each is one role's, and the only one of it."""
        for name, component in self.components.items():
            roles: set[str] = set()
            for dispatch in component.dispatches.values():
                what = f"dispatch '@{name}::@{dispatch.name}'"
                if dispatch.role is None and len(component.roles) != 1:
                    hint = "say whose it is: pl::in_role<role>"
                    self.error(
                        f"{what} is of no role: its component has {len(component.roles)}", dispatch.location, hint=hint
                    )
                    continue
                role = component.role_of(dispatch)
                assert role is not None, what
                if role.name in roles:
                    self.error(
                        f"{what} is the second of role '{role.name}', which runs operations by one", dispatch.location
                    )
                roles.add(role.name)

    def operation(self, operation: Operation) -> None:
        dispatcher, instance = operation.dispatcher.root, operation.instance.root
        ends = (self.components[dispatcher], self.components[instance])
        what, where = f"operation '@{operation.name}'", operation.location
        if not ends[0].dispatches:
            self.error(
                f"{what} is run by '@{dispatcher}', which dispatches nothing", where, (dispatcher, ends[0].location)
            )
            return
        if not ends[1].roles:
            self.error(f"{what} is '@{instance}', which has no role to run", where, (instance, ends[1].location))
            return
        if ends[1].dispatches:
            self.error(f"{what} is '@{instance}', which dispatches itself", where, (instance, ends[1].location))
            return
        runners: dict[str, str] = {}
        running = (ends[0].role_of(dispatch) for dispatch in ends[0].dispatches.values())
        dispatching = {role.name for role in running if role is not None}
        for name, role in ends[1].roles.items():
            other = operation.roles.get(name, name)
            runner = ends[0].roles.get(other)
            if runner is None or other not in dispatching:
                message = f"{what} has a role '{name}', and '@{dispatcher}' has no role '{other}' that dispatches"
                hint = f"name the role that runs it: roles = {{{name} = …}}, of {', '.join(sorted(dispatching))}"
                self.error(message, where, (f"role '{name}'", role.location), hint=hint)
            elif f"{instance}::{name}" in self.exclusive:
                self.error(f"{what} has a role '{name}' that an exclusive group runs", where)
            elif other in runners:
                self.error(f"{what} has two roles for '{other}': '{runners[other]}' and '{name}'", where)
            else:
                runners[other] = name
                self.threads(what, where, role, runner)

    def threads(self, what: str, where: Location, role: Role, runner: Role) -> None:
        if (role.warps, role.one_thread) != (runner.warps, runner.one_thread):
            message = (
                f"{what} has {_shown(role)} in role '{role.name}', '{runner.name}', which runs it, {_shown(runner)}"
            )
            self.error(
                message, where, (f"role '{role.name}'", role.location), (f"role '{runner.name}'", runner.location)
            )

    def opcodes(self) -> None:
        """Of one dispatcher each operation has its own, and no instance is run twice."""
        opcodes: dict[tuple[str, int], Operation] = {}
        instances: dict[str, Operation] = {}
        for operation in self.kernel.operations:
            first = instances.setdefault(operation.instance.root, operation)
            if first is not operation:
                message = f"'@{operation.instance.root}' is run as '@{first.name}' and as '@{operation.name}'"
                self.diagnostics.error("opcode-conflict", message, operation.location, notes=[_first(first)])
            if operation.opcode is not None:
                known = opcodes.setdefault((operation.dispatcher.root, operation.opcode), operation)
                if known is not operation:
                    message = f"operations '@{known.name}' and '@{operation.name}' have opcode {operation.opcode}"
                    self.diagnostics.error("opcode-conflict", message, operation.location, notes=[_first(known)])

    def operands(self) -> None:
        """They are scalars, fit into an instruction, and are those of one operation."""
        held: set[tuple[str, str]] = set()
        for operation in self.kernel.operations:
            places, size = operations.layout(self.lifetimes, operation)
            for key in places:
                instance, _, name = key.partition("::")
                held.add((instance, name))
                param = self.components[instance].params[name]
                if operations.passed_as(param.type) is None:
                    self.error(
                        f"operand '@{instance}::@{name}' is a {param.type}, not a number", param.location, hint=_NUMBERS
                    )
            for dispatch in self.components[operation.dispatcher.root].dispatches.values():
                if size > dispatch.bytes:
                    message = (
                        f"the operands of '@{operation.name}' take {size} bytes, '{dispatch.name}' has {dispatch.bytes}"
                    )
                    self.error(message, operation.location, (f"'{dispatch.name}'", dispatch.location))
                    break
        bound = {(bind.instance, bind.name) for bind in self.kernel.binds}
        for name, component in self.components.items():
            for param in component.params.values():
                if param.operand and (name, param.name) not in held | bound:
                    message = (
                        f"operand '@{name}::@{param.name}' comes with no instruction: no operation runs '@{name}' alone"
                    )
                    hint = f"run it as an operation, or bind '@{name}::@{param.name}'"
                    self.diagnostics.error("unbound-parameter", message, param.location, hint=hint)

    def connect(self, connect: Connect) -> None:
        """Rings and tokens go between roles of one operation."""
        port = self.components[connect.source.root].ports[connect.source.leaf]
        if port.kind not in ("stream", "token"):
            return
        run = [self.owners(ref.root, ref.leaf) for ref in (connect.source, connect.target)]
        if any(run) and run[0] != run[1]:
            message = (
                f"'{connect.source}' to '{connect.target}' leads out of an operation, whose roles run now and then"
            )
            hint = "let operations signal each other through memory"
            self.error(message, connect.location, hint=hint)

    def owners(self, instance: str, port: str) -> set[str]:
        """The operations whose roles use a port."""
        users = self.lifetimes.port_users(instance, port)
        return {user.partition("::")[0] for user in users if user in self.lifetimes.runner_of}

    def leases(self) -> None:
        """Whether slots fit into pages, and whether one role fills them and one reads them."""
        roles: dict[tuple[str, ...], tuple[Connect, list[str]]] = {}
        for connect in self.kernel.connects:
            if connect.lease is None:
                continue
            lease = self.components[connect.lease.root].leases[connect.lease.leaf]
            port = self.components[connect.source.root].ports[connect.source.leaf]
            runners = [
                ", ".join(
                    sorted({self.lifetimes.runner_of.get(user, "") for user in self.lifetimes.port_users(*ref.path)})
                )
                for ref in (connect.source, connect.target)
            ]
            size, at = 0, f"'{connect.source}'"
            for tile in port.tiles:
                size = -(-size // max(tile.align, 1)) * max(tile.align, 1) + tile.bytes
            message = ""
            first = roles.setdefault(connect.lease.path, (connect, runners))
            same = [other for other in self.kernel.connects if other.source == connect.source]
            if port.kind != "stream":
                message = f"{at} is a {port.kind} port, pages hold the slots of streams"
            elif port.ends:
                message = f"{at} may end, and pages have no end marks"
            elif len(same) > 1:
                message = f"{at} has {len(same)} readers, a slot that is a page has one"
            elif size > lease.page_bytes:
                message = f"a slot of {at} takes {size} bytes, a page of '{connect.lease}' has {lease.page_bytes}"
            elif not all(runners) or any("," in runner for runner in runners):
                message = f"{at} to '{connect.target}' is no stream between two roles of an operation"
            elif first[1] != runners:
                message = f"pages of '{connect.lease}' are filled and read by {' and '.join(runners)} here, "
                message += f"by {' and '.join(first[1])} for '{first[0].source}'"
            if message:
                notes = [Note("the pages are declared here", lease.location)]
                self.diagnostics.error("lease-mismatch", message, connect.location, notes=notes)


def _shown(role: Role) -> str:
    return "one thread" if role.one_thread else f"{role.warps} warp{'s' if role.warps > 1 else ''}"


def _first(operation: Operation) -> Note:
    return Note(f"'@{operation.name}' is declared here", operation.location)
