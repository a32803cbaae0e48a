"""Parses and runs pass pipelines such as ``check,place{objective=min-smem},fuse``.

Grammar: ``item ("," item)*`` with ``item = name ["{" option ((" " | ",") option)* "}"]`` and ``option = key "=" value``
or ``key`` alone for a boolean; a value is a word or a quoted string, several values of one option are joined by ``:``.
Names are passes or pipelines of the tables in :mod:`pipelink.passes`.

Each pass starts from verified IR and is followed by both verifiers.  What a pass reports is the user's error; an
exception, or invalid IR after it, is ours: ``internal-error``, with a reproducer where an instrument writes one.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import shlex
import tempfile
import time
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from pipelink.analysis.placement.validate import validate_placements
from pipelink.ir import verify as verify_ir
from pipelink.passes import PASSES, PIPELINES, Pass, PassInfo
from pipelink.support import limits
from pipelink.support.diagnostics import Diagnostics, LinkError, Location, Note, error, suggest
from pipelink.support.mlir import MLIRError, ir
from pipelink.support.outputs import encoded

_TOKEN = re.compile(r"\s*(?:([A-Za-z_][\w.-]*)|([{},=])|(\"[^\"]*\")|([^\s{},=\"]+))")


@dataclass(frozen=True)
class Option:
    """An option of a pass, from its dataclass field."""

    name: str
    type: Any
    default: Any
    help: str

    @property
    def choices(self) -> tuple[str, ...]:
        return typing.get_args(self.type) if typing.get_origin(self.type) is Literal else ()


def options(cls: type[Any]) -> dict[str, Option]:
    """The options of a pass class, by their names in pipelines (with dashes)."""
    hints = typing.get_type_hints(cls)
    found: dict[str, Option] = {}
    for item in dataclasses.fields(cls):
        if not item.init or item.metadata.get("hidden"):
            continue
        default = item.default if item.default_factory is dataclasses.MISSING else item.default_factory()
        name = item.name.replace("_", "-")
        found[name] = Option(item.name, hints[item.name], default, item.metadata.get("help", ""))
    return found


class _Parser:
    """Recursive descent over the tokens of one pipeline text."""

    def __init__(self, text: str, passes: Sequence[PassInfo], pipelines: Mapping[str, Sequence[str]]) -> None:
        self.text = text
        self.passes = {info.name: info for info in passes}
        self.pipelines = pipelines
        self.position = 0

    def fail(self, message: str, at: int, known: Iterable[str] = (), name: str = "") -> LinkError:
        where = Location("--pipeline", 1, at + 1, self.text)
        return error("bad-pipeline", message, where, hint=suggest(name, known) if name else None)

    def peek(self) -> tuple[str, int]:
        """The next token and its place; an empty token at the end."""
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            rest = self.text[self.position :]
            at = self.position + len(rest) - len(rest.lstrip())
            if not rest.strip():
                return "", len(self.text.rstrip())
            raise self.fail("a quoted value is not closed", at)
        return match.group().strip(), match.end() - len(match.group().lstrip())

    def next(self) -> tuple[str, int]:
        token = self.peek()
        match = _TOKEN.match(self.text, self.position)
        self.position = match.end() if match else len(self.text)
        return token

    def parse(self) -> list[Pass]:
        if len(self.text) > limits.PIPELINE_TEXT:
            raise error("bad-pipeline", f"the pipeline is longer than {limits.PIPELINE_TEXT} characters")
        found: list[Pass] = []
        while True:
            found.extend(self.item())
            token, at = self.next()
            if not token:
                return found
            if token != ",":
                raise self.fail(f"expected ',' between passes, not '{token}'", at)

    def item(self) -> list[Pass]:
        name, at = self.next()
        known = [*self.passes, *self.pipelines]
        if not name:
            raise self.fail("expected the name of a pass", at)
        if name not in known:
            raise self.fail(f"unknown pass '{name}'", at, known, name)
        if name in self.pipelines:
            if self.peek()[0] == "{":
                raise self.fail(f"'{name}' is a pipeline and has no options", self.peek()[1])
            return [self.load(part, at)() for part in self.pipelines[name]]
        cls = self.load(name, at)
        values = self.options(name, options(cls)) if self.peek()[0] == "{" else {}
        try:
            return [cls(**values)]
        except ValueError as problem:  # a pass may refuse a combination of options
            raise self.fail(f"'{name}': {problem}", at) from problem

    def load(self, name: str, at: int) -> type[Any]:
        try:
            return self.passes[name].load()
        except ImportError as problem:
            raise self.fail(f"pass '{name}' cannot be loaded: {problem}", at) from problem

    def options(self, owner: str, known: dict[str, Option]) -> dict[str, Any]:
        opened = self.next()[1]
        values: dict[str, Any] = {}
        while True:
            token, at = self.next()
            if token == "}":
                return values
            if token == ",":
                continue
            if not token:
                raise self.fail("'{' is not closed", opened)
            option = known.get(token)
            if option is None:
                raise self.fail(f"pass '{owner}' has no option '{token}'", at, known, token)
            text, where = "true", at
            if self.peek()[0] == "=":
                self.next()
                text, where = self.value()
            try:
                values[option.name] = convert(text, option.type)
            except ValueError as problem:
                raise self.fail(f"option '{token}' of '{owner}': {problem}", where) from problem

    def value(self) -> tuple[str, int]:
        token, at = self.next()
        if token in ("", "{", "}", ",", "="):
            raise self.fail("expected a value", at)
        if token.startswith('"'):
            return token[1:-1], at
        # a value such as 13.0:a is several tokens without a space between them
        end = re.compile(r"[^\s{},=\"]*").match(self.text, self.position)
        if end is not None:
            self.position = end.end()
            token += end.group()
        return token, at


def convert(text: str, kind: Any) -> Any:
    """The value of an option's text for its annotated type.  Raises ValueError."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        if text not in arguments:
            raise ValueError(f"expected one of {', '.join(map(str, arguments))}, not '{text}'")
        return text
    if origin in (typing.Union, types.UnionType):
        kinds = [a for a in arguments if a is not type(None)]
        return convert(text, kinds[0])
    if origin in (tuple, list):
        return tuple(convert(part, arguments[0]) for part in text.split(":") if part)
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError(f"expected true or false, not '{text}'")
        return text == "true"
    if kind in (int, float):
        try:
            number = kind(text) if len(text) <= 40 else math.nan
            if math.isfinite(number):
                return number
            raise ValueError
        except ValueError:
            raise ValueError(f"expected {'an integer' if kind is int else 'a number'}, not '{text[:40]}'") from None
    return text


def parse_pipeline(
    text: str, *, passes: Sequence[PassInfo] = PASSES, pipelines: Mapping[str, Sequence[str]] = PIPELINES
) -> list[Pass]:
    """The passes of a pipeline text.  Raises LinkError ``bad-pipeline`` with the place in the text."""
    return _Parser(text, passes, pipelines).parse()


def pass_name(item: Pass, passes: Sequence[PassInfo] = PASSES) -> str:
    """The name of a pass in pipelines; its class name if it is in no table."""
    path = f"{type(item).__module__}:{type(item).__name__}"
    return next((info.name for info in passes if info.path == path), type(item).__name__)


def spell(item: Pass) -> str:
    """A pass as pipeline text, with the options that are not at their defaults."""
    given: list[str] = []
    for name, option in options(type(item)).items():
        value = getattr(item, option.name)
        if value == option.default:
            continue
        text = ":".join(map(str, cast("tuple[object, ...]", value))) if isinstance(value, tuple) else str(value)
        text = text.lower() if isinstance(value, bool) else text
        given.append(f"{name}={text}" if re.fullmatch(r"[\w.:-]+", text) else f'{name}="{text}"')
    return pass_name(item) + (f"{{{' '.join(given)}}}" if given else "")


class Instrument:
    """Watches a run; every method may be left out."""

    def before(self, name: str, module: ir.Operation) -> None:
        """Before a pass."""

    def after(self, name: str, module: ir.Operation, seconds: float) -> None:
        """After a pass that succeeded, before the verifiers."""

    def failed(self, spelling: str, problem: Exception) -> str | None:
        """After an internal error in the pass spelled so in a pipeline; a returned text becomes a note."""
        return None


@dataclass
class PrintAfter(Instrument):
    """Prints the module after the chosen passes, or after each (``names=None``)."""

    write: Callable[[str], object]
    names: frozenset[str] | None = None

    def after(self, name: str, module: ir.Operation, seconds: float) -> None:
        if self.names is None or name in self.names:
            self.write(f"// IR after {name}\n{module}\n")


@dataclass
class Timing(Instrument):
    """Collects (pass, seconds)."""

    times: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def after(self, name: str, module: ir.Operation, seconds: float) -> None:
        self.times.append((name, seconds))

    def render(self) -> str:
        """One line a pass, in milliseconds, and the sum."""
        rows = [*self.times, ("total", sum(seconds for _, seconds in self.times))]
        return "".join(f"{seconds * 1e3:10.2f} ms  {name}\n" for name, seconds in rows)


@dataclass
class Reproducer(Instrument):
    """Keeps the module before each pass and writes it to a new file, for its owner alone, when the pass fails
    internally."""

    kept: Any = None

    def before(self, name: str, module: ir.Operation) -> None:
        self.kept = module.clone()

    def failed(self, spelling: str, problem: Exception) -> str | None:
        if self.kept is None:
            return None
        command = f"pl-opt --pipeline={shlex.quote(spelling)}"
        try:
            descriptor, path = tempfile.mkstemp(prefix="pl-opt-", suffix=".mlir")
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(encoded(f"// {command} {Path(path).name}\n{self.kept}\n"))
        except (OSError, MLIRError):
            return None
        return f"reproduce with: {command} {path}"


def run_pipeline(
    passes: Sequence[Pass],
    module: ir.Operation | ir.Module,
    *,
    instruments: Sequence[Instrument] = (),
    verify: bool = True,
    diagnostics: Diagnostics | None = None,
) -> Diagnostics:
    """Run passes over an outer module, in place.

    Returns the warnings and remarks (in ``diagnostics`` if one is given).  Raises LinkError: what a pass reported, or
    ``internal-error`` if a pass raised something else or left invalid IR.
    """
    op = module.operation
    collected = diagnostics if diagnostics is not None else Diagnostics()
    if verify:
        validate_placements(verify_ir(op))
    for item in passes:
        name = pass_name(item)
        for instrument in instruments:
            instrument.before(name, op)
        start = time.perf_counter()
        try:
            item.apply(op, collected)
        except (LinkError, MemoryError):
            raise
        except Exception as problem:
            raise _internal(item, _describe(problem), problem, instruments) from problem
        seconds = time.perf_counter() - start
        collected.raise_if_errors()
        for instrument in instruments:
            instrument.after(name, op, seconds)
        if verify and not getattr(item, "only_reads", False):
            try:
                verify_ir(op)
                op.verify()
            except (LinkError, MLIRError) as problem:
                message = f"it left invalid IR: {_describe(problem)}"
                raise _internal(item, message, problem, instruments) from problem
    return collected


def _describe(problem: Exception) -> str:
    text = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {text[0][:300] if text else ''}".removeprefix("LinkError: ")


def _internal(item: Pass, message: str, problem: Exception, instruments: Sequence[Instrument]) -> LinkError:
    spelling = spell(item)
    notes = [Note(note) for instrument in instruments if (note := instrument.failed(spelling, problem))]
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None:
        code = trace.tb_frame.f_code
        notes.insert(0, Note(f"raised in {code.co_qualname} ({Path(code.co_filename).name}:{trace.tb_lineno})"))
    return error("internal-error", f"pass '{pass_name(item)}' failed: {message}", notes=notes)
