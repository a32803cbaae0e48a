"""``place``: one joint problem over everything that the components of a kernel share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pipelink.analysis.launch import resolve
from pipelink.analysis.placement import Options, Solution, solve
from pipelink.analysis.placement.build import Built, build
from pipelink.ir.views import Kernel, Program, program
from pipelink.passes.place_write import write
from pipelink.support.diagnostics import Diagnostics
from pipelink.support.mlir import ir

_ATTEMPTS = 32  # combinations of transfers that are tried before the first failure is reported


@dataclass(frozen=True)
class PlacePass:
    """Chooses transfers and places warps, registers, shared memory, barriers, tensor memory and parameters.

    Before: every port is connected and each connection has a legal transfer (``check``).
    After: every instance and connection has ``placement``, the kernel has ``pipelink.placement`` and
    ``pipelink.launch``; depths are as deep as ranges and memory allow, or as shallow as they may be with
    ``objective=min-smem``.  The same input gives the same placement, byte for byte.
    Rejects: ``smem-overflow``, ``tmem-overflow``, ``too-many-barriers``, ``too-many-warps``,
    ``register-disagreement``, ``register-overcommit``, ``ring-range-disjoint``, ``arrival-disagreement``,
    ``ambiguous-role``, ``unaligned-warpgroup``, ``no-transfer``, ``parameter-overflow``, ``unbound-parameter``,
    ``unknown-symbol``, ``cyclic-derivation``, ``launch-conflict``, ``missing-grid``, ``bad-binding``,
    ``not-passable``, ``reserved-name``, ``unknown-target``.

    Example: ``"pipelink.connect"() {source = @load::@ab, target = @mma::@ab}`` gains
    ``placement = {transfer = "ring.tma", stages = 4, full = 1024, empty = 1056, …}``.
    """

    objective: Literal["deepest", "min-smem"] = field(
        default="deepest", metadata={"help": "deepest rings by what slots are worth, or least shared memory"}
    )
    max_time: float = field(
        default=4.0,
        metadata={"help": "limit of CP-SAT's work on a kernel, in its deterministic time (a few seconds each)"},
    )
    arrivals: Literal["elected", "every-thread"] = field(
        default="elected",
        metadata={
            "help": "who arrives where threads read or write a slot: one thread a warp, or each, which "
            "compute-sanitizer's racecheck can follow"
        },
    )

    def apply(self, module: ir.Operation, diagnostics: Diagnostics) -> None:
        views = program(module)
        for kernel in views.kernels:
            if kernel.fused:
                continue
            options = Options(self.objective == "min-smem", self.max_time, self.arrivals == "elected")
            place(views, kernel, options, diagnostics)


def place(views: Program, kernel: Kernel, options: Options, diagnostics: Diagnostics) -> None:
    """Place one kernel: attributes on its operations, or diagnostics."""
    before = len(diagnostics.errors)
    launch = resolve(views, kernel, diagnostics)
    found = _solve(views, kernel, options, diagnostics)
    if found is None or len(diagnostics.errors) > before:
        return
    built, solution = found
    write(views, kernel, built, solution, launch, options)


def _solve(views: Program, kernel: Kernel, options: Options, diagnostics: Diagnostics) -> tuple[Built, Solution] | None:
    """The first combination of transfers, in order of preference, that has a placement."""
    failed: Diagnostics | None = None
    for avoid in _combinations(kernel):
        own = Diagnostics()
        built = build(views, kernel, own, avoid, elect=options.elect)
        solution = None if own.errors else solve(built.problem, options, own)
        if solution is not None:
            diagnostics.items += own.items
            if avoid:
                listed = ", ".join(f"{transfer} for {connect}" for connect, transfer in sorted(avoid))
                solution.reasons.append(f"did not fit, so the next legal transfer was taken: {listed}")
            return built, solution
        failed = failed or own
    diagnostics.items += failed.items if failed else []
    return None


def _combinations(kernel: Kernel) -> list[frozenset[tuple[str, str]]]:
    """Sets of (connect, transfer) to avoid: none first, then ever less preferred transfers."""
    found: list[frozenset[tuple[str, str]]] = [frozenset()]
    for connect in kernel.connects:
        names = connect.legal or ()
        if connect.transfer is None and len(names) > 1:
            pairs = [frozenset((connect.name, n) for n in names[:rank]) for rank in range(len(names))]
            found = [known | more for known in found for more in pairs][:_ATTEMPTS]
    return sorted(found, key=len)
