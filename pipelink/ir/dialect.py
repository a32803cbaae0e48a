"""Registers dialect ``pipelink`` in a context and parses text into modules.

The dialect comes from ``dialect.irdl``, shipped in the package.  ``parse`` gives located diagnostics: when MLIR
refuses a text, the text is read once more with the dialect unregistered and the structural verifier explains what is
wrong in the dialect's own words; MLIR's message is kept for what the verifier does not know (syntax, symbols).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pipelink.ir.locations import to_location
from pipelink.ir.prescan import prescan
from pipelink.support import limits
from pipelink.support.diagnostics import Diagnostic, LinkError, Location, Note
from pipelink.support.inputs import read_input
from pipelink.support.mlir import MLIRError, ir, irdl

# A string without its end goes to the end of its line: tried from each of its quotes, it would take quadratic time.


@cache
def _dialect_text() -> str:
    return (Path(__file__).parent / "dialect.irdl").read_text()


def load_dialect(context: ir.Context) -> None:
    """Register ``pipelink`` in ``context``; a second call does nothing."""
    if context.is_registered_operation("pipelink.instance"):
        return
    with context, ir.Location.unknown():
        load: Callable[[ir.Module], None] = irdl.load_dialects  # pyright: ignore[reportAttributeAccessIssue]
        load(ir.Module.parse(_dialect_text()))


def new_context() -> ir.Context:
    """A context with the dialect loaded, single-threaded so that passes may print."""
    context = ir.Context()
    context.enable_multithreading(False)
    load_dialect(context)
    return context


def parse(source: str | bytes | Path, context: ir.Context | None = None, *, path: str | None = None) -> ir.Module:
    """Parse IR text or a file (``Path``) into a module that holds components and kernels.

    Places are in the file, or in ``path`` if that holds the text; else in ``-``.  A file whose only content is one
    named module is wrapped, so that the result always is the unnamed outer module.  Raises LinkError:
    ``unreadable-input``, ``oversized-input``, ``empty-input``, ``invalid-ir``, ``duplicate-name`` and what
    :func:`pipelink.ir.verify` reports.
    """
    if isinstance(source, Path):
        path, data = str(source), read_input(source, limits.TEXT_BYTES)
    else:
        data = source if isinstance(source, bytes) else source.encode(errors="surrogateescape")
    name = path if path is not None and _holds(path, data) else "-"
    prescan(data, name)
    context = context or new_context()
    try:
        module = ir.Module.parse(data, context) if name == "-" else ir.Module.parseFile(name, context)
    except MLIRError as problem:
        raise LinkError(_explain(problem, data, name)) from problem
    return _wrap(module)


def _holds(path: str, data: bytes) -> bool:
    """Whether MLIR can read the text from this file: a regular one, with a name that MLIR can print."""
    try:
        path.encode()
        return os.path.isfile(path) and read_input(path, limits.TEXT_BYTES) == data
    except (LinkError, OSError, ValueError):
        return False


def _wrap(module: ir.Module) -> ir.Module:
    attributes = module.operation.attributes
    if "pipelink.component" not in attributes and "pipelink.kernel" not in attributes:
        return module
    outer = ir.Module.create(module.operation.location)
    outer.body.append(module.operation.clone())
    return outer


def loose_context() -> ir.Context:
    """A context that takes every operation, without a dialect."""
    context = ir.Context()
    context.allow_unregistered_dialects = True
    return context


def _explain(problem: Any, data: bytes, name: str) -> list[Diagnostic]:
    """Better diagnostics than MLIR's for what the dialect itself refuses."""
    from pipelink.ir.verify import verify

    original = [_translate(d, data, name) for d in problem.error_diagnostics]
    try:
        verify(_wrap(ir.Module.parse(data, loose_context())), references=False)
    except MLIRError:
        return original
    except LinkError as ours:
        return [_rename(d, name) for d in ours.diagnostics]
    return original


def _rename(diagnostic: Diagnostic, name: str) -> Diagnostic:
    def moved(where: Location) -> Location:
        return Location(name, where.line, where.column) if where.file == "-" else where

    notes = tuple(Note(n.message, moved(n.location)) for n in diagnostic.notes)
    where = moved(diagnostic.location)
    return Diagnostic(diagnostic.severity, diagnostic.id, diagnostic.message, where, notes, diagnostic.hint)


def _translate(diagnostic: Any, data: bytes, name: str) -> Diagnostic:
    where = to_location(diagnostic.location)
    notes = [Note(n.message, to_location(n.location)) for n in diagnostic.notes if "see current op" not in n.message]
    symbol = re.match(r"redefinition of symbol named '(.*)'", diagnostic.message)
    if not symbol:
        return Diagnostic("error", "invalid-ir", diagnostic.message, where, tuple(notes))
    lines = data.split(b"\n")
    line = lines[where.line - 1] if 0 < where.line <= len(lines) else b""
    named = re.search(rb"pipelink\.(\w+)", line)
    what = named[1].decode() if named else "symbol"
    message = f"{what} '{symbol[1]}' is defined twice"
    return Diagnostic(
        "error", "duplicate-name", message, where, tuple(Note("first defined here", n.location) for n in notes)
    )
