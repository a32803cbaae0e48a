"""The text of a protocol: parsing it, and checking its names against the component that states it.

``repeat work { repeat k_tiles+ { ab.wait; ab.release keep 1; } ab.release; }`` becomes the blocks of
:mod:`pipelink.support.protocol`.  The grammar is in ``docs/protocols.md``.  Text comes from objects: its length,
nesting and number of steps are bounded, and nothing of it is ever evaluated by Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from pipelink.support import expr, limits
from pipelink.support.diagnostics import Diagnostic, LinkError, Location, nearest
from pipelink.support.protocol import Action, Block, Callers, Choose, Fence, Rank, Repeat, Step, Unit, Until

_TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*)|(\d+)|([{};.])|(\S))", re.ASCII)
_COUNT = re.compile(r"[^{};]*")
_STAGES = re.compile(r"\b([A-Za-z_]\w*)\s*\.\s*stages\b", re.ASCII)
_JOINED = re.compile(r"\b\d+[A-Za-z_]\w*", re.ASCII)
_STAGES_NAME = "_pl_stages"
_UNITS: dict[str, Unit] = {
    "thread": "thread",
    "threads": "thread",
    "warp": "warp",
    "warps": "warp",
    "warpgroup": "warpgroup",
    "warpgroups": "warpgroup",
}
_KEYWORDS = ("repeat", "until", "choose", "rank", "fence")


class ProtocolError(Exception):
    """What is wrong with a protocol's text, and where: ``column`` counts from 1 over the whole text."""

    def __init__(self, message: str, column: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.column, self.hint = message, column, hint


def parse(text: str, location: Location) -> Block:
    """The steps of a protocol.  Raises LinkError ``bad-protocol`` at ``location``, with a caret under the text."""
    try:
        return parse_text(text)
    except ProtocolError as problem:
        raise LinkError([located(problem, text, location, "protocol")]) from None


def located(problem: ProtocolError, text: str, location: Location, what: str) -> Diagnostic:
    """The diagnostic ``bad-protocol`` of a problem; ``what`` is the protocol, such as ``protocol 'load'``."""
    where = place_in(text, problem.column, location)
    line = text.count("\n", 0, problem.column - 1)
    message = f"{what}, {f'line {line + 1}, ' if line else ''}column {where.column}: {problem.message}"
    return Diagnostic("error", "bad-protocol", message, where, (), problem.hint)


def place_in(text: str, column: int, location: Location) -> Location:
    """A column of a protocol, from 1 over its whole text, as one of the line of the text that it is in; ``location``:
    where the text is declared."""
    begin = text.rfind("\n", 0, column - 1) + 1
    end = text.find("\n", begin)
    shown = re.sub(r"\s", " ", text[begin : end if end >= 0 else len(text)])
    return Location(location.file, location.line, column - begin, shown)


@lru_cache(maxsize=1024)
def parse_text(text: str) -> Block:
    """As :func:`parse`.  Raises ProtocolError."""
    if len(text) > limits.PROTOCOL_TEXT:
        raise ProtocolError(f"it is longer than {limits.PROTOCOL_TEXT} characters", 1)
    return _Parser(text).whole()


@dataclass(frozen=True)
class _Token:
    kind: str  # "name", "number", one of "{};.", "other", or "end"
    text: str
    column: int


class _Parser:
    """Recursive descent over one text; every block is one level of recursion."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._steps = text, 0, 0

    def whole(self) -> Block:
        steps = self._block(0)
        token = self._next()
        if token.kind != "end":
            self._fail(f"unexpected '{token.text}'", token)
        if not steps:
            raise ProtocolError("it is empty; a role that uses nothing needs none", 1)
        return steps

    # --- tokens

    def _peek(self) -> _Token:
        at = self._at
        token = self._next()
        self._at = at
        return token

    def _next(self) -> _Token:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            self._at = len(self._text)
            return _Token("end", "", len(self._text.rstrip()) + 1)
        self._at = match.end()
        index = match.lastindex or 0
        text = match[index]
        kind = ("name", "number", text, "other")[index - 1]
        return _Token(kind, text, match.start(index) + 1)

    def _fail(self, message: str, token: _Token, hint: str | None = None) -> NoReturn:
        raise ProtocolError(message, token.column, hint)

    def _take(self, kind: str, what: str) -> _Token:
        token = self._next()
        if token.kind != kind:
            found = f"'{token.text}'" if token.text else "the end"
            self._fail(f"expected {what}, found {found}", token)
        return token

    def _number(self, what: str, least: int) -> int:
        token = self._take("number", what)
        if len(token.text) > 8 or not least <= int(token.text) <= limits.PROTOCOL_NUMBER:
            self._fail(f"{what} is {least} to {limits.PROTOCOL_NUMBER}, not {token.text[:20]}", token)
        return int(token.text)

    # --- steps

    def _block(self, depth: int) -> Block:
        steps: list[Step] = []
        while (token := self._peek()).kind == "name":
            self._steps += 1
            if self._steps > limits.PROTOCOL_STEPS:
                self._fail(f"it has more than {limits.PROTOCOL_STEPS} steps", token)
            steps.append(self._step(depth))
        return tuple(steps)

    def _braces(self, depth: int) -> Block:
        token = self._take("{", "'{'")
        if depth >= limits.PROTOCOL_NESTING:
            self._fail(f"blocks are nested deeper than {limits.PROTOCOL_NESTING}", token)
        steps = self._block(depth + 1)
        self._take("}", "a step or '}'")
        return steps

    def _step(self, depth: int) -> Step:
        token = self._next()
        if token.text not in _KEYWORDS or self._peek().kind in (".", ";"):
            return self._action(token)
        match token.text:
            case "repeat":
                count, at_least_once = self._count()
                return Repeat(count, self._braces(depth), at_least_once, token.column)
            case "until":
                port = self._take("name", "a port").text
                return Until(port, self._braces(depth), token.column)
            case "rank":
                rank = self._number("a rank", 0)
                return Rank(rank, self._braces(depth), token.column)
            case "choose":
                return self._choose(token, depth)
            case _:
                kind = self._take("name", "'async'")
                if kind.text != "async":
                    self._fail(f"unknown fence '{kind.text}'", kind, "'fence async;' is the one fence")
                self._take(";", "';'")
                return Fence("async", token.column)

    def _count(self) -> tuple[str, bool]:
        match = _COUNT.match(self._text, self._at)
        assert match is not None
        start = self._at + len(match[0]) - len(match[0].lstrip())
        self._at = match.end()
        count = match[0].strip()
        at_least_once = count.endswith("+")
        count = count[:-1].rstrip() if at_least_once else count
        if not count:
            raise ProtocolError("'repeat' needs a count", start + 1)
        if joined := _JOINED.search(count):
            raise ProtocolError(f"'{joined[0]}' is no number and no name", start + joined.start() + 1)
        try:
            expr.parse(_STAGES.sub(rf"\1{_STAGES_NAME}", count))
        except LinkError as problem:
            found = problem.diagnostics[0]
            raise ProtocolError(found.message.replace(_STAGES_NAME, ".stages"), start + 1, found.hint) from None
        return re.sub(r"\s+", " ", _STAGES.sub(r"\1.stages", count)), at_least_once

    def _choose(self, start: _Token, depth: int) -> Choose:
        name = self._next().text if self._peek().kind == "name" else None
        if name is not None and self._peek().kind == ".":
            self._next()
            name = f"{name}.{self._take('name', 'the name of a choice').text}"
        ways = [self._braces(depth)]
        while (token := self._peek()).text == "or":
            self._next()
            if self._peek().kind in (".", ";"):  # a subject of that name
                self._at = token.column - 1
                break
            ways.append(self._braces(depth))
        if len(ways) < 2:
            self._fail("'choose' offers one way only", start, "choose { … } or { … }; an empty block does nothing")
        return Choose(name, tuple(ways), start.column)

    def _action(self, subject: _Token) -> Action:
        verb, keep, by, some = "call", 0, None, True
        if self._peek().kind == ".":
            self._next()
            verb = self._take("name", "a verb").text
        token = self._next()
        if token.text == "keep":
            keep, some = self._number("the number of slots kept", 0), False
            token = self._next()
        if token.text == "by":
            by = self._callers()
            token = self._next()
        if token.kind != ";":
            found = f"'{token.text}'" if token.text else "the end"
            self._fail(f"expected ';' after the action, found {found}", token, nearest(token.text, ("keep", "by")))
        return Action(subject.text, verb, keep, by, subject.column, some)

    def _callers(self) -> Callers:
        count = self._number("the number of callers", 1)
        unit = self._take("name", "threads, warps or warpgroups")
        if unit.text not in _UNITS:
            self._fail(f"'{unit.text}' is not threads, warps or warpgroups", unit, nearest(unit.text, _UNITS))
        return Callers(count, _UNITS[unit.text])


# --- what readers of blocks need


def steps_of(block: Block) -> Iterator[Step]:
    """Every step of a block and of the blocks in it, outermost first."""
    for step in block:
        yield step
        match step:
            case Repeat(body=body) | Until(body=body) | Rank(body=body):
                yield from steps_of(body)
            case Choose(ways=ways):
                for way in ways:
                    yield from steps_of(way)
            case _:
                pass


def actions_of(block: Block) -> Iterator[Action]:
    """Every action of a block, in the order of the text."""
    return (step for step in steps_of(block) if isinstance(step, Action))


def count_names(count: str) -> tuple[str, ...]:
    """What a count depends on, in order: parameters, call ports, and ``port.stages``."""
    return tuple(_shown(name) for name in expr.names(_STAGES.sub(rf"\1{_STAGES_NAME}", count)))


def count_expression(count: str) -> tuple[str, dict[str, str]]:
    """A count as an expression of :mod:`~pipelink.support.expr`, and what each of its names is in the count."""
    text = _STAGES.sub(rf"\1{_STAGES_NAME}", count)
    return text, {name: _shown(name) for name in expr.names(text)}


def count_value(count: str, values: Mapping[str, int]) -> int:
    """The value of a count; ``values`` has its :func:`count_names`.  Raises LinkError ``bad-expression``."""
    inner = {name.replace(".stages", _STAGES_NAME): value for name, value in values.items()}
    return expr.evaluate(_STAGES.sub(rf"\1{_STAGES_NAME}", count), inner)


def _shown(name: str) -> str:
    return name.removesuffix(_STAGES_NAME) + ".stages" if name.endswith(_STAGES_NAME) else name
