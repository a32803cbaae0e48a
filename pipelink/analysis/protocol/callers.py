"""Who arrives: the threads of a role that take the steps by which a port's slots change hands, or that reach a barrier.

Without ``by`` in a protocol every thread of the role does; a call by some of them runs its answer by those alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipelink.analysis.protocol.language import actions_of, count_names, protocol_of, steps_of
from pipelink.ir.views import Component, Kernel
from pipelink.model.lifetimes import RoleKey
from pipelink.support.protocol import Action, Callers, Repeat
from pipelink.target import MAX_CTA_WARPS, WARP_THREADS

ARRIVING = ("commit", "end", "release", "pass")


class Steps:
    """The stated callers of one kernel's steps."""

    def __init__(self, kernel: Kernel, components: Mapping[str, Component]) -> None:
        self._kernel, self._components = kernel, components
        self._answers = {
            connect.source.path: connect.target.path
            for connect in kernel.connects
            if components[connect.source.root].ports[connect.source.leaf].kind == "call"
        }
        self._found: dict[tuple[str, str, tuple[str, ...]], frozenset[Callers | None]] = {}

    def arriving(self, instance: str, port: str) -> frozenset[Callers | None]:
        """The callers of all steps by which ``port`` arrives; None among them: every thread of the role.  One element
        where the protocols agree, which they have to."""
        return self._callers(instance, port, ARRIVING)

    def reaching(self, role: RoleKey, instance: str, barrier: str) -> int:
        """The most threads of a role that reach a barrier of ``instance``, whose answers it may call, at once."""
        own = self._components[instance]
        told = any(self._at(own, of, barrier) for of in own.protocols)
        most: dict[tuple[str, str], int] = {}  # threads by what they do

        def follow(at: str, of: str, threads: int) -> None:
            if most.get((at, of), 0) >= threads:
                return
            most[at, of] = threads
            component = self._components[at]
            for step in steps_of(protocol_of(component, of).body):
                match step:
                    case Action(subject=port, verb="call", by=by):
                        called, callers = (port,), threads if by is None else min(threads, by.threads)
                    case Repeat(count=str(count)):
                        called, callers = count_names(count), threads
                    case _:
                        continue
                for target in (self._answers[at, port] for port in called if (at, port) in self._answers):
                    follow(target[0], target[1], callers)

        caller, _, name = role.partition("::")
        follow(caller, name, self._components[caller].roles[name].thread_count)
        found = 0
        for (at, of), threads in most.items():
            if at == instance:
                steps = self._at(own, of, barrier) if told else [threads]  # what is not told may reach it anywhere
                found = max([found, *(min(step, threads) for step in steps)])
        return found

    @staticmethod
    def _at(component: Component, of: str, barrier: str) -> list[int]:
        """The threads that take each step at a barrier, as far as the steps say."""
        steps = (step for step in actions_of(protocol_of(component, of).body) if step.subject == barrier)
        return [MAX_CTA_WARPS * WARP_THREADS if step.by is None else step.by.threads for step in steps]

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
