"""What a role or an answer does: the protocol that its component states, or the default one.

The text is parsed by :mod:`pipelink.support.protocol_text`, which this module hands on.  Defaults fit a plain loop that
takes one slot of every input, makes one of every output, and gives the inputs back; ``docs/protocols.md`` describes
them.
"""

from __future__ import annotations

from pipelink.ir.protocol_names import check_names, port_verbs
from pipelink.ir.views import Component, Port
from pipelink.support.diagnostics import LinkError, Location
from pipelink.support.protocol import Action, Block, Protocol, Repeat, Step, Until
from pipelink.support.protocol_text import (
    ProtocolError,
    actions_of,
    count_names,
    count_value,
    located,
    parse,
    parse_text,
    steps_of,
)

__all__ = [
    "ProtocolError",
    "actions_of",
    "count_names",
    "count_value",
    "default",
    "owner_of",
    "parse",
    "place_of",
    "protocol_of",
    "steps_of",
]


def protocol_of(component: Component, name: str) -> Protocol:
    """The protocol of a role or an answered call: the stated one, its names checked, or :func:`default`.

    Raises LinkError ``bad-protocol``, which verified IR never does.
    """
    stated = component.protocols.get(name)
    if stated is None:
        return default(component, name)
    what = f"protocol '{name}'"
    try:
        body = parse_text(stated.text)
    except ProtocolError as problem:
        raise LinkError([located(problem, stated.text, stated.location, what)]) from None
    problems = check_names(component, name, body)
    if problems:
        raise LinkError([located(problem, stated.text, stated.location, what) for problem in problems])
    return Protocol(body)


def place_of(component: Component, name: str) -> Location:
    """Where the contract states the protocol of a role or answer; the declaration itself where it does not."""
    stated = component.protocols.get(name)
    if stated is not None:
        return stated.location
    declared = component.roles.get(name) or component.ports.get(name)
    return component.location if declared is None else declared.location


def owner_of(component: Component, choice: str) -> tuple[str, str]:
    """Whose a choice is, and its name: ``theirs.masked`` belongs to ``theirs``, a name alone to the component's author,
    the outermost namespace; components without one have them in common."""
    owner, dot, name = choice.rpartition(".")
    if dot:
        return owner, name
    author, dot, _ = component.name.partition(".")
    return author if dot else "", choice


def default(component: Component, name: str) -> Protocol:
    """The protocol of a role or answer that states none.

    One iteration waits for every input, takes every token, calls every call port, fills a slot of every output,
    releases every input and passes every token, each in the order of the declarations.  A role repeats it: until an
    ending input ends, or else as often as the other ends of its ports want (``Repeat(None)``, which does nothing where
    it only calls and the answers use no port).  The answer to a call is one iteration.
    """
    role = component.roles.get(name)
    if role is None and component.roles:
        return Protocol((), stated=False)  # its ports are its roles' own
    ports = [port for port in component.ports.values() if _belongs(component, port, name)]
    inputs = [port for port in ports if (port.kind, port.direction) == ("stream", "in")]
    outputs = [port for port in ports if (port.kind, port.direction) == ("stream", "out")]
    rings = [port for port in ports if port.direction == "local"]
    body = (
        *(Action(port.name, "wait") for port in (*inputs, *rings)),
        *_each(ports, "token", "in", "take"),
        *_each(ports, "call", "calls", "call"),
        *(step for port in (*outputs, *rings) for step in _fill(port)),
        *(Action(port.name, "release") for port in (*inputs, *rings)),
        *_each(ports, "token", "out", "pass"),
    )
    if not body:
        return Protocol((), stated=False)
    if role is None:
        return Protocol(body, stated=False)
    ending = [port.name for port in inputs if port.ends]
    # a cp.async ring runs one slot less than it is deep ahead
    first: list[Step] = [Repeat(f"{port.name}.stages - 1", _fill(port)) for port in rings]
    loop: Step = Until(ending[0], body) if ending else Repeat(None, body)
    others = [Until(port, (Action(port, "wait"), Action(port, "release"))) for port in ending[1:]]
    last = [Action(port.name, "end") for port in outputs if port.ends]
    return Protocol((*first, loop, *others, *last), stated=False)


def _belongs(component: Component, port: Port, name: str) -> bool:
    if name not in component.roles:
        return True
    role = component.role_of(port)
    return role is not None and role.name == name


def _fill(port: Port) -> Block:
    done = "copy" if "copy" in port_verbs(port) else "commit"
    return (Action(port.name, "acquire"), Action(port.name, done))


def _each(ports: list[Port], kind: str, direction: str, verb: str) -> Block:
    return tuple(Action(p.name, verb) for p in ports if (p.kind, p.direction) == (kind, direction))
