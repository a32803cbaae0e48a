"""Asynchronous reads that are in flight on a way through the code: products of wgmma, and bulk copies out of a slot.

Both come in groups, of which an instruction waits for all but the newest.  A slot that is given back before its group
was waited for is filled again while it is read.  Slots are given back oldest first, so it is enough to know how many
slots were waited for since a group was issued.  That the code gives back the oldest, and not another, is seen by its
value: ``slots`` has those that are held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pipelink.audit.language import Event, States

#: Verbs of events that are no steps: an asynchronous read is issued, its group committed, groups waited for.
ISSUE: Final = "issue"
COMMIT: Final = "commit group"
WAIT: Final = "wait group"
SILENT: Final = frozenset((ISSUE, COMMIT, WAIT))
_MOST_GROUPS: Final = 16

Group = tuple[tuple[str, int], ...]  # of each port that it reads, how many slots were waited for since


@dataclass(frozen=True)
class Flight:
    """By kind, ``wgmma`` or ``bulk``: the reads that are not in a group yet, and the groups, the newest first.
    ``marked``: the last slot that was waited for is asked whether it is the end mark.  ``slots``: the ages of the slots
    that are held, by port and side, the oldest first; None where the code gave back one that could not be followed."""

    open: tuple[tuple[str, Group], ...] = ()
    groups: tuple[tuple[str, tuple[Group, ...]], ...] = ()
    marked: bool = False
    slots: tuple[tuple[str, tuple[int, ...] | None], ...] = ()

    def after(self, event: Event, reads: Mapping[str, tuple[str, ...]]) -> Flight:
        """After an event; ``reads`` are the ports that each kind reads."""
        opened, groups = dict(self.open), dict(self.groups)
        kind = event.subject
        if event.verb == ISSUE:
            ports = reads.get(kind, ()) if event.source is None else (event.source,)
            opened[kind] = tuple(sorted({**dict(opened.get(kind, ())), **dict.fromkeys(ports, 0)}.items()))
        elif event.verb == "store":  # out of a buffer
            opened["bulk"] = tuple(sorted({**dict(opened.get("bulk", ())), kind: 0}.items()))
        elif event.verb == COMMIT:
            groups[kind] = (opened.pop(kind, ()), *groups.get(kind, ()))[:_MOST_GROUPS]
        elif event.verb == WAIT:
            groups[kind] = groups.get(kind, ())[: event.part]
        elif event.verb == "wait":
            port = event.subject
            opened = {kind: _aged(group, port) for kind, group in opened.items()}
            groups = {kind: tuple(_aged(group, port) for group in found) for kind, found in groups.items()}
        kept = {kind: found for kind, found in groups.items() if any(found)}
        return Flight(tuple(sorted(opened.items())), tuple(sorted(kept.items())), event.verb == "ended", self.slots)

    def held(self, key: str) -> tuple[int, ...] | None:
        """The ages of the slots that are held; None where they are not known."""
        return dict(self.slots).get(key, ())

    def holding(self, key: str, ages: tuple[int, ...] | None) -> Flight:
        """The same with other slots held."""
        slots = {**dict(self.slots), key: ages}
        return replace(self, slots=tuple(sorted((k, found) for k, found in slots.items() if found != ())))

    def reading(self, port: str, before: States) -> str | None:
        """The kind of what still reads the oldest slot of ``port`` that is held; None if nothing does."""
        if self.marked:
            return None
        oldest = max((state.count(f"{port} in") for state in before), default=0) - 1
        for kind, found in (*((kind, (group,)) for kind, group in self.open), *self.groups):
            if any(dict(group).get(port, -1) >= oldest for group in found):
                return kind
        return None

    @property
    def copies(self) -> bool:
        """Whether any bulk copy may still read."""
        return bool(dict(self.open).get("bulk")) or "bulk" in dict(self.groups)

    def stores(self, buffer: str) -> int:
        """The groups, and what is in none yet, that may still read a buffer."""
        open_ = dict(self.open).get("bulk", ())
        return sum(buffer in dict(group) for group in (open_, *dict(self.groups).get("bulk", ())))


def _aged(group: Group, port: str) -> Group:
    return tuple((name, age + (name == port)) for name, age in group)


__all__ = ["COMMIT", "ISSUE", "SILENT", "WAIT", "Flight"]
