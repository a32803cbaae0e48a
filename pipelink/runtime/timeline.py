"""The timeline of a launch: when each role waited, when it worked, and what was in its rings.

Input: the buffer that a kernel linked with ``--trace-timeline`` filled (``pl_lane`` and ``pl_event`` of
pipelink/transfers/watch.cuh).  Output: :class:`Timeline`, written as JSON in the Trace Event Format, which Perfetto and
chrome://tracing read: a process for each CTA, a thread for each warpgroup of a role and for each slot of a ring.

Events carry the SM's clock, 32 bits of it, in cycles.  Each lane notes clock and global timer when its role begins and
ends: the cycles between give the SM's rate, and the readings of all lanes of an SM its offset, since the timer lags
behind by up to its resolution and never runs ahead.  PTX ISA 10 (special registers).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from pipelink.runtime.debug import Debug, Site
from pipelink.support.diagnostics import Location, error

LANE = struct.Struct("<4I2Q32x")  # SM, clock at begin and end, events; global timer at begin and end, 0: not reached
EVENT = struct.Struct("<4I")  # site + 1, stage, clock at begin and end
LANE_THREADS = 128
_WRAP = 1 << 32

Kind = Literal["wait", "work", "filling", "in use", "turn"]
#: What a role does after a wait, and what the wait is for.
#: What a role does after a wait; after any other, no more is known than that it was after that.
_AFTER = {"acquire": "fill", "wait": "use"}
#: Names of colours that both viewers know.
_COLORS: dict[Kind, str] = {
    "wait": "grey",
    "work": "good",
    "filling": "thread_state_iowait",
    "in use": "good",
    "turn": "rail_response",
}


@dataclass(frozen=True)
class Slice:
    """A stretch of a lane's time.  ``lane`` is a role (``@mma::@run``, with ``warpgroup 1`` where it has several), a
    ring's slot (``@load::@ab[2]``) or turns of a warpgroup (``@mma::@turn warpgroup 1``); times in nanoseconds from the
    launch's first event."""

    cta: int
    sm: int
    lane: str
    name: str
    kind: Kind
    begin: float
    end: float


@dataclass(frozen=True)
class Timeline:
    """A launch.  ``dropped`` counts events that found no room, ``traced`` the CTAs that were traced of ``ctas``."""

    kernel: str
    slices: tuple[Slice, ...]
    dropped: int
    traced: int
    ctas: int

    def lanes(self, cta: int) -> dict[str, list[Slice]]:
        """The slices of one CTA by lane, roles before slots before turns, in time."""
        found: dict[str, list[Slice]] = {}
        for item in self.slices:
            if item.cta == cta:
                found.setdefault(item.lane, []).append(item)
        return found

    def to_json(self, ctas: Iterable[int] | None = None) -> dict[str, Any]:
        """The Trace Event Format document, of all CTAs or of some."""
        chosen = None if ctas is None else set(ctas)
        events: list[dict[str, Any]] = []
        threads: dict[tuple[int, str], int] = {}
        for item in self.slices:
            if chosen is not None and item.cta not in chosen:
                continue
            if not any(cta == item.cta for cta, _ in threads):
                name = {"name": f"CTA {item.cta} on SM {item.sm}"}
                events.append({"ph": "M", "pid": item.cta, "tid": 0, "name": "process_name", "args": name})
            key = (item.cta, item.lane)
            if key not in threads:
                threads[key] = 1 + sum(cta == item.cta for cta, _ in threads)
                at = {"ph": "M", "pid": item.cta, "tid": threads[key]}
                events.append({**at, "name": "thread_name", "args": {"name": item.lane}})
                events.append({**at, "name": "thread_sort_index", "args": {"sort_index": threads[key]}})
            events.append(
                {
                    "ph": "X", "pid": item.cta, "tid": threads[key], "name": item.name, "cat": item.kind,
                    "ts": round(item.begin / 1e3, 4), "dur": round((item.end - item.begin) / 1e3, 4),
                    "cname": _COLORS[item.kind],
                }
            )  # fmt: skip
        about = {"kernel": self.kernel, "ctas": self.ctas, "traced": self.traced, "dropped": self.dropped}
        return {"displayTimeUnit": "ns", "otherData": about, "traceEvents": events}

    def save(self, path: str | Path, ctas: Iterable[int] | None = None) -> None:
        """Write the JSON file.  Raises LinkError ``unwritable-output``."""
        try:
            Path(path).write_text(json.dumps(self.to_json(ctas)) + "\n")
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise error("unwritable-output", f"cannot write '{path}': {reason}", Location(str(path))) from problem


def from_json(data: dict[str, Any]) -> Timeline:
    """A timeline that ``to_json`` wrote."""
    lanes: dict[tuple[int, int], str] = {}
    sms: dict[int, int] = {}
    found: list[Slice] = []
    for event in data["traceEvents"]:
        pid, tid = event["pid"], event["tid"]
        if event["name"] == "process_name" and event["ph"] == "M":
            sms[pid] = int(event["args"]["name"].rpartition(" ")[2])
        elif event["name"] == "thread_name" and event["ph"] == "M":
            lanes[pid, tid] = event["args"]["name"]
        elif event["ph"] == "X":
            begin = event["ts"] * 1e3
            end = begin + event["dur"] * 1e3
            found.append(Slice(pid, sms[pid], lanes[pid, tid], event["name"], event["cat"], begin, end))
    about = data["otherData"]
    return Timeline(about["kernel"], tuple(found), about["dropped"], about["traced"], about["ctas"])


@dataclass(frozen=True)
class _Event:
    """A wait in nanoseconds."""

    site: Site
    stage: int
    begin: float
    end: float


@dataclass
class _Lane:
    """A lane as it was noted: cycles from the SM's first reading, or nanoseconds once the rate is known."""

    cta: int
    name: str
    sm: int
    ticks: tuple[int, int]
    times: tuple[int, int]
    events: list[tuple[int, int, int, int]]  # site, stage, begin, end
    count: int


def read(kernel: str, debug: Debug, data: bytes, capacity: int, ctas: int) -> Timeline:
    """The timeline in a buffer of whole CTAs, each of ``debug.lanes`` lanes with room for ``capacity`` events."""
    lanes = _lanes(debug, data, capacity)
    clocks = _clocks(lanes)
    slices: list[Slice] = []
    traced = len(data) // (debug.lanes * (LANE.size + capacity * EVENT.size))
    for cta in sorted({lane.cta for lane in lanes}):
        own = [lane for lane in lanes if lane.cta == cta]
        waits: dict[str, list[_Event]] = {}
        for lane in own:
            rate, offset = clocks[lane.sm]
            events = [
                _Event(debug.sites[site], stage, offset + begin * rate, offset + end * rate)
                for site, stage, begin, end in lane.events
            ]
            waits[lane.name] = events
            first, last = offset + lane.ticks[0] * rate, offset + lane.ticks[1] * rate
            slices += _role(lane, events, first, last)
        slices += _slots(cta, own[0].sm, waits)
        slices += [item for lane in own for item in _turns(lane, waits[lane.name])]
    start = min((item.begin for item in slices), default=0.0)
    moved = [Slice(s.cta, s.sm, s.lane, s.name, s.kind, s.begin - start, s.end - start) for s in slices]
    dropped = sum(max(0, lane.count - capacity) for lane in lanes)
    return Timeline(kernel, tuple(moved), dropped, traced, ctas)


def _lanes(debug: Debug, data: bytes, capacity: int) -> list[_Lane]:
    names: dict[int, str] = {}
    for role in debug.roles:
        groups = -(-role.threads // LANE_THREADS)
        for group in range(groups):
            names[role.lane + group] = role.role + (f" warpgroup {group}" if groups > 1 else "")
    found: list[_Lane] = []
    size = LANE.size + capacity * EVENT.size
    origin: dict[int, int] = {}
    for number in range(len(data) // size):
        at = number * size
        sm, clock_begin, clock_end, count, begin, end = LANE.unpack_from(data, at)
        if not begin:
            continue  # the role did not begin
        base = origin.setdefault(sm, clock_begin)
        first = now = _signed(clock_begin - base)
        events: list[tuple[int, int, int, int]] = []
        for index in range(capacity):
            site, stage, started, ended = EVENT.unpack_from(data, at + LANE.size + index * EVENT.size)
            if not 0 < site <= len(debug.sites):
                break
            started = now + (started - base - now) % _WRAP
            now = started + (ended - base - started) % _WRAP
            events.append((site - 1, stage, started, now))
        last = now if not end else now + (clock_end - base - now) % _WRAP
        lane = names.get(number % debug.lanes, f"lane {number % debug.lanes}")
        found.append(_Lane(number // debug.lanes, lane, sm, (first, last), (begin, end), events, count))
    return found


def _signed(ticks: int) -> int:
    return (ticks + _WRAP // 2) % _WRAP - _WRAP // 2


def _clocks(lanes: list[_Lane]) -> dict[int, tuple[float, float]]:
    """Nanoseconds a cycle, the same for all SMs, and each SM's offset."""
    whole = [lane for lane in lanes if lane.times[1] > lane.times[0] and lane.ticks[1] > lane.ticks[0]]
    rates = [(lane.times[1] - lane.times[0]) / (lane.ticks[1] - lane.ticks[0]) for lane in whole]
    rate = median(rates) if rates else 1.0
    start = min((lane.times[0] for lane in lanes), default=0)  # the timer counts from 1970: a float cannot
    offsets: dict[int, float] = {}
    for lane in lanes:
        for time, ticks in zip(lane.times, lane.ticks, strict=True):
            if time:
                offset = (time - start) - ticks * rate
                offsets[lane.sm] = max(offsets.get(lane.sm, offset), offset)
    return {sm: (rate, offset) for sm, offset in offsets.items()}


def _role(lane: _Lane, events: list[_Event], first: float, last: float) -> Iterable[Slice]:
    """Waits, and what lies between them."""
    doing, since = "begin", first
    for event in (event for event in events if event.site.operation != "pass"):  # which is no wait
        what = _what(event)
        if event.begin > since:
            yield Slice(lane.cta, lane.sm, lane.name, doing, "work", since, event.begin)
        yield Slice(lane.cta, lane.sm, lane.name, f"{event.site.operation} {what}", "wait", event.begin, event.end)
        doing, since = f"{_AFTER.get(event.site.operation, 'after')} {what}", event.end
    if last > since:
        yield Slice(lane.cta, lane.sm, lane.name, doing, "work", since, last)


def _what(event: _Event) -> str:
    """``ab[2]``."""
    port = event.site.port.rpartition("@")[2]
    return port if event.site.operation in ("take", "end", "sync") else f"{port}[{event.stage}]"


def _turns(lane: _Lane, events: list[_Event]) -> Iterable[Slice]:
    """A warpgroup's turns, each from when it was taken until it is passed on."""
    taken: dict[str, float] = {}
    for event in events:
        port = event.site.port
        if event.site.operation == "take":
            taken[port] = event.end
        elif event.site.operation == "pass" and port in taken:
            group = lane.name.partition(" ")[2]
            begin = taken.pop(port)
            yield Slice(lane.cta, lane.sm, f"{port} {group}".strip(), "turn", "turn", begin, event.begin)


def _slots(cta: int, sm: int, waits: dict[str, list[_Event]]) -> Iterable[Slice]:
    """Each slot of each ring: filled from its acquisition until the first reader has waited for it, in use until it can
    be acquired again.  Where several lanes fill a ring together, the first speaks for them."""
    fills: dict[str, dict[int, list[float]]] = {}  # by ring and slot, in order
    reads: dict[str, dict[int, list[list[float]]]] = {}  # the same, of each lane that reads
    for events in waits.values():
        filled = _ends(events, "acquire")
        for ring, slots in filled.items():
            fills.setdefault(ring, slots)
        for ring, slots in _ends(events, "wait").items():
            for stage, times in slots.items():
                reads.setdefault(ring, {}).setdefault(stage, []).append(times)
    for ring, slots in fills.items():
        for stage in sorted(slots):
            yield from _slot(cta, sm, f"{ring}[{stage}]", slots[stage], reads.get(ring, {}).get(stage, []))


def _ends(events: list[_Event], operation: str) -> dict[str, dict[int, list[float]]]:
    """When a lane's waits of one kind were over, by ring and slot."""
    found: dict[str, dict[int, list[float]]] = {}
    for event in events:
        if event.site.operation == operation:
            found.setdefault(event.site.ring, {}).setdefault(event.stage, []).append(event.end)
    return found


def _slot(cta: int, sm: int, lane: str, fills: list[float], reads: list[list[float]]) -> Iterable[Slice]:
    for turn, begin in enumerate(fills):
        seen = [times[turn] for times in reads if turn < len(times)]
        following = fills[turn + 1] if turn + 1 < len(fills) else None
        full = min(seen) if seen else following
        if full is None:
            return
        yield Slice(cta, sm, lane, "filling", "filling", begin, max(begin, full))
        done = following if following is not None else max(seen, default=full)
        if done > full:
            yield Slice(cta, sm, lane, "in use", "in use", full, done)
