"""Part of ``prove``: buffers that threads write and bulk copies read, by what the protocols say.

Threads write through the generic proxy, a bulk copy reads through the async proxy, and goes on reading after it was
issued.  So between a ``write`` and a ``store`` there is a ``fence async``, by whoever wrote before it lets others know,
or by whoever stores after it knows; and between a ``store`` and the next ``write`` there is a ``stored``.  Every way
through each protocol of a component is followed, with what is open on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pipelink.analysis.protocol.language import place_of, protocol_of
from pipelink.ir.views import Component
from pipelink.support.diagnostics import Diagnostics
from pipelink.support.protocol import Action, Block, Choose, Fence, Rank, Repeat, Until

_MEET = frozenset(("sync", "wait", "take", "await"))  # after which a thread knows what others did
_TELL = frozenset(("sync", "arrive", "pass", "signal", "commit", "release"))  # after which others may
_MOST_WAYS = 256  # of a protocol that are told apart


@dataclass(frozen=True)
class _Way:
    """What is open on a way: buffers ``written`` since the last fence, and ``stored`` without having waited.
    ``fenced``: there was a fence since the thread last learned of others."""

    written: frozenset[str] = frozenset()
    stored: frozenset[str] = frozenset()
    fenced: bool = False


@dataclass
class _Found:
    """What the protocols of a component leave to others, by buffer: who tells of writes without a fence, stores without
    one since it knows of others' writes, tells while a store of its own reads, and writes."""

    told: dict[str, str] = field(default_factory=dict[str, str])
    bare: dict[str, str] = field(default_factory=dict[str, str])
    reading: dict[str, str] = field(default_factory=dict[str, str])
    writers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])


def check_proxies(name: str, component: Component, diagnostics: Diagnostics) -> None:
    """Reports ``missing-fence`` and ``async-read`` of one instance."""
    if not component.smem:
        return
    found = _Found()
    said: set[tuple[str, str, str]] = set()
    for of in component.protocols:
        follow = _Follow(component, of, found)
        ways = follow.block(protocol_of(component, of).body, {_Way()})
        if of not in component.roles:  # an answer is called again
            follow.block(protocol_of(component, of).body, {replace(way, fenced=False) for way in ways})
        said |= follow.said
    for buffer, role in found.bare.items():
        teller = found.told.get(buffer)
        if teller is not None:
            said.add((role, "missing-fence", _unfenced(buffer, f", which '{teller}' writes,")))
    for buffer, role in found.reading.items():
        if found.writers.get(buffer, set()) - {role}:
            said.add((role, "async-read", _overwritten(buffer, "lets others write")))
    for of, id_, what in sorted(said):
        hint = "fence async; between the two" if id_ == "missing-fence" else "say 'stored' of it first, and wait there"
        diagnostics.error(id_, f"'@{name}::@{of}' {what}", place_of(component, of), hint=hint)


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

    def __init__(self, component: Component, of: str, found: _Found) -> None:
        self.component, self.of, self.found = component, of, found
        self.said: set[tuple[str, str, str]] = set()

    def block(self, block: Block, ways: set[_Way]) -> set[_Way]:
        """The ways after ``block``."""
        for step in block:
            match step:
                case Fence():
                    ways = {_Way(frozenset(), way.stored, True) for way in ways}
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
            return self.touch(verb, name, way)
        if verb in _TELL:
            for buffer in way.written:
                self.found.told.setdefault(buffer, self.of)
            for buffer in way.stored:
                self.found.reading.setdefault(buffer, self.of)
        return replace(way, fenced=False) if verb in _MEET else way

    def touch(self, verb: str, name: str, way: _Way) -> _Way:
        match verb:
            case "write":
                self.found.writers.setdefault(name, set()).add(self.of)
                if name in way.stored:
                    self.said.add((self.of, "async-read", _overwritten(name, "writes")))
                return replace(way, written=way.written | {name})
            case "store":
                if name in way.written:
                    self.said.add((self.of, "missing-fence", _unfenced(name, "")))
                elif not way.fenced:
                    self.found.bare.setdefault(name, self.of)
                return replace(way, stored=way.stored | {name})
            case "stored":
                return replace(way, stored=way.stored - {name})
            case _:
                return way
