"""Protocols that nobody wrote: the default of a role or answer, and one whose counts are numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipelink.audit.claims import Claims
from pipelink.audit.code import Reading
from pipelink.support.protocol import Block, Choose, Protocol, Rank, Repeat, Until
from pipelink.support.protocol_text import count_names, count_value


@dataclass(frozen=True)
class _Named:
    """A role, or a port, as the default protocols ask for it."""

    name: str
    kind: str = ""
    direction: str = ""
    touch: str = ""
    ends: bool = False
    role: str | None = None


class _Declared:
    """A component's roles and ports, as the default protocols ask for them: the records without the IR's operations."""

    def __init__(self, claims: Claims) -> None:
        self.roles = {record.name: _Named(record.name) for record in claims.of("role")}
        self.ports = {
            record.name: _Named(
                record.name,
                str(record.values.get("kind", "")),
                str(record.values.get("direction", "")),
                str(record.values.get("touch", "")),
                bool(record.values.get("ends")),
                _text(record.values.get("role")),
            )
            for record in claims.of("port")
        }  # fmt: skip

    def role_of(self, port: _Named) -> _Named | None:
        if port.role is not None:
            return self.roles.get(port.role)
        roles = list(self.roles.values())
        return roles[0] if len(roles) == 1 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def default_protocol(reading: Reading) -> Protocol:
    """What a role or answer that states none is taken to do."""
    from pipelink.analysis.protocol.language import default

    declared: Any = _Declared(reading.claims)
    return default(declared, reading.code.name)


def counted(body: Block, given: Mapping[str, int]) -> Block | None:
    """A protocol with its counts as numbers, where they follow from those that are given; None where one that is never
    0 would be."""
    found: list[Any] = []
    for step in body:
        if isinstance(step, Choose):
            ways = [counted(way, given) for way in step.ways]
            if None in ways:
                return None
            step = replace(step, ways=tuple(way for way in ways if way is not None))
        elif isinstance(step, Repeat | Until | Rank):
            inner = counted(step.body, given)
            if inner is None:
                return None
            step = replace(step, body=inner)
            if isinstance(step, Repeat) and step.count is not None and set(count_names(step.count)) <= set(given):
                rounds = max(count_value(step.count, given), 0)
                if step.at_least_once and not rounds:
                    return None
                step = replace(step, count=str(rounds), at_least_once=False)
        found.append(step)
    return tuple(found)
