"""The audit of a linked kernel: is the cubin what the contracts and the placement said?

Input: the linked cubin, the logs of nvJitLink and ptxas, the placement, and the images that went in.
Output: a :class:`KernelReport` of named checks, each with what was expected and what was found; a check that fails is
an error diagnostic.  A vendor backend that silently drops a ``setmaxnreg``, keeps a call, or spills produces a cubin
that runs slowly or hangs, so every link is audited and a link that lost something fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipelink.audit.printing import DRIVER_CALLS, Printing
from pipelink.audit.report import Check, KernelReport
from pipelink.backend import cubin as cubin_file
from pipelink.backend import sass
from pipelink.backend.nvjitlink import demangle
from pipelink.ir.placement import ConnectionPlacement, InstancePlacement, KernelPlacement, RingPlacement
from pipelink.target import MAX_THREAD_REGISTERS, REGISTERS_PER_SM

WARNING = re.compile(r"^.*\bC75\d\d\b.*$", re.MULTILINE)
_SPILL = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")


@dataclass(frozen=True)
class LinkInput:
    """An image that went into the link: where it came from, and what it held for the target."""

    name: str
    kind: str  # "ltoir", "cubin", "ptx" or "none"


@dataclass(frozen=True)
class Expectation:
    """What the placement and the contracts allow.  ``registers``: the placed setmaxnreg of each warpgroup, empty if
    none was placed; ``barriers``: placed ids, 0 aside; sizes in bytes.  ``printing``: a debug link's calls of the
    driver, None where there may be none."""

    kernel: str
    threads: int
    registers: tuple[int, ...]
    barriers: tuple[int, ...]
    smem_bytes: int
    min_ctas: int = 1
    stack_bytes: int = 0
    smem_limit: int | None = None
    tmem_columns: int = 0
    leaves: bool = False  # a debug link: threads may leave in the middle of a role
    printing: Printing | None = None


def expectation(
    kernel: str,
    placement: KernelPlacement,
    instances: Iterable[InstancePlacement],
    connections: Iterable[ConnectionPlacement] = (),
    *,
    stack_bytes: int = 0,
    smem_limit: int | None = None,
    leaves: bool = False,
    printing: Printing | None = None,
) -> Expectation:
    """The expectation that the placements of a kernel, of its instances and of its connections state.

    A warpgroup that keeps the registers it has at entry needs no setmaxnreg, so none is expected."""
    barriers = {meeting.id for meeting in placement.meetings.values()}
    for instance in instances:
        barriers |= {barrier.id for barrier in instance.barriers.values()}
        barriers |= {local.barrier.id for local in instance.locals.values()}
        barriers |= {barrier.id for turns in instance.turns.values() for barrier in turns}
    for connection in connections:
        if isinstance(connection, RingPlacement) and connection.barrier is not None:
            barriers.add(connection.barrier.id)
    return Expectation(
        kernel=kernel,
        threads=placement.threads,
        registers=tuple(count for count in placement.registers if count not in (0, placement.entry_registers)),
        barriers=tuple(sorted(barriers)),
        smem_bytes=placement.smem_bytes,
        min_ctas=placement.min_ctas,
        stack_bytes=stack_bytes,
        smem_limit=smem_limit,
        tmem_columns=placement.tmem_columns or 0,
        leaves=leaves,
        printing=printing,
    )


def audit(cubin: bytes, expected: Expectation, *, log: str = "", inputs: Sequence[LinkInput] = ()) -> KernelReport:
    """Audit one linked cubin.  Never raises for what it finds: the report says it.

    Raises LinkError ``bad-cubin`` or ``disassembly-failed`` if the image cannot be read at all."""
    with sass.reading(cubin) as wait:
        facts = cubin_file.facts(cubin, expected.kernel)
        listing = wait()
    kernel = listing.function(expected.kernel)
    counts = sass.count(listing)
    checks = [
        _inputs(inputs),
        _calls(counts, expected),
        _unresolved(facts, expected),
        _stack(facts, log, expected),
        _spills(counts, log, facts, expected),
        *_registers(kernel, facts, expected),
        _barriers(counts, expected),
        *_smem(facts, expected),
        *_tensor_memory(kernel, expected),
        _threads(facts, expected),
        _warnings(log, expected),
    ]
    return KernelReport(expected.kernel, listing.arch, tuple(checks), counts.instructions, facts.registers)


def _list(items: Iterable[object]) -> str:
    return ", ".join(str(item) for item in items) or "none"


def _inputs(inputs: Sequence[LinkInput]) -> Check:
    without = [i for i in inputs if i.kind != "ltoir"]
    return Check(
        "objects with LTO-IR",
        "audit-no-ltoir",
        f"all {len(inputs)}",
        f"{len(inputs) - len(without)} of {len(inputs)}",
        not without,
        tuple(f"'{i.name}' holds {'no code for the target' if i.kind == 'none' else i.kind}" for i in without),
    )


def _calls(counts: sass.Counts, expected: Expectation) -> Check:
    callees = list(dict.fromkeys(demangle(callee.rpartition("$")[2]) for callee in counts.calls))
    printing = expected.printing
    if printing is not None:
        # machine code calls the driver through registers: PTX has the names
        callees = [callee for callee in callees if callee != sass.UNKNOWN_CALLEE] + list(printing.others)
    return Check(
        "calls",
        "audit-call",
        "printf and assert alone" if printing is not None else "none",
        str(printing) if printing is not None and not callees else str(len(counts.calls) or "none"),
        not callees,
        tuple(f"'{callee}' was not inlined" for callee in callees),
    )


def _unresolved(facts: cubin_file.CubinFacts, expected: Expectation) -> Check:
    allowed = DRIVER_CALLS if expected.printing is not None else {}
    return Check(
        "unresolved symbols",
        "audit-unresolved",
        "the driver's alone" if allowed else "none",
        _list(demangle(name) for name in facts.undefined),
        not set(facts.undefined) - allowed.keys(),
    )


def _stack(facts: cubin_file.CubinFacts, log: str, expected: Expectation) -> Check:
    allowed, why = expected.stack_bytes, ""
    if expected.printing is not None:  # a call needs the registers that it does not keep saved, beside its arguments
        needed = expected.printing.stack_bytes + _spilled(log)
        allowed, why = allowed + needed, f", {needed} of them for printf and assert" if needed else ""
    elif expected.leaves:  # a wait with a limit takes registers that a role may not have
        needed = _spilled(log)
        allowed, why = allowed + needed, f", {needed} of them for the limits of waits" if needed else ""
    ok = facts.stack_bytes <= allowed
    stated = expected.stack_bytes + facts.stack_bytes - allowed
    return Check(
        "stack",
        "audit-stack",
        f"at most {allowed} B{why}" if allowed else "none",
        f"{facts.stack_bytes} B" if facts.stack_bytes else "none",
        ok,
        () if ok else ("a call, a spill or an array indexed at run time needs stack",),
        None
        if ok
        else f"state it in the component: PL_STACK({stated}), or give arrays constant indices (unrolled loops),"
        " or the role more registers",
    )


def _spilled(log: str) -> int:
    """Bytes that ptxas stored to, of the registers that it spilled."""
    return max((int(stored) for stored, _ in _SPILL.findall(log)), default=0)


def _spills(counts: sass.Counts, log: str, facts: cubin_file.CubinFacts, expected: Expectation) -> Check:
    spilled = max((int(s) + int(load) for s, load in _SPILL.findall(log)), default=0)
    calls = expected.printing is not None
    allowed = calls or expected.leaves or (bool(expected.stack_bytes) and facts.stack_bytes <= expected.stack_bytes)
    found = [f"{spilled} B by ptxas's count"] if spilled else []
    found += [f"{counts.local} local-memory instructions"] if counts.local else []
    may = "as the calls need" if calls else "as the limits need" if expected.leaves else ""
    may = may or ("as the contracts allow" if allowed else "none")
    return Check("spills", "audit-spill", may, _list(found), allowed or not found)


def _registers(kernel: sass.Function, facts: cubin_file.CubinFacts, expected: Expectation) -> list[Check]:
    regions = sass.register_regions(kernel)
    placed, found = sorted(set(expected.registers)), sorted({region.registers for region in regions})
    entry = min(MAX_THREAD_REGISTERS, REGISTERS_PER_SM // (expected.threads * expected.min_ctas))
    checks = [
        Check("setmaxnreg", "audit-setmaxnreg", _list(placed), _list(found), placed == found),
        Check(
            "registers at entry",
            "audit-registers",
            f"at most {entry}",
            str(facts.registers),
            facts.registers <= entry,
        ),
    ]
    for registers in found:
        highest = max(region.highest for region in regions if region.registers == registers)
        checks.append(
            Check(
                f"registers under setmaxnreg {registers}",
                "audit-registers",
                f"at most {registers}",
                str(highest + 1),
                highest < registers,
            )
        )
    return checks


def _barriers(counts: sass.Counts, expected: Expectation) -> Check:
    allowed = {0, *expected.barriers}
    stray = sorted(set(counts.barrier_ids) - allowed)
    found = _list(counts.barrier_ids)
    if counts.barrier_registers:
        found += f" and {counts.barrier_registers} with the id in a register"
    return Check(
        "named barriers",
        "audit-barrier",
        f"only {_list(sorted(allowed))}",
        found,
        not stray,
        tuple(f"barrier {number} belongs to no component of this kernel" for number in stray),
    )


def _smem(facts: cubin_file.CubinFacts, expected: Expectation) -> list[Check]:
    checks = [
        Check(
            "static shared memory",
            "audit-smem",
            "none",
            f"{facts.static_smem_bytes} B" if facts.static_smem_bytes else "none",
            not facts.static_smem_bytes,
            ("shared memory belongs in PL_SMEM, where the linker can place it",) if facts.static_smem_bytes else (),
        )
    ]
    if expected.smem_limit is not None:
        checks.append(
            Check(
                "placed shared memory",
                "audit-smem",
                f"at most {expected.smem_limit} B",
                f"{expected.smem_bytes} B",
                expected.smem_bytes <= expected.smem_limit,
            )
        )
    return checks


def _tensor_memory(kernel: sass.Function, expected: Expectation) -> list[Check]:
    """Allocated as placed, and freed; no line in the report of a kernel that neither has nor should have any."""
    columns, freed = sass.tensor_memory(kernel)
    if not columns and not freed and not expected.tmem_columns:
        return []
    found = _list(f"{count} columns" if count else "a size in a register" for count in dict.fromkeys(columns))
    placed = f"{expected.tmem_columns} columns, freed" if expected.tmem_columns else "none"
    ok = set(columns) == ({expected.tmem_columns} if expected.tmem_columns else set()) and bool(freed)
    return [Check("tensor memory", "audit-tmem", placed, f"{found}{', freed' if freed else ', not freed'}", ok)]


def _threads(facts: cubin_file.CubinFacts, expected: Expectation) -> Check:
    return Check(
        "launch bounds",
        "audit-launch-bounds",
        f"{expected.threads} threads",
        f"{facts.max_threads} threads" if facts.max_threads else "none",
        facts.max_threads == expected.threads,
    )


def _warnings(log: str, expected: Expectation) -> Check:
    """What ptxas ignored or serialised.  A warpgroup that can leave a role early has to wait for its wgmma: there alone
    (C7517), or everywhere (C7518).  One that calls the driver waits before."""
    lines = list(dict.fromkeys(line.strip() for line in WARNING.findall(log)))
    if expected.printing is not None:
        lines = [line for line in lines if "wgmma" not in line]
    if expected.leaves:
        lines = [line for line in lines if not re.search(r"\bC751[78]\b", line)]
    return Check(
        "ptxas performance warnings", "audit-ptxas-warning", "none", str(len(lines) or "none"), not lines, tuple(lines)
    )
