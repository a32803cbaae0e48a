"""Whether a role that begins before the kernel in front has ended waits for that kernel, on every way through its code.

The ways are walked as beside a protocol (``walk``), of one step: that the wait is made, at least once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pipelink.audit.claims import threads_of
from pipelink.audit.code import Reading
from pipelink.audit.graph import Graph
from pipelink.audit.language import Event, Language, Subjects, UndecidedError
from pipelink.audit.report import Problem, Row
from pipelink.audit.steps import Reader
from pipelink.audit.walk import Finding, Walk
from pipelink.backend.ptx import Instruction
from pipelink.support.protocol import Protocol
from pipelink.support.protocol_text import parse_text

_WAIT: Final = Event("front", "wait")
_WAITS: Final = parse_text("repeat n+ { front.wait; }")
_NOTHING: Final = Subjects(frozenset(), frozenset(), frozenset(), {}, frozenset(), frozenset())
_HINT: Final = "call pl::wait_for_previous() before it reads what that may write; or leave out pl::early"


def rows(reading: Reading) -> Iterator[Row]:
    """The row of an early role."""
    role = reading.claims.role(reading.code)
    if role is None or not role.values.get("early"):
        return
    begins = f"{reading.what} begins before the kernel in front has ended"
    found, problems = "waits", list[Problem]()
    if not any(_classify("", instruction) for _, instruction in reading.instructions):
        found = "never waits"
        problems.append(reading.problem("error", "missing-wait", f"{begins}, and never waits for it", hint=_HINT))
    else:
        why: str | None = None
        try:
            way = _way_without(reading, threads_of(role))
            if way is not None and way.certain:
                found = "waits on some ways"
                message = f"{begins}, and there is a way through its code on which it does not wait for it"
                problems.append(reading.problem("error", "missing-wait", message, hint=_HINT))
            elif way is not None:
                why = "its code has one without a wait, which it may never go"
        except UndecidedError as undecided:
            why = str(undecided)
        if why is not None:
            found = "waits, perhaps not always"
            message = f"that {reading.what} waits for the kernel in front on every way is not proved: {why}"
            problems.append(reading.problem("warning", "unproven", message))
    yield reading.row("kernel in front", "waits itself", found, problems)


def _classify(_function: str, instruction: Instruction) -> Event | None:
    return _WAIT if instruction.parts[:2] == ("griddepcontrol", "wait") else None


def _way_without(reading: Reading, threads: int) -> Finding | None:
    """A way through the code without a wait; None where there is none.  Raises UndecidedError."""
    reader = Reader(reading, Protocol(()))
    graph = Graph(reading.functions, _classify, lambda _: (), reader.parts)
    for block in graph.blocks:
        block.quiet = True  # each thread waits for itself
    languages = [((1 << threads) - 1, Language(_WAITS, _NOTHING, 0))]
    return Walk(graph, threads, languages, reader.load, reader.refine, {}, {}, {}).run()
