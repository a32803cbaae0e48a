"""Part of ``prove``: buffers that threads write and bulk copies read, by what the protocols say.

Threads write through the generic proxy, a bulk copy reads through the async proxy, and goes on reading after it was
issued.  So between a ``write`` and a ``store`` there is a ``fence async``, by whoever wrote before it lets others know,
or by whoever stores after it knows (what another CTA of the cluster wrote, by nobody else); and between a ``store`` and
the next ``write`` there is a ``stored``, for all that lies over the bytes too.  Every way through each protocol of a
component is followed, with what is open on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipelink.analysis.protocol.language import actions_of, place_of, protocol_of
from pipelink.ir.views import Component
from pipelink.model.lifetimes import RoleKey
from pipelink.passes.prove_memory import Region, Regions
from pipelink.support.diagnostics import Diagnostics
from pipelink.support.protocol import Action, Block, Choose, Fence, Rank, Repeat, Until

_MEET = frozenset(("sync", "wait", "take", "await"))  # after which a thread knows what others did
_TELL = frozenset(("sync", "arrive", "pass", "signal", "commit", "release"))  # after which others may
_EVERY = 1 << 20  # threads: all that there are
_Copies = frozenset[tuple[str, int]]  # out of a buffer, issued by so many threads
_MOST_WAYS = 256  # of a protocol that are told apart


@dataclass(frozen=True)
class _Way:
    """What is open on a way: buffers ``written`` since the last fence, ``stored`` without having waited, and those that
    are ``left``, whose newest copies go on, from other parts than the next is written to.  ``fenced``: there was a
    fence since the thread last learned of others."""

    written: frozenset[str] = frozenset()
    stored: _Copies = frozenset()
    left: _Copies = frozenset()
    fenced: bool = False

    @property
    def open(self) -> frozenset[str]:
        """The buffers of which any copy may still read."""
        return frozenset(buffer for buffer, _ in self.stored | self.left)


@dataclass(frozen=True)
class _Over:
    """What lies over a buffer: ``names`` of the same instance, ``others``, and what a ``later`` role of the exclusive
    group has there."""

    names: frozenset[str]
    others: tuple[Region, ...]
    later: tuple[Region, ...]


@dataclass
class _Found:
    """What the protocols of a component leave to others, by buffer: who tells of writes without a fence, stores without
    one since it knows of others' writes, tells while a store of its own reads, tells or ends while any copy does
    (``left``), ends so (``ended``), and writes."""

    told: dict[str, str] = field(default_factory=dict[str, str])
    bare: dict[str, str] = field(default_factory=dict[str, str])
    reading: dict[str, str] = field(default_factory=dict[str, str])
    left: dict[str, str] = field(default_factory=dict[str, str])
    ended: dict[str, str] = field(default_factory=dict[str, str])
    writers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])


def check_proxies(
    name: str, component: Component, regions: Regions, sequences: Mapping[str, tuple[RoleKey, ...]],
    diagnostics: Diagnostics,
) -> None:  # fmt: skip
    """Reports ``missing-fence`` and ``async-read`` of one instance."""
    if not component.smem:
        return
    steps = [step for of in component.protocols for step in actions_of(protocol_of(component, of).body)]
    stored = {step.subject for step in steps if step.verb == "store" and step.subject in component.smem}
    if not stored:
        return
    over = {buffer: _over(name, buffer, regions, sequences) for buffer in stored}
    found = _Found()
    said: set[tuple[str, str, str]] = set()
    for of in component.protocols:
        follow = _Follow(component, of, found, over)
        ways = follow.block(protocol_of(component, of).body, {_Way()})
        if of not in component.roles:  # an answer is called again
            ways = follow.block(protocol_of(component, of).body, {replace(way, fenced=False) for way in ways})
        for buffer in sorted(frozenset[str]().union(*(way.open for way in ways))):
            found.left.setdefault(buffer, of)
            found.ended.setdefault(buffer, of)
        said |= follow.said
    for buffer, role in found.bare.items():
        teller = found.told.get(buffer)
        if teller is not None:
            said.add((role, "missing-fence", _unfenced(buffer, f", which '{teller}' writes,")))
    for buffer, role in found.reading.items():
        if found.writers.get(buffer, set()) - {role}:
            said.add((role, "async-read", _overwritten(buffer, "lets others write")))
    for buffer, role in found.left.items():
        names = [n for n in over[buffer].names if n in component.ports or found.writers.get(n, set()) - {role}]
        for what in [*(f"'{n}'" for n in sorted(names)), *(region.what for region in over[buffer].others)]:
            said.add((role, "async-read", _overwritten(buffer, f"lets others write {what} over")))
    for buffer, role in found.ended.items():
        for region in over[buffer].later:
            said.add((role, "async-read", _overwritten(buffer, f"ends its turn before {region.what} lies over")))
    for of, id_, what in sorted(said):
        hint = "fence async; between the two" if id_ == "missing-fence" else "say 'stored' of it first, and wait there"
        diagnostics.error(id_, f"'@{name}::@{of}' {what}", place_of(component, of), hint=hint)


def _over(name: str, buffer: str, regions: Regions, sequences: Mapping[str, tuple[RoleKey, ...]]) -> _Over:
    own = next(region for region in regions.smem if region.buffer.key == f"{name}::{buffer}")
    others = [
        region
        for region in regions.smem
        if region.buffer.key != own.buffer.key and region.begin < own.end and own.begin < region.end
    ]
    names = frozenset(
        region.buffer.key.removeprefix(f"{name}::").partition("#")[0]
        for region in others
        if region.buffer.key.startswith(f"{name}::") and not region.scope.excludes(own.scope)
    )
    apart = [region for region in others if region.scope.excludes(own.scope)]
    beside = [r for r in others if r not in apart and not r.buffer.key.startswith(f"{name}::")]
    turns = sequences.get(own.scope.group or "", ())
    behind = turns[turns.index(own.scope.alternative) + 1 :] if own.scope.alternative in turns else ()
    return _Over(names, tuple(beside), tuple(region for region in apart if region.scope.alternative in behind))


def _unfenced(buffer: str, who: str) -> str:
    return f"stores '{buffer}'{who} without a fence.proxy.async between on every way"


def _overwritten(buffer: str, does: str) -> str:
    return f"{does} '{buffer}' while a bulk copy of its own may still read it"


def _surely(step: Repeat | Until) -> bool:
    """Whether a loop goes round at least once."""
    if isinstance(step, Until) or step.count is None or step.at_least_once:
        return isinstance(step, Repeat) and step.at_least_once
    return step.count.strip().isdigit() and int(step.count) > 0


class _Follow:
    """All ways through the protocol ``of`` one role or answer."""

    def __init__(self, component: Component, of: str, found: _Found, over: Mapping[str, _Over]) -> None:
        self.component, self.of, self.found, self.over = component, of, found, over
        self.said: set[tuple[str, str, str]] = set()

    def block(self, block: Block, ways: set[_Way]) -> set[_Way]:
        """The ways after ``block``."""
        for step in block:
            match step:
                case Fence():
                    ways = {_Way(frozenset(), way.stored, way.left, True) for way in ways}
                case Action():
                    ways = {self.action(step, way) for way in ways}
                case Repeat() | Until():
                    known, new = set[_Way](), self.block(step.body, ways) if _surely(step) else set(ways)
                    while new - known and len(known) < _MOST_WAYS:
                        known |= new
                        new = self.block(step.body, new)
                    ways = known
                case Rank(body=body):
                    ways = ways | self.block(body, ways)
                case Choose(ways=bodies):
                    ways = set[_Way]().union(*(self.block(body, ways) for body in bodies))
        return ways

    def action(self, step: Action, way: _Way) -> _Way:
        verb, name = step.verb, step.subject
        if name in self.component.smem:
            return self.touch(step, way)
        if verb in _TELL:
            for buffer in way.written:
                self.found.told.setdefault(buffer, self.of)
            for buffer, _ in way.stored:
                self.found.reading.setdefault(buffer, self.of)
            for buffer in way.open:
                self.found.left.setdefault(buffer, self.of)
        if verb == "acquire":
            self.cover(name, way)
        return replace(way, fenced=False) if verb in _MEET else way

    def cover(self, name: str, way: _Way) -> None:
        """Something is written that may lie over what is still read."""
        for buffer in way.open:
            if name in self.over[buffer].names:
                self.said.add((self.of, "async-read", _overwritten(buffer, f"writes '{name}' over")))

    def threads(self, step: Action) -> int:
        """How many threads take a step, counted from the first."""
        role = self.component.roles.get(self.of)
        every = role.thread_count if role is not None else _EVERY
        return every if step.by is None else min(step.by.threads, every)

    def touch(self, step: Action, way: _Way) -> _Way:
        name = step.subject
        match step.verb:
            case "write":
                self.cover(name, way)
                self.found.writers.setdefault(name, set()).add(self.of)
                if any(buffer == name for buffer, _ in way.stored):
                    self.said.add((self.of, "async-read", _overwritten(name, "writes")))
                return replace(way, written=way.written | {name})
            case "peer_write":  # into other CTAs' memory, which no fence of this CTA is about: it is theirs to fence
                self.cover(name, way)
                self.found.told.setdefault(name, self.of)
                if any(buffer == name for buffer, _ in way.stored):
                    self.said.add((self.of, "async-read", _overwritten(name, "writes")))
                return way
            case "store":
                if name in way.written:
                    self.said.add((self.of, "missing-fence", _unfenced(name, "")))
                elif not way.fenced:
                    self.found.bare.setdefault(name, self.of)
                return replace(way, stored=way.stored | {(name, self.threads(step))})
            case "stored":  # a thread waits for the copies that it has issued itself
                done = {
                    (name, of) for buffer, of in way.stored | way.left if buffer == name and of <= self.threads(step)
                }
                left = way.left | (way.stored & done) if step.keep else way.left - done
                return replace(way, stored=way.stored - done, left=left)
            case _:
                return way
