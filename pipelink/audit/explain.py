"""Where in the components' sources the reason lies for which the audit of a linked kernel fails.

Input: the report, the same kernel with line information, and the contracts of its components.  Output: the errors, each
with the places of the instructions that it is about: the line of source that one was made of, in the component whose
own file the calls that were inlined around it lead through.  An error stands at the place with most instructions.
Compilers leave lines in LTO-IR unasked, so that a second link has them; where a component has none, its errors have no
place.  This is the way of links that fail, so that its time does not matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pipelink.audit.kernel import WARNING
from pipelink.audit.places import author_place
from pipelink.audit.report import Check, KernelReport
from pipelink.backend import sass, source_lines
from pipelink.backend.nvjitlink import Linked, demangle
from pipelink.objects.model import ContractComponent
from pipelink.support.diagnostics import UNKNOWN, Diagnostic, Location, Note

#: What code refers to that computes sine, cosine or tangent of large arguments: 2/pi, in bits (CUDA's libdevice).
_REDUCTION: Final = b"__cudart_i2opi_"
_SINES: Final = "sinf, cosf and tanf need it for large arguments: use __sinf, or compile with -use_fast_math"


@dataclass(frozen=True)
class _Place:
    """Where an instruction comes from: the component, its source or a header of it, and what it is about."""

    component: str
    where: Location
    about: str


def explain(
    report: KernelReport, lined: Linked, ptx: Callable[[], str], components: Sequence[ContractComponent]
) -> list[Diagnostic]:
    """One error for each check that failed.  ``lined`` is the kernel with line information, ``ptx`` makes the text that
    ptxas made it of; ``components`` are those that the kernel has instances of.

    Raises LinkError ``disassembly-failed``, and what ``ptx`` raises."""
    lines = source_lines.of_cubin(lined.data)
    called = _callees(lined.data, report.kernel)
    failed = [check for check in report.checks if not check.ok]
    found: list[Diagnostic] = []
    for check, problem in zip(failed, report.diagnostics(), strict=True):
        if check.id == "audit-ptxas-warning":
            places = _warned(lined.log, ptx(), components)
        else:
            about = _subject(check, called)
            every = [(frames, text) for i, frames in lines if (text := about(i)) is not None]
            places = Counter(_place(frames, components, text) for frames, text in every).most_common()
        notes = [_note(place, count) for place, count in places if place.component]
        first = notes[0].location if notes else UNKNOWN
        if check.id == "audit-spill" and any(other.id == "audit-stack" for other in failed):  # the same instructions
            found.append(replace(problem, location=first))
            continue
        hint = problem.hint
        if check.id == "audit-stack" and _REDUCTION in lined.data:
            hint = f"{_SINES}; or {hint}"
        own = 1 if check.id == "audit-ptxas-warning" else len(notes)  # few notes are shown, and ptxas's tell why
        ordered = (*notes[:own], *problem.notes, *notes[own:])
        found.append(replace(problem, location=first, notes=ordered, hint=hint))
    return found


def _warned(log: str, ptx: str, components: Sequence[ContractComponent]) -> list[tuple[_Place, int]]:
    """The places of lines of PTX that ptxas's messages name, then of wgmma, where the messages speak of it."""
    frames = source_lines.of_ptx(ptx)
    warnings = "\n".join(WARNING.findall(log))
    named = [int(number) for number in re.findall(r"\bline (\d+)", warnings)]
    meant = [_place(frames[n - 1], components, "is what ptxas means") for n in named if 0 < n <= len(frames)]
    lines = ptx.splitlines() if "wgmma" in warnings else []
    wgmma = [
        _place(frames[number], components, "has wgmma")
        for number, line in enumerate(lines)
        if line.lstrip().startswith("wgmma.mma_async")
    ]
    return [*Counter(meant).most_common(), *Counter(wgmma).most_common()]


def _subject(check: Check, called: dict[int, str]) -> Callable[[sass.Instruction], str | None]:
    """What there is to say of an instruction where a check fails; None of one that it is not about."""

    def local(instruction: sass.Instruction) -> str | None:
        return "uses local memory" if instruction.mnemonic in ("LDL", "STL") else None

    def call(instruction: sass.Instruction) -> str | None:
        callee = called.get(instruction.offset)
        return f"calls {callee}" if callee is not None else None

    def barrier(instruction: sass.Instruction) -> str | None:
        number = sass.barrier_id(instruction) if instruction.mnemonic in ("BAR", "B2R") else None
        return f"uses barrier {number}" if number is not None and number not in allowed else None

    allowed = {int(number) for number in re.findall(r"\d+", check.expected)}
    subjects = {"audit-stack": local, "audit-spill": local, "audit-call": call, "audit-barrier": barrier}
    return subjects.get(check.id, lambda _: None)


def _callees(cubin: bytes, kernel: str) -> dict[int, str]:
    """The calls of the kernel but those of ptxas's helpers, by offset."""
    function = sass.read(cubin).function(kernel)
    calls = sass.component_calls(function)
    return {i.offset: f"'{demangle(to.rpartition('$')[2])}'" if i.targets else "through a register" for i, to in calls}


def _place(frames: Iterable[Location], components: Sequence[ContractComponent], about: str) -> _Place:
    found = author_place(frames, components)
    return _Place(found[0].name, found[1], about) if found is not None else _Place("", UNKNOWN, about)


def _note(place: _Place, count: int) -> Note:
    many = f" ({count} instructions)" if count > 1 else ""
    return Note(f"component '{place.component}' {place.about} here{many}", place.where)
