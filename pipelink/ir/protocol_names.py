"""Checks a parsed protocol against the component that states it: every name is declared, every verb fits its subject.

What two components' protocols do together is the business of pass ``prove``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pipelink.contract.vocabulary import TOUCHES
from pipelink.support.diagnostics import nearest, suggest
from pipelink.support.protocol import Action, Block, Callers, Choose, Repeat, Until
from pipelink.support.protocol_text import ProtocolError, count_names, steps_of

if TYPE_CHECKING:
    from pipelink.ir.opviews import Param, Port, Role
    from pipelink.ir.views import Component

#: Verbs of a port by kind and direction; a producer by copies has ``copy`` in place of ``commit``.
PORT_VERBS: dict[tuple[str, str], tuple[str, ...]] = {
    ("stream", "out"): ("acquire", "commit", "copy", "end", "write"),
    ("stream", "in"): ("wait", "release", "read"),
    ("stream", "local"): ("acquire", "commit", "wait", "release", "read", "write"),
    ("token", "out"): ("pass",),
    ("token", "in"): ("take",),
    ("call", "calls"): ("call",),
    ("signal", "out"): ("signal",),
    ("signal", "in"): ("await",),
}
BARRIER_VERBS = ("sync", "arrive")
BUFFER_VERBS = ("read", "write", "store", "stored", "peer_read", "peer_write")
COLUMNS_VERBS = ("read", "write")
MBARRIER_VERBS = ("arrive", "wait")
CLUSTER_VERBS = ("sync",)
TURNS_VERBS = ("take", "pass")
DISPATCH_VERBS = ("run",)
KEEPING = ("release", "commit", "copy")  # slots; ``stored`` keeps copies in flight


def check_names(component: Component, of: str, body: Block) -> list[ProtocolError]:
    """What is wrong with the names in ``body``, the protocol of role or answer ``of``; empty if nothing is."""
    role = component.roles.get(of)
    found: list[ProtocolError] = []
    for step in steps_of(body):
        try:
            match step:
                case Action():
                    _check_action(component, role, step)
                case Repeat(count=str(count), column=column):
                    _check_count(component, count, column)
                case Until(port=port, column=column):
                    _check_until(component, role, port, column)
                case Choose(name=str(name), column=column) if name in component.ports:
                    raise ProtocolError(f"'{name}' is a port, not a choice's name", column)
                case _:
                    pass
        except ProtocolError as problem:
            found.append(problem)
    return found


def _owner(component: Component) -> str:
    return f"component '{component.name}'"


def _check_action(component: Component, role: Role | None, action: Action) -> None:
    verbs = _verbs(component, role, action)
    if action.verb not in verbs:
        subject, column = f"'{action.subject}'", action.column
        if action.verb == "call":
            raise ProtocolError(f"{subject} is no call port: say what is done to it", column, _listed(verbs))
        raise ProtocolError(f"{subject} has no '{action.verb}'", column, nearest(action.verb, verbs) or _listed(verbs))
    if action.keep and action.verb not in (*KEEPING, "stored"):
        raise ProtocolError(f"'{action.verb}' keeps nothing: keep belongs to {', '.join(KEEPING)}", action.column)
    if action.by is not None:
        _check_callers(role, action.by, action.column)


def _listed(verbs: Iterable[str]) -> str:
    return f"known: {', '.join(verbs)}"


def _verbs(component: Component, role: Role | None, action: Action) -> tuple[str, ...]:
    """What may be done to the action's subject.  Raises ProtocolError where the component does not have it."""
    name, column = action.subject, action.column
    port = component.ports.get(name)
    if port is not None:
        _check_role(component, role, port, column)
        return port_verbs(port)
    if name in component.barriers:
        return BARRIER_VERBS
    if name in component.smem:
        return BUFFER_VERBS
    if name in component.tmem:
        return COLUMNS_VERBS
    if name in component.mbarriers:
        return MBARRIER_VERBS
    if name in component.cluster_barriers:
        return CLUSTER_VERBS
    if name in component.turns:
        owner = component.turns[name].role
        if role is not None and owner not in (None, role.name):
            raise ProtocolError(f"order of turns '{name}' is that of role '{owner}', not of '{role.name}'", column)
        return TURNS_VERBS
    if name in component.dispatches:
        owner = component.dispatches[name].role
        if role is not None and owner not in (None, role.name):
            raise ProtocolError(f"dispatch '{name}' is that of role '{owner}', not of '{role.name}'", column)
        return DISPATCH_VERBS
    known = [*component.ports, *component.barriers, *component.smem, *component.tmem, *component.mbarriers]
    known += [*component.cluster_barriers, *component.turns, *component.dispatches]
    message = f"{_owner(component)} has no port, barrier or buffer '{name}'"
    raise ProtocolError(message, column, suggest(name, known))


def port_verbs(port: Port) -> tuple[str, ...]:
    """The verbs of a port; which of ``commit``, ``copy`` and ``end`` depends on its touch and on whether it ends."""
    verbs = PORT_VERBS.get((port.kind, port.direction), ())
    if (port.kind, port.direction) != ("stream", "out"):
        return verbs
    left_out = {"commit" if TOUCHES[port.touch].copies else "copy"} | (set() if port.ends else {"end"})
    return tuple(verb for verb in verbs if verb not in left_out)


def _check_role(component: Component, role: Role | None, port: Port, column: int) -> None:
    if role is not None and port.role is not None and port.role != role.name:
        raise ProtocolError(f"port '{port.name}' is in role '{port.role}', not '{role.name}'", column)
    if port.kind == "call" and port.direction == "answers":
        raise ProtocolError(f"'{port.name}' is an answer; {_owner(component)} does not call it", column)


def _check_callers(role: Role | None, by: Callers, column: int) -> None:
    if role is None:
        return
    if by.threads > role.thread_count:
        have = "one thread" if role.one_thread else f"{role.warps} warp{'s' if role.warps > 1 else ''}"
        plural = "s" if by.count > 1 else ""
        raise ProtocolError(f"{by.count} {by.unit}{plural} of role '{role.name}', which has {have}", column)


def _check_count(component: Component, count: str, column: int) -> None:
    for name in count_names(count):
        if name.endswith(".stages"):
            port = component.ports.get(name.removesuffix(".stages"))
            if port is None or port.kind != "stream":
                streams = [p.name for p in component.ports.values() if p.kind == "stream"]
                message = f"'{name}': {_owner(component)} has no such stream port"
                raise ProtocolError(message, column, suggest(name.removesuffix(".stages"), streams))
            continue
        port, param = component.ports.get(name), component.params.get(name)
        if port is not None and (port.kind, port.direction) == ("call", "calls"):
            continue
        if port is not None:
            raise ProtocolError(f"'{name}' counts nothing: counts are parameters and call ports", column)
        if param is None:
            known = [p.name for p in component.params.values() if _is_number(p)]
            known += [p.name for p in component.ports.values() if p.direction == "calls"]
            message = f"{_owner(component)} has no parameter or call port '{name}'"
            raise ProtocolError(message, column, suggest(name, known))
        if not _is_number(param):
            raise ProtocolError(f"parameter '{name}' is a {param.type}, not a number", column)


def _is_number(param: Param) -> bool:
    return param.type not in ("tensor_map", "pointer") and not param.type.endswith("*")


def _check_until(component: Component, role: Role | None, name: str, column: int) -> None:
    port = component.ports.get(name)
    if port is None or (port.kind, port.direction) != ("stream", "in"):
        inputs = [p.name for p in component.ports.values() if (p.kind, p.direction) == ("stream", "in")]
        raise ProtocolError(f"'{name}' is no input stream of {_owner(component)}", column, suggest(name, inputs))
    _check_role(component, role, port, column)
    if not port.ends:
        raise ProtocolError(f"port '{name}' does not test for an end", column, "declare pl::ends on it")
