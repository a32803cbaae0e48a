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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipelink.audit import code as code_rules
from pipelink.audit import ports
from pipelink.audit.claims import Claims, Code
from pipelink.audit.code import Reading
from pipelink.audit.registers import row as register_need
from pipelink.audit.report import ObjectReport, Row
from pipelink.backend import nvjitlink, nvvm, ptx
from pipelink.contract.abi import NVVM
from pipelink.objects.model import Image, Object


def audit_all(items: Sequence[Object]) -> list[list[ObjectReport]]:
    """Audit each object, for each architecture that it has code for, with the registers that its roles need.  Objects
    without a contract are helpers of the others.  Raises LinkError as :func:`audit`."""
    found: list[list[ObjectReport]] = []
    for item in items:
        reports: list[ObjectReport] = []
        for arch in dict.fromkeys(image.arch for image in item.ltoir) if item.components else ():
            images = [image for image in item.ltoir if image.arch == arch]
            helpers = [image for other in items if not other.components for image in other.helpers(arch)]
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
) -> ObjectReport:
    """Audit an object's ``images`` for ``arch``: every component, or ``only`` those symbols (``acme.loader``).

    ``helpers`` is further LTO-IR, of objects without a contract, whose functions the object may call.  ``registers``
    also compiles every role to machine code, for the registers that it needs.  What is found is in the report; raises
    LinkError as :func:`pipelink.backend.nvjitlink.link` and ``nvvm-failed``."""
    chosen = None if only is None else frozenset(only)
    claims = [Claims(c) for c in item.components if chosen is None or c.symbol in chosen]
    wanted = [(one, code) for one in claims for code in one.code]
    named = [Wanted(one, code, f"pl_audit_{number}") for number, (one, code) in enumerate(wanted)]
    if not named:
        return ObjectReport(item.name, arch, ())
    inputs = [nvjitlink.Image("audit", nvvm.compile_ltoir(_kernels(named), arch, "audit"))]
    inputs += [nvjitlink.Image(f"{item.name}#{n}", image.data) for n, image in enumerate([*images, *helpers])]
    module = ptx.parse(nvjitlink.link(inputs, arch, ptx=True).data.decode("utf-8", "replace"))
    rows: list[Row] = []
    for one in claims:
        readings = [
            Reading(one, want.code, module, tuple(module.reachable(want.kernel)))
            for want in named
            if want.claims is one and one.symbol(want.code) not in module.externals
        ]
        for reading in readings:
            rows += [*code_rules.rows(reading), *ports.protocol(reading)]
            if registers and (need := register_need(one, reading.code, [*images, *helpers], arch)) is not None:
                rows.append(need)
        if len(readings) == len(one.code):  # else another translation unit of the object, for other architectures
            rows += ports.rows(one, readings)
    return ObjectReport(item.name, arch, tuple(rows))


def _kernels(wanted: Sequence[Wanted]) -> str:
    """NVVM text of the kernels, for the LLVM that every architecture's libNVVM reads."""
    lines = [nvvm.HEADER]
    kernels: list[nvvm.NvvmKernel] = []
    for want in wanted:
        types = ", ".join(NVVM[kind] for kind in want.code.function.types)
        symbol = want.claims.symbol(want.code)
        given = ", ".join(f"{type_} %a{n}" for n, type_ in enumerate(types.split(", ")))
        lines.append(f"declare void @{symbol}({types})")
        lines.append(f"define void @{want.kernel}({given}) {{ call void @{symbol}({given})\n ret void }}")
        kernels.append(nvvm.NvvmKernel(f"@{want.kernel}", f"void ({types})*"))
    return nvvm.describe("\n".join(lines), kernels)
