"""Asynchronous accesses that are in flight on a way through the code.

Products of wgmma, and bulk copies out of a slot or buffer, read; copies into a buffer of the component's own write.
Products and copies come in groups, of which an instruction waits for all but the newest.  A slot that is given back
before its group was waited for is filled again while it is read.  Slots are given back oldest first, so it is enough to
know how many slots were waited for since a group was issued.  That the code gives back the oldest, and not another, is
seen by its value: ``slots`` has those that are held.  A buffer into which copies have been issued, and of none of which
anything has waited, has nothing yet that could be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pipelink.audit.claims import FENCE
from pipelink.audit.language import Event, States

#: Verbs of events that are no steps: an asynchronous read is issued, its group committed, groups waited for.
ISSUE: Final = "issue"
COMMIT: Final = "commit group"
WAIT: Final = "wait group"
SILENT: Final = frozenset((ISSUE, COMMIT, WAIT))
ALL: Final = -1  # what a wait leaves that does not go by groups
#: Kinds of copies into buffers: by cp.async, which threads wait for, and those that an mbarrier is told of.
THREADS: Final = "cp.async"
MBARRIER: Final = "cp.async.bulk"
#: Of the reads of each kind: ports of which one thread gives slots back for its warpgroup.
TOGETHER: Final = "together"
APART: Final = "apart"
_MEETINGS: Final = frozenset(("sync", "take"))  # beside products
_MOST_GROUPS: Final = 16

Group = tuple[tuple[str, int], ...]  # of each port that it reads, how many slots were waited for since


@dataclass(frozen=True)
class Flight:
    """By kind, ``wgmma`` or ``bulk``: the reads that are not in a group yet, and the groups, the newest first.
    ``marked``: the last slot that was waited for is asked whether it is the end mark.  ``slots``: the ages of the slots
    that are held, by port and side, the oldest first; None where the code gave back one that could not be followed.
    ``apart``: of each port of which one thread gives slots back for its warpgroup, how many were waited for since its
    warps last met.  ``written``: buffers that threads wrote, without a proxy fence since.  ``there``: buffers that have
    something to read.  ``filled``: the bytes of slots' tiles that copies bring, until the slot is full.  ``phases``:
    the parity that each of the component's mbarriers was waited for last."""

    open: tuple[tuple[str, Group], ...] = ()
    groups: tuple[tuple[str, tuple[Group, ...]], ...] = ()
    marked: bool = False
    slots: tuple[tuple[str, tuple[int, ...] | None], ...] = ()
    apart: Group = ()
    written: frozenset[str] = frozenset()
    there: frozenset[str] = frozenset()
    filled: frozenset[tuple[str, int, int, int]] = frozenset()
    phases: tuple[tuple[tuple[str, int], int], ...] = ()

    def after(self, event: Event, reads: Mapping[str, tuple[str, ...]]) -> Flight:
        """After an event; ``reads`` are the ports that each kind reads."""
        opened, groups = dict(self.open), dict(self.groups)
        written, there, apart = self.written, self.there, self.apart
        kind = event.subject

        def issue(kind: str, names: Iterable[str]) -> None:
            opened[kind] = tuple(sorted({**dict(opened.get(kind, ())), **dict.fromkeys(names, 0)}.items()))

        if event.verb in _MEETINGS or (event.verb == ISSUE and kind == "wgmma"):
            apart = ()
        if event.verb == ISSUE:
            issue(kind, reads.get(kind, ()) if event.source is None else event.source)
        elif event.verb == "store":  # out of a buffer
            issue("bulk", (kind,))
        elif event.verb == "write":
            written |= {kind}
            if event.source is None:
                there |= {kind}
            else:
                issue(THREADS, (kind,))
        elif event.subject == FENCE:
            written = frozenset()
        elif event.verb == COMMIT:
            groups[kind] = (opened.pop(kind, ()), *groups.get(kind, ()))[:_MOST_GROUPS]
        elif event.verb == WAIT:
            done = groups.get(kind, ())[max(event.part, 0) :] + ((opened.pop(kind, ()),) if event.part == ALL else ())
            groups[kind] = groups.get(kind, ())[: max(event.part, 0)]
            if kind == THREADS:
                there |= {name for group in done for name, _ in group}
        elif event.verb == "wait":
            port = event.subject
            there |= {name for name, _ in opened.pop(MBARRIER, ())}
            opened = {kind: _aged(group, port) for kind, group in opened.items()}
            groups = {kind: tuple(_aged(group, port) for group in found) for kind, found in groups.items()}
            if port in reads.get(TOGETHER, ()):
                apart = _aged(apart, port) if port in dict(apart) else tuple(sorted((*apart, (port, 1))))
        kept = {kind: found for kind, found in groups.items() if any(found)}
        ended = event.verb == "ended"
        in_order = tuple(sorted(opened.items())), tuple(sorted(kept.items()))
        return Flight(*in_order, ended, self.slots, apart, written, there, self.filled, self.phases)

    def copied(self, event: Event) -> Flight | None:
        """The same after a copy into a slot that is not full yet; None where it brings what another one brought."""
        if event.place is None or event.bytes is None:
            return self
        port, part, begin, end = event.subject, event.part, event.place, event.place + event.bytes
        if any((port, part) == (p, n) and begin < e and b < end for p, n, b, e in self.filled):
            return None
        return replace(self, filled=self.filled | {(port, part, begin, end)})

    def full(self, port: str) -> Flight:
        """The same with the next slot of a port to be filled."""
        return replace(self, filled=frozenset(one for one in self.filled if one[0] != port))

    def waited(self, event: Event) -> Flight | None:
        """The same after a wait for an mbarrier; None where the last one was for a phase of the same parity."""
        phases = dict(self.phases)
        if event.place is None:  # of one of those that have the name
            phases = {at: parity for at, parity in phases.items() if at[0] != event.subject}
        elif phases.get((event.subject, event.part)) == event.place:
            return None
        else:
            phases[event.subject, event.part] = event.place
        return replace(self, phases=tuple(sorted(phases.items())))

    def empty(self, buffer: str) -> bool:
        """Whether copies into a buffer are on their way, and nothing is there."""
        return buffer not in self.there and any(self._has(kind, buffer) for kind in (THREADS, MBARRIER))

    def multiplying(self, buffer: str) -> bool:
        """Whether wgmma may still read a buffer."""
        return self._has("wgmma", buffer)

    def _has(self, kind: str, name: str) -> bool:
        return any(name in dict(group) for group in (dict(self.open).get(kind, ()), *dict(self.groups).get(kind, ())))

    def held(self, key: str) -> tuple[int, ...] | None:
        """The ages of the slots that are held; None where they are not known."""
        return dict(self.slots).get(key, ())

    def holding(self, key: str, ages: tuple[int, ...] | None) -> Flight:
        """The same with other slots held."""
        slots = {**dict(self.slots), key: ages}
        return replace(self, slots=tuple(sorted((k, found) for k, found in slots.items() if found != ())))

    def reading(self, port: str, before: States) -> str | None:
        """The kind of what still reads the oldest slot of ``port`` that is held, or ``APART`` where warps for which one
        thread gives it back may still wait for it; None if nothing does."""
        if self.marked:
            return None
        oldest = max((state.count(f"{port} in") for state in before), default=0) - 1
        if 0 <= oldest < dict(self.apart).get(port, 0):
            return APART
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


__all__ = ["ALL", "APART", "COMMIT", "ISSUE", "MBARRIER", "SILENT", "THREADS", "TOGETHER", "WAIT", "Flight"]
