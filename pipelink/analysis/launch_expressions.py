"""Expressions of a launch contract: their names replaced, and what is wrong with them whatever a launch passes.

A grid of no CTAs, a negative extent, a division by zero: where an expression, or a part of it, is a constant, no launch
can be right, so the link says so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipelink.support import expr, limits
from pipelink.support.diagnostics import Diagnostics, LinkError, Location
from pipelink.support.launch import GRID_LIMITS


@dataclass(frozen=True)
class Located:
    """An expression, what has it, and where it stands."""

    name: str
    text: str
    location: Location


class _Rename(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def rename_expression(text: str, names: Mapping[str, str]) -> str:
    """``text`` with free names replaced.  Raises LinkError ``bad-expression``."""
    if not names:
        expr.parse(text)
        return text
    return ast.unparse(_Rename(names).visit(ast.parse(ast.unparse(expr.parse(text)), mode="eval").body))


def check_constants(
    derived: Iterable[Located],
    shapes: Iterable[Located],
    workspaces: Iterable[Located],
    grid: Iterable[Located],
    cluster: Iterable[int],
    bound: Iterable[Located],
    diagnostics: Diagnostics,
) -> None:
    """Report ``bad-expression`` and ``grid-limit``.  ``derived`` are in an order in which each uses those before it;
    ``cluster`` is that of the launch, by axis as the grid."""
    known: dict[str, int] = {}

    def value(one: Located) -> int | None:
        try:
            return expr.constant(one.text, known)
        except LinkError as problem:
            for found in problem.diagnostics:
                diagnostics.error(found.id, found.message, one.location)
            return None

    for one in derived:
        if (found := value(one)) is not None:
            known[one.name] = found
    for one in shapes:
        if (found := value(one)) is not None and found < 0:
            message = f"an extent of tensor '{one.name}' is {_is(one, found)}, expected at least 0"
            diagnostics.error("bad-expression", message, one.location)
    for one in workspaces:
        if (found := value(one)) is not None and not 0 <= found <= limits.WORKSPACE_BYTES:
            message = f"workspace '{one.name}' is {_is(one, found)} bytes, expected 0 to {limits.WORKSPACE_BYTES}"
            diagnostics.error("bad-expression", message, one.location)
    for one, limit, size in zip(grid, GRID_LIMITS, cluster, strict=False):
        found = value(one)
        if found is not None and not 1 <= found <= limit:
            message = f"the grid's {one.name} is {_is(one, found)}, expected 1 to {limit}"
            diagnostics.error("grid-limit", message, one.location)
        elif found is not None and found % size:
            message = f"the grid's {one.name} is {_is(one, found)}, expected a multiple of the cluster's {size}"
            diagnostics.error("grid-limit", message, one.location)
    for one in bound:
        value(one)


def _is(one: Located, value: int) -> str:
    return str(value) if one.text.strip() == str(value) else f"{one.text} = {value}"
