"""Who arrives: the threads of a role that take the steps by which a port's slots change hands.

Without ``by`` in a protocol every thread of the role does; a call by some of them runs its answer by those alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipelink.analysis.protocol.language import actions_of, protocol_of
from pipelink.ir.views import Component, Kernel
from pipelink.support.protocol import Callers

ARRIVING = ("commit", "end", "release", "pass")


class Steps:
    """The stated callers of one kernel's steps."""

    def __init__(self, kernel: Kernel, components: Mapping[str, Component]) -> None:
        self._kernel, self._components = kernel, components
        self._found: dict[tuple[str, str, tuple[str, ...]], frozenset[Callers | None]] = {}

    def arriving(self, instance: str, port: str) -> frozenset[Callers | None]:
        """The callers of all steps by which ``port`` arrives; None among them: every thread of the role.  One element
        where the protocols agree, which they have to."""
        return self._callers(instance, port, ARRIVING)

    def _callers(self, instance: str, subject: str, verbs: tuple[str, ...]) -> frozenset[Callers | None]:
        key = (instance, subject, verbs)
        if key not in self._found:
            self._found[key] = frozenset({None})  # calls that come back to their caller end here
            self._found[key] = self._search(instance, subject, verbs) or frozenset({None})
        return self._found[key]

    def _search(self, instance: str, subject: str, verbs: tuple[str, ...]) -> frozenset[Callers | None]:
        component = self._components[instance]
        found: set[Callers | None] = set()
        for name in component.protocols:
            body = protocol_of(component, name).body
            own = {step.by for step in actions_of(body) if step.subject == subject and step.verb in verbs}
            if name in component.roles or not own:
                found |= own
                continue
            outer: set[Callers | None] = set()
            for connect in self._kernel.connects:
                if connect.target.path == (instance, name):
                    outer |= self._callers(connect.source.root, connect.source.leaf, ("call",))
            found |= {_fewer(a, b) for a in own for b in outer or {None}}
        return frozenset(found)


def _fewer(a: Callers | None, b: Callers | None) -> Callers | None:
    if a is None or b is None:
        return b if a is None else a
    return a if a.threads <= b.threads else b
