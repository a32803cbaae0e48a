"""The audit of an object: linked by itself, its roles and answers as kernels of their own, so that it can be read.

nvJitLink drops functions that no kernel reaches, so each role's entry and each answer gets a kernel that does nothing
but call it, with the instance and the frame as arguments, of which nothing is known.  The accessors stay undefined:
nvJitLink prints PTX all the same, and their calls stand in it.  So the code shows which barriers, ports and memory it
uses, and whether it got them from the linker: a barrier id that comes out of ``pl_id`` was placed, one that is a number
was not.  The rules about one role or answer stand in ``code``, those about a component's ports and resources in
``ports``.

Input: an object's LTO-IR and its contract; output: a report.  The kernels are generated NVVM text, 1 ms; the link takes
as long as optimising the code does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pipelink.audit import code as code_rules
from pipelink.audit import early, memory, ports, steps
from pipelink.audit.claims import Claims, Code
from pipelink.audit.code import Reading
from pipelink.audit.copies import copies
from pipelink.audit.places import author_place
from pipelink.audit.registers import row as register_need
from pipelink.audit.report import Copy, ObjectReport, Rounds, Row
from pipelink.backend import libnvvm, nvjitlink, ptx, source_lines
from pipelink.backend.ptx import Function
from pipelink.contract.abi import NVVM
from pipelink.objects.model import Image, Object
from pipelink.support.diagnostics import LinkError, Location


def audit_all(items: Sequence[Object]) -> list[list[ObjectReport]]:
    """Audit each object, for each architecture that it has code for, with the registers that its roles need.  Objects
    without a contract are helpers of the others.  Raises LinkError as :func:`audit`."""
    found: list[list[ObjectReport]] = []
    for item in items:
        reports: list[ObjectReport] = []
        for arch in dict.fromkeys(image.arch for image in item.ltoir) if item.components else ():
            images = [image for image in item.ltoir if image.arch == arch]
            helpers = [image for other in items if not other.components for image in other.reachable(arch)]
            reports.append(audit(item, images, arch, helpers=helpers, registers=True))
        found.append(reports)
    return found


@dataclass(frozen=True)
class Wanted:
    """A role or answer of a component, and the kernel that calls it."""

    claims: Claims
    code: Code
    kernel: str


def audit(
    item: Object,
    images: Sequence[Image],
    arch: str,
    *,
    helpers: Sequence[Image] = (),
    only: Iterable[str] | None = None,
    registers: bool = False,
    debug: bool = False,
) -> ObjectReport:
    """Audit an object's ``images`` for ``arch``: every component, or ``only`` those symbols (``acme.loader``).

    ``helpers`` is further LTO-IR, of objects without a contract, whose functions the object may call.  ``registers``
    also compiles every role to machine code, for the registers that it needs; ``debug``: for a debug link.  What is
    found is in the report; raises LinkError as :func:`pipelink.backend.nvjitlink.link` and ``nvvm-failed``."""
    chosen = None if only is None else frozenset(only)
    claims = [Claims(c) for c in item.components if chosen is None or c.symbol in chosen]
    wanted = [(one, code) for one in claims for code in one.code]
    named = [Wanted(one, code, f"pl_audit_{number}") for number, (one, code) in enumerate(wanted)]
    if not named:
        return ObjectReport(item.name, arch, ())
    code = [nvjitlink.Image(f"{item.name}#{n}", image.data) for n, image in enumerate([*images, *helpers])]

    def linked(*, lines: bool) -> str:
        kernels = libnvvm.compile_ltoir(_kernels(named, lines=lines), arch, "audit", lineinfo=lines)
        inputs = [nvjitlink.Image("audit", kernels), *code]
        return nvjitlink.link(inputs, arch, ptx=True, lineinfo=lines).data.decode("utf-8", "replace")

    module = ptx.parse(linked(lines=False))
    line_of = _Lines(lambda: linked(lines=True), item).of
    rows: list[Row] = []
    found: list[Copy] = []
    rounds: list[Rounds] = []
    for one in claims:
        readings = [
            Reading(one, want.code, module, tuple(module.reachable(want.kernel)), debug, line_of)
            for want in named
            if want.claims is one and one.symbol(want.code) not in module.externals
        ]
        own: list[Row] = []
        for reading in readings:
            own += [*code_rules.rows(reading), *early.rows(reading), *memory.rows(reading)]
            own += ports.protocol(reading)
            if registers and (need := register_need(one, reading.code, [*images, *helpers], arch)) is not None:
                own.append(need)
        found += copies(readings)
        if len(readings) == len(one.code):  # else another translation unit of the object, for other architectures
            own += ports.rows(one, readings)
        untrue = {row.subject for row in own if any(problem.id == "protocol-untrue" for problem in row.problems)}
        order = [row for reading in readings if reading.code.title not in untrue for row in steps.rows(reading, rounds)]
        if any(row.verdict == "error" for row in (*own, *order)):  # what does not link needs no proof
            order = [row for row in order if row.verdict != "warning"]
        rows += [*own, *order]
    return ObjectReport(item.name, arch, tuple(rows), tuple(found), tuple(dict.fromkeys(rounds)))


class _Lines:
    """Where calls stand in the sources.  Nobody asks unless something is wrong, so the object is linked with line
    information then, and once."""

    def __init__(self, linked: Callable[[], str], item: Object) -> None:
        self._linked, self._item = linked, item
        self._read: tuple[list[str], list[source_lines.Frames]] | None = None

    def of(self, function: Function, callee: str) -> Location | None:
        """The first call of ``callee`` in ``function``; None where the object does not say."""
        if self._read is None:
            try:
                code = self._linked()
            except LinkError:  # what is wrong is known without its line
                code = ""
            self._read = code.splitlines(), source_lines.of_ptx(code)
        begins = re.compile(rf"\.(entry|func)\b.*(?<![\w$]){re.escape(function.name)}\b")
        calls = re.compile(rf"(?<![\w$]){re.escape(callee)}\s*[,;]")
        inside = False
        for line, frames in zip(*self._read, strict=True):
            if line.startswith("."):
                inside = begins.search(line) is not None
            elif inside and calls.search(line):
                found = author_place(frames, self._item.components)
                return found[1] if found is not None else None
        return None


def _kernels(wanted: Sequence[Wanted], *, lines: bool = False) -> str:
    """NVVM text of the kernels, for the LLVM that every architecture's libNVVM reads; with line information of their
    own, without which the functions that are inlined into them would lose theirs, where ``lines`` asks for it."""
    text = [libnvvm.HEADER]
    kernels: list[libnvvm.NvvmKernel] = []
    places = libnvvm.TextLines()
    for want in wanted:
        types = ", ".join(NVVM[kind] for kind in want.code.function.types)
        symbol = want.claims.symbol(want.code)
        given = ", ".join(f"{type_} %a{n}" for n, type_ in enumerate(types.split(", ")))
        scope, place = places.function(want.kernel) if lines else ("", "")
        text.append(f"declare void @{symbol}({types})")
        text.append(f"define void @{want.kernel}({given}){scope} {{")
        text.append(f" call void @{symbol}({given}){place}\n ret void{place} }}")
        kernels.append(libnvvm.NvvmKernel(f"@{want.kernel}", f"void ({types})*"))
    if lines:
        text += places.nodes()
    return libnvvm.describe("\n".join(text), kernels, places.first_free)
