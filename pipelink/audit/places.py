"""Which place in a component's source an instruction comes from.

Input: the places that debug information gives for it, the innermost first, and contracts.  Output: the component whose
own file the calls that were inlined around it lead through, and the innermost place that its author wrote: in that file
or in a header beside or below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pipelink.objects.model import ContractComponent
from pipelink.support.diagnostics import Location

_BUILTIN = "__nv_nvrtc_builtin_header"  # which NVRTC puts into every folder


def author_place(
    frames: Iterable[Location], components: Sequence[ContractComponent]
) -> tuple[ContractComponent, Location] | None:
    """The component and the place; None where no component's file is among the places."""
    inside: list[Location] = []
    for frame in frames:
        inside.append(frame)
        if (component := _declared_in(frame, components)) is not None:
            folder = Path(frame.file).parent
            near = (p for p in inside if folder in Path(p.file).parents and _BUILTIN not in p.file)
            return component, next(near, frame)
    return None


def _declared_in(frame: Location, components: Sequence[ContractComponent]) -> ContractComponent | None:
    """The component whose source a place is in: of several in one file the last that begins before it."""
    name = Path(frame.file).name
    there = [c for c in components if c.location.file == name]
    before = [c for c in there if c.location.line <= frame.line]
    return max(before or there, key=lambda c: c.location.line, default=None)
