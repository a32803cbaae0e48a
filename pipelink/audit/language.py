"""The sequences of steps that a protocol allows one thread of a role, as an automaton that reads them one by one.

Input: a protocol's blocks and a thread's number; output: a :class:`Language`.  A state is a place in the protocol with
the slots that are held of each port and the bytes that have been copied into the slot that is filled.  A loop by a
count that is known when the protocol is written goes round so often; every other goes round any number of times, or at
least once where the text says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pipelink.audit.claims import FENCE, TOUCHING
from pipelink.support.diagnostics import LinkError
from pipelink.support.protocol import Action, Block, Choose, Fence, Rank, Repeat, Until
from pipelink.support.protocol_text import actions_of, count_names, count_value

#: The verb of an access to a slot of a port, which is no step: a slot of it has to be held.
ACCESS: Final = "access"
TAKES: Final = frozenset(("acquire", "wait"))
_GIVES: Final = frozenset(("release", "commit", "copy"))
MOVES: Final = TAKES | _GIVES
_MOST_HELD: Final = 64  # slots of a port
_UNROLLED: Final = 256  # rounds of a loop
_MOST_CODE: Final = 4000


class UndecidedError(Exception):
    """Why a protocol and code cannot be compared, as a clause."""


@dataclass(frozen=True)
class Event:
    """What an instruction does in the words of protocols.  Of ``copy``: the tile of the slot and its bytes, None where
    they are not known.  Of asynchronous accesses see ``flight``: ``part`` is how many groups a wait leaves,
    ``source`` the ports and buffers that are read; of a write, how it is one.  ``place``: of a copy the byte of the
    tile where it begins, of a wait for the mbarrier ``part`` the parity."""

    subject: str
    verb: str
    part: int = 0
    bytes: int | None = None
    source: tuple[str, ...] | None = None
    place: int | None = None

    @property
    def again(self) -> bool:
        """Whether the same event right after it says nothing new."""
        return self.verb in TOUCHING or self.verb in ("issue", ACCESS)

    def __str__(self) -> str:
        if self.verb == ACCESS:
            return f"a touch of {self.subject}"
        return self.subject if self.verb == "call" else f"{self.subject} {self.verb}" if self.subject == FENCE else (
            f"{self.subject}.{self.verb}"
        )  # fmt: skip


@dataclass(frozen=True)
class Subjects:
    """What the steps of a protocol are about: ``calls`` are call ports, ``signals`` ports whose steps are not followed,
    ``ending`` outputs that end, ``tiles`` the bytes of a slot's tiles by port, ``mbarriers`` those of the component's
    own, ``buffers`` its shared and tensor memory.  ``stores``: the protocol tells bulk copies out of buffers from other
    reads."""

    calls: frozenset[str]
    signals: frozenset[str]
    ending: frozenset[str]
    tiles: Mapping[str, tuple[int | None, ...]]
    mbarriers: frozenset[str]
    buffers: frozenset[str]
    stores: bool = False


@dataclass(frozen=True)
class State:
    """A place in the automaton.  ``held`` are slots by port and side, ``filled`` by port the bytes of each tile of the
    slot that is being filled."""

    at: int
    held: tuple[tuple[str, int], ...] = ()
    filled: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def count(self, key: str) -> int:
        return dict(self.held).get(key, 0)

    def holding(self, key: str, count: int, at: int) -> State:
        if count > _MOST_HELD:
            raise UndecidedError(f"it holds more than {_MOST_HELD} slots")
        held = {**dict(self.held), key: count}
        return State(at, tuple(sorted((k, n) for k, n in held.items() if n)), self.filled)

    def filling(self, port: str, filled: tuple[int, ...] | None, at: int) -> State:
        found = {**dict(self.filled), port: filled}
        return State(at, self.held, tuple(sorted((k, f) for k, f in found.items() if f is not None)))


States = frozenset[State]


@dataclass
class _Step:
    """One instruction of the automaton: what it does, its subject, and where it goes on."""

    kind: str
    subject: str = ""
    verb: str = ""
    keep: int = 0
    ways: tuple[int, ...] = ()
    touches: frozenset[tuple[str, str]] = field(default_factory=frozenset[tuple[str, str]])


def side(verb: str) -> str:
    """Whether a step is at the filling or at the reading end of its port."""
    return "out" if verb in ("acquire", "commit", "copy", "end") else "in"


class Language:
    """What ``thread`` may do by a protocol.  Raises UndecidedError where that cannot be said."""

    def __init__(self, body: Block, subjects: Subjects, thread: int) -> None:
        self._code: list[_Step] = []
        self._subjects, self._thread = subjects, thread
        self._untils: list[tuple[str, list[_Step]]] = []
        self._taken: set[str] = set()  # ports of which this thread takes slots
        self._block(body)
        self._emit("end")
        self._closed: dict[State, States] = {}
        self._advanced: dict[tuple[States, Event], States] = {}
        self.begin: States = self._close(State(0))

    def _emit(self, kind: str, subject: str = "", verb: str = "", keep: int = 0) -> _Step:
        if len(self._code) > _MOST_CODE:
            raise UndecidedError("its protocol is too long")
        step = _Step(kind, subject, verb, keep, (len(self._code) + 1,))
        self._code.append(step)
        return step

    # -- from a protocol

    def _block(self, block: Block) -> None:
        touching: _Step | None = None
        for step in block:
            match step:
                case Action(verb=verb) if verb in TOUCHING:
                    if step.subject in self._subjects.buffers:
                        touching = touching or self._emit("touch")
                        touching.touches |= {(step.subject, verb)}
                    continue
                case _:
                    touching = None
            match step:
                case Action():
                    self._action(step)
                case Fence():
                    self._emit("event", FENCE, "async")
                case Repeat():
                    self._repeat(step)
                case Until(port=port, body=body):
                    leave: list[_Step] = []
                    self._untils.append((port, leave))
                    head = len(self._code)
                    self._block(body)
                    self._emit("jump").ways = (head,)
                    self._untils.pop()
                    for one in leave:
                        one.ways = (len(self._code),)
                case Choose(ways=ways):
                    self._choose(ways)
                case Rank(body=body):
                    self._choose((body, ()))

    def _choose(self, ways: tuple[Block, ...]) -> None:
        split, leaves, begins = self._emit("split"), list[_Step](), list[int]()
        for way in ways:
            begins.append(len(self._code))
            self._block(way)
            leaves.append(self._emit("jump"))
        split.ways = tuple(begins)
        for leave in leaves:
            leave.ways = (len(self._code),)

    def _repeat(self, step: Repeat) -> None:
        names = count_names(step.count) if step.count is not None else ()
        if step.count is not None and not names:
            try:
                rounds = max(count_value(step.count, {}), 0)
            except LinkError:
                rounds = _UNROLLED + 1
            if rounds <= _UNROLLED:
                for _ in range(rounds):
                    self._block(step.body)
                return
        if step.at_least_once:
            self._block(step.body)
        head = len(self._code)
        split = self._emit("split") if step.count is not None or self._ends_itself(step.body) else None
        self._block(step.body)
        self._emit("jump").ways = (head,)
        if split is not None:
            split.ways = (*split.ways, len(self._code))

    def _ends_itself(self, body: Block) -> bool:
        """Whether a loop that by default goes round as often as others want may end: others have no say in it."""
        return all(action.subject in self._subjects.calls | self._subjects.ending for action in actions_of(body))

    def _action(self, action: Action) -> None:
        subject, verb = action.subject, action.verb
        if subject in self._subjects.signals:
            return
        mine = action.by is None or self._thread < action.by.threads
        if not mine:
            if verb in _GIVES:
                self._emit("drop", subject, verb, action.keep)
            return
        ring = subject in self._subjects.tiles
        if verb in _GIVES:
            if action.some:
                self._emit("need", subject, verb)
            self._emit("copy" if verb == "copy" else "give", subject, verb, action.keep)
        elif ring and verb in TAKES:
            self._emit("take", subject, verb)
            self._taken.add(subject)
            for port, leave in reversed(self._untils):
                if port == subject and verb == "wait":  # or it finds the end mark, which `ended` gives back
                    split = self._emit("split")
                    self._emit("event", subject, "ended")
                    self._emit("give", subject, "release", -1)
                    leave.append(self._emit("jump"))
                    split.ways = (*split.ways, len(self._code))
                    break
        elif subject not in self._subjects.buffers or verb not in TOUCHING:
            self._emit("event", subject, verb)

    # -- reading

    def advance(self, states: States, event: Event) -> States:
        """Where ``event`` leads; empty where the protocol does not allow it."""
        if event.verb == ACCESS:
            return self.holding(states, event.subject)
        asked = states, event
        if asked not in self._advanced:
            after = (one for state in states for one in self._after(state, event))
            self._advanced[asked] = frozenset[State]().union(*map(self._close, after))
        return self._advanced[asked]

    def moves(self, event: Event) -> bool:
        """Whether a step takes a slot of a ring, fills it or gives it back."""
        return event.subject in self._subjects.tiles and event.verb in MOVES

    def waits(self, event: Event) -> bool:
        """Whether an event is at an mbarrier."""
        return event.subject in self._subjects.mbarriers

    def holding(self, states: States, port: str) -> States:
        """The states in which the thread holds a slot of ``port``; all where it takes none, and another does for it."""
        if port not in self._taken:
            return states
        return frozenset(state for state in states if state.count(f"{port} in") or state.count(f"{port} out"))

    def keeps(self, states: States, event: Event) -> int:
        """The slots that a step which gives one back leaves, at least: the newest."""
        key = f"{event.subject} {side(event.verb)}"
        steps = ((self._code[state.at], state) for state in states)
        return min(
            (
                max(step.keep, 0) for step, state in steps
                if (step.subject, step.verb) == (event.subject, event.verb) and state.count(key) > step.keep
            ),
            default=0,
        )  # fmt: skip

    def ends(self, states: States) -> bool:
        """Whether the protocol may be over."""
        return any(self._code[state.at].kind == "end" for state in states)

    def expected(self, states: States) -> list[str]:
        """The steps that may come, as a protocol spells them."""
        found: set[str] = set()
        for state in states:
            step = self._code[state.at]
            if step.kind in ("event", "take", "give", "copy") and step.verb != "ended":
                found.add(str(Event(step.subject, step.verb)))
        return sorted(found)

    def _after(self, state: State, event: Event) -> list[State]:
        """Where an event leads from a closed state, before what follows without one."""
        step = self._code[state.at]
        subject, verb, go = event.subject, event.verb, step.ways[0]
        found: list[State] = []
        if verb == "ended" or subject == FENCE:  # a question is no step, and one fence more is no harm
            found.append(state)
        elif subject in self._subjects.mbarriers and verb == "wait" and not state.count(f"{subject} waited"):
            found.append(state)  # for the phase before the first, which is over at once
        told = (subject, "read") if verb == "store" and not self._subjects.stores else (subject, verb)
        if step.kind == "touch" and told in step.touches:
            found.append(state)
        elif (step.subject, step.verb) != (subject, verb):
            pass
        elif step.kind == "event":
            waited = subject in self._subjects.mbarriers and verb == "wait"
            found.append(state.holding(f"{subject} waited", 1, go) if waited else _moved(state, go))
        elif step.kind == "take":
            key = f"{subject} {side(verb)}"
            found.append(state.holding(key, state.count(key) + 1, go))
        elif step.kind == "give":
            key = f"{subject} {side(verb)}"
            if step.keep < 0:  # the slot of the end mark
                found.append(state.holding(key, state.count(key) - 1, go))
            elif state.count(key) > step.keep:
                found.append(state.holding(key, state.count(key) - 1, state.at))
        elif step.kind == "copy":
            found += self._copied(state, event)
        return found

    def _copied(self, state: State, event: Event) -> list[State]:
        """A copy into the slot that is being filled."""
        tiles = self._subjects.tiles[event.subject]
        if event.bytes is None or None in tiles or event.part >= len(tiles):
            raise UndecidedError(f"how many bytes a copy into '{event.subject}' brings is not known")
        key = f"{event.subject} out"
        if not state.count(key):
            return []
        filled = list(dict(state.filled).get(event.subject, (0,) * len(tiles)))
        filled[event.part] += event.bytes
        if filled[event.part] > (tiles[event.part] or 0):
            return []
        if tuple(filled) == tiles:
            return [state.holding(key, state.count(key) - 1, state.at).filling(event.subject, None, state.at)]
        return [state.filling(event.subject, tuple(filled), state.at)]

    def _close(self, state: State) -> States:
        """The states that read an event, from a state without one."""
        if state not in self._closed:
            found: set[State] = set()
            open_, seen = [state], set[State]()
            while open_:
                current = open_.pop()
                if current in seen:
                    continue
                seen.add(current)
                step = self._code[current.at]
                if step.kind not in ("split", "jump", "need", "drop"):
                    found.add(current)
                open_ += self._silent(current, step)
            self._closed[state] = frozenset(found)
        return self._closed[state]

    def _silent(self, state: State, step: _Step) -> list[State]:
        """Where a state goes by itself."""
        key = f"{step.subject} {side(step.verb)}"
        match step.kind:
            case "split" | "jump":
                return [_moved(state, way) for way in step.ways]
            case "touch":
                return [_moved(state, step.ways[0])]
            case "need":
                return [_moved(state, step.ways[0])] if state.count(key) else []
            case "drop":
                return [state.holding(key, min(state.count(key), step.keep), step.ways[0])]
            case "give" | "copy" if step.keep >= 0:
                done = state.count(key) <= step.keep and step.subject not in dict(state.filled)
                return [_moved(state, step.ways[0])] if done else []
            case _:
                return []


def _moved(state: State, at: int) -> State:
    return State(at, state.held, state.filled)
