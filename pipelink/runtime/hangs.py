"""Explains a hang: from the records of a stopped kernel to who waits for whom.

Input: the records that warps left when they gave up (``pl_record`` of pipelink/transfers/watch.cuh), and the link's
table of waits.  Output: one diagnostic, ``kernel-hang``.  A role waits for the roles that the table names as arriving
at its barrier; where those wait as well, following them leads to a cycle, or to a role that waits for nobody.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pipelink.runtime.debug import Debug, Site
from pipelink.support.diagnostics import Diagnostic, LinkError, Note
from pipelink.support.trace import Step, Trace

RECORD = struct.Struct("<8I")  # site + 1, CTA, thread, stage, parity, lanes, waited in microseconds, stuck
MAX_RECORDS = 8192  # one for each warp that waits; further ones are counted on the device alone

Ending = Literal["left", "trapped", "running"]
_ENDINGS: dict[Ending, str] = {
    "left": "all threads have left the kernel, and the device can be used as before",
    "trapped": "some threads could not be asked to leave (they wait at a named barrier, loop by themselves, or tensor "
    "memory has to be freed), so the kernel trapped: CUDA refuses this process the device, a new one can use it",
    "running": "the kernel has not ended: its threads wait for something that has no time limit; end this process",
}


@dataclass(frozen=True)
class Record:
    """What one warp waited for.  ``stuck``: for long; else it was interrupted in what may be an ordinary wait."""

    site: int
    cta: int
    thread: int
    stage: int
    parity: int
    seconds: float
    stuck: bool


@dataclass(frozen=True)
class Waiter:
    """A role of one CTA that waits: its warps with the same wait are one."""

    role: str
    site: Site
    stage: int
    parity: int
    warps: int
    seconds: float

    @property
    def elsewhere(self) -> bool:
        """Whether other CTAs end the wait; of a signal ``stage`` is the counter, ``parity`` what it has to reach."""
        return self.site.operation in ("await", "sync")

    @property
    def goal(self) -> str:
        """``for slot 2 of ring '@load::@ab' to be filled by @load::@load``."""
        site = self.site
        others = " and ".join(site.arrivers) or "nobody"
        if site.operation == "sync":
            return f"at '{site.port}' for the other CTAs of its cluster"
        if self.elsewhere:
            return f"for counter {self.stage} of '{site.port}' to reach {self.parity}, from {others} of any CTA"
        if site.operation == "take":
            return f"at '{site.port}' for a token from {others}"
        if site.operation == "mbarrier":
            return f"for mbarrier {self.stage} of '{site.port}' to complete phase {self.parity}, by {others}"
        slot = f"for slot {self.stage} of ring '{site.ring}'"
        return f"{slot} to be {'filled' if site.operation == 'wait' else 'released'} by {others}"

    @property
    def action(self) -> str:
        """``wait of '@mma::@ab', slot 2, phase 1``."""
        if self.site.operation == "sync":
            return f"sync of '{self.site.port}', phase {self.parity}"
        if self.elsewhere:
            return f"await of '{self.site.port}', counter {self.stage}"
        if self.site.operation == "mbarrier":
            return f"the wait for mbarrier {self.stage} of '{self.site.port}', phase {self.parity}"
        slot = "" if self.site.operation == "take" else f", slot {self.stage}"
        return f"{self.site.operation} of '{self.site.port}'{slot}, phase {self.parity}"


def parse(data: bytes, sites: int) -> list[Record]:
    """The records that were written whole; others have site 0."""
    found: list[Record] = []
    for site, cta, thread, stage, parity, _, waited, stuck in RECORD.iter_unpack(data):
        if 0 < site <= sites:
            found.append(Record(site - 1, cta, thread, stage, parity, waited / 1e6, bool(stuck)))
    return found


def waiters(debug: Debug, records: Sequence[Record], cta: int) -> list[Waiter]:
    """Who waits in a CTA, the longest first."""
    found: dict[tuple[str, int, int, int], list[Record]] = {}
    for record in records:
        if record.cta == cta:
            key = (_role(debug, record), record.site, record.stage, record.parity)
            found.setdefault(key, []).append(record)
    made = [
        Waiter(role, debug.sites[site], stage, parity, len(same), max(r.seconds for r in same))
        for (role, site, stage, parity), same in found.items()
    ]
    return sorted(made, key=lambda waiter: -waiter.seconds)


def _role(debug: Debug, record: Record) -> str:
    """Of roles that share warps, the one that uses the port."""
    inside = [r.role for r in debug.roles if r.first <= record.thread < r.first + r.threads]
    users = debug.sites[record.site].users
    return next((role for role in inside if role in users), inside[0] if inside else f"thread {record.thread}")


def chain(found: Sequence[Waiter]) -> tuple[list[Waiter], bool]:
    """From the first waiter to whom it waits for, and on; whether that is a cycle.  A cycle is returned alone."""
    by_role: dict[str, list[Waiter]] = {}
    for waiter in found:
        by_role.setdefault(waiter.role, []).append(waiter)

    def follow(path: list[Waiter]) -> tuple[list[Waiter], bool]:
        best = path
        if path[-1].elsewhere:
            return path, False
        for other in path[-1].site.arrivers:
            known = next((i for i, w in enumerate(path) if w.role == other), None)
            if known is not None:
                return path[known:], True
            for waiter in by_role.get(other, ()):
                further, closed = follow([*path, waiter])
                if closed:
                    return further, True
                best = max(best, further, key=len)
        return best, False

    return follow([found[0]]) if found else ([], False)


def explain(kernel: str, debug: Debug, records: Sequence[Record], ctas: int, ending: Ending) -> LinkError:
    """The error of a kernel that was stopped."""
    stuck = [record for record in records if record.stuck] or list(records)
    worst = max(stuck, key=lambda record: record.seconds)
    found = waiters(debug, stuck, worst.cta)
    path, closed = chain(found)
    told = "; ".join(f"{waiter.role} waits {waiter.goal}" for waiter in path)
    if closed:
        end = "a cycle" if len(path) > 1 else "it waits for itself"
    elif path[-1].site.operation == "sync":
        end = "not all of them have come"
    elif path[-1].elsewhere:
        end = "it has not, and who signals in this CTA is not the only one who may"
    else:
        last = [role for role in path[-1].site.arrivers if role not in {waiter.role for waiter in found}]
        state = "has ended" if ending == "left" else "waits at no port"
        end = f"{' and '.join(last)} {state}" if last else "nobody ends that wait"
    others = len({record.cta for record in stuck} - {worst.cta})
    message = f"kernel '{kernel}' hangs in CTA {worst.cta} of {ctas}: {told}: {end}"
    notes = [Note(f"{w.role} has waited {w.seconds:.2f} s in {w.action} ({_warps(w.warps)})") for w in found]
    if others:
        notes.insert(0, Note(f"{others} other CTAs wait for longer than they may"))
    trace = _trace(found, path, closed)
    return LinkError(
        [Diagnostic("error", "kernel-hang", message, notes=tuple(notes), hint=_ENDINGS[ending], trace=trace)]
    )


def _warps(count: int) -> str:
    return "1 warp" if count == 1 else f"{count} warps"


def _trace(found: Sequence[Waiter], path: Sequence[Waiter], closed: bool) -> Trace:
    lanes = tuple(dict.fromkeys(waiter.role for waiter in found))
    steps = tuple(Step(w.role, w.action, f"waits {w.goal}", blocked=True) for w in found)
    return Trace("where the kernel stands", lanes, steps, cycle=tuple(w.role for w in path) if closed else ())
