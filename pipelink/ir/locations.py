"""MLIR locations as :class:`pipelink.support.diagnostics.Location`.

A fused or call-site location gives its first part that names a file; named locations give their child.
"""

from __future__ import annotations

from pipelink.support import limits
from pipelink.support.diagnostics import UNKNOWN, Location
from pipelink.support.mlir import ir
from pipelink.support.text import utf8


def to_location(location: ir.Location, depth: int = 0) -> Location:
    """The file, line and column of an MLIR location, or UNKNOWN."""
    if location.is_a_file():
        return Location(location.filename, location.start_line, location.start_col)
    if depth > limits.LOCATION_DEPTH:
        return UNKNOWN
    if location.is_a_name():
        return to_location(location.child_loc, depth + 1)
    if location.is_a_callsite():
        return to_location(location.callee, depth + 1)
    if location.is_a_fused():
        for part in location.locations:
            found = to_location(part, depth + 1)
            if found != UNKNOWN:
                return found
    return UNKNOWN


def location_of(op: ir.Operation) -> Location:
    """Where an operation was written."""
    return to_location(op.location)


def from_location(location: Location, context: ir.Context) -> ir.Location:
    """The MLIR location of a place in a file."""
    if not location.file:
        return ir.Location.unknown(context)
    return ir.Location.file(utf8(location.file), location.line, location.column, context)
