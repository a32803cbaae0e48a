"""Placed compositions with one thing changed, judged by the simulator and by pass ``prove``.

``python -m test.protocol.mutants`` judges all of them and writes ``benchmarks/results/mutants.json``: how many of each
kind can go wrong, how many of these ``prove`` refuses (all), and what it refuses although nothing can go wrong.
``--only INPUT`` and ``--kind KIND`` choose some, ``--verbose`` shows each.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelink.ir import parse, program
from pipelink.ir.views import Component, Kernel
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.support.diagnostics import Diagnostics, LinkError
from test.protocol import changes
from test.protocol.inputs import INPUTS
from test.protocol.judge import judge
from test.protocol.machine import UnsupportedError
from test.protocol.oracles import faults
from test.protocol.simulator import LimitError

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "mutants.json"
STATES = 60_000  # of one assignment of the counts


@dataclass(frozen=True)
class Mutant:
    """``text`` is a placed module; ``where`` and ``what`` say what was changed."""

    base: str
    kind: str
    what: str
    text: str


@dataclass(frozen=True)
class Judged:
    """``problem``: what the simulator, or an oracle, found, or None; ``refused``: the ids of the errors of ``prove``."""

    mutant: Mutant
    problem: str | None
    refused: tuple[str, ...]
    messages: tuple[str, ...] = ()

    @property
    def missed(self) -> bool:
        return self.problem is not None and not self.refused

    @property
    def harmless(self) -> bool:
        return self.problem is None and bool(self.refused)


def placed(text: str) -> str:
    """A module after check and place, as text."""
    module = parse(text)
    run_pipeline(parse_pipeline("check,place"), module.operation)
    return str(module)


def mutants(base: str, text: str) -> Iterator[Mutant]:
    """All mutants of a placed module, in a fixed order, without those that read the same."""
    seen = {text}
    source = parse(text)
    views = program(source)
    for change in changes.all_changes(views.kernels[0], views.components):
        module = parse(text)
        fresh = program(module)
        change.apply(fresh.kernels[0], fresh.components)
        changed = str(module)
        if changed not in seen:
            seen.add(changed)
            yield Mutant(base, change.kind, change.what, changed)


def opinion(kernel: Kernel, components: dict[str, Component], most: int = 3) -> str | None:
    """What goes wrong in a placed kernel, by the oracles and the simulator.  Raises UnsupportedError, LimitError."""
    found = next(faults(kernel, components), None)
    if found is not None:
        return f"static: {found}"
    verdict = judge(kernel, components, most=most, limit=STATES)
    counts = ", ".join(f"{' '.join(map(str, symbol[:2]))}={value}" for symbol, value in verdict.counts)
    return None if verdict.problem is None else f"{verdict.kind}: {verdict.problem} [{counts}]"


def proved(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids and messages of the errors of ``prove``."""
    module = parse(text)
    diagnostics = Diagnostics()
    try:
        run_pipeline(parse_pipeline("prove"), module.operation, diagnostics=diagnostics)
    except LinkError as error:
        errors = [one for one in error.diagnostics if one.severity == "error"]
        return tuple(sorted({one.id for one in errors})), tuple(one.message for one in errors)
    return (), ()


def decide(mutant: Mutant) -> Judged | None:
    """Both verdicts; None where the simulator cannot say."""
    views = program(parse(mutant.text))
    try:
        problem = opinion(views.kernels[0], views.components)
    except (UnsupportedError, LimitError):
        return None
    return Judged(mutant, problem, *proved(mutant.text))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", help="a composition")
    parser.add_argument("--kind", action="append", help="a kind of change")
    parser.add_argument("--verbose", action="store_true", help="show every mutant")
    parser.add_argument("--simulate", action="store_true", help="the simulator alone")
    parser.add_argument("--output", type=Path, help="where the numbers go")
    chosen = parser.parse_args(arguments)
    start = time.perf_counter()
    judged: list[Judged] = []
    undecided = 0
    for base, text in INPUTS.items():
        if chosen.only and base not in chosen.only:
            continue
        for mutant in mutants(base, placed(text)):
            if chosen.kind and mutant.kind not in chosen.kind:
                continue
            if chosen.simulate:
                views = program(parse(mutant.text))
                try:
                    found = Judged(mutant, opinion(views.kernels[0], views.components), ())
                except (UnsupportedError, LimitError) as limit:
                    print(f"{base}, {mutant.kind}, {mutant.what}: {limit}")
                    undecided += 1
                    continue
            elif (decided := decide(mutant)) is None:
                undecided += 1
                continue
            else:
                found = decided
            judged.append(found)
            if chosen.verbose or (found.missed and not chosen.simulate):
                word = "MISSED" if found.missed else "HARMLESS" if found.harmless else "agreed"
                print(
                    f"{word} {base}, {mutant.kind}, {mutant.what}\n    {found.problem}\n    {', '.join(found.refused)}"
                )
    numbers = summary(judged, undecided)
    print(json.dumps(numbers["total"]), f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    if chosen.output or not (chosen.only or chosen.kind or chosen.simulate):
        (chosen.output or RESULTS).write_text(json.dumps(numbers, indent=1) + "\n")
    return int(any(one.missed for one in judged) and not chosen.simulate)


def summary(judged: list[Judged], undecided: int) -> dict[str, Any]:
    """Counts by kind and in total, and the harmless ones that are refused."""

    def counts(some: list[Judged]) -> dict[str, Any]:
        wrong = [one for one in some if one.problem is not None]
        refused = sum(bool(one.refused) for one in wrong)
        return {
            "mutants": len(some),
            "misbehave": len(wrong),
            "refused": refused,
            "rate": round(refused / len(wrong), 4) if wrong else 1.0,
            "harmless_refused": sum(one.harmless for one in some),
        }

    kinds = sorted({one.mutant.kind for one in judged})
    return {
        "total": {**counts(judged), "undecided": undecided},
        "kinds": {kind: counts([one for one in judged if one.mutant.kind == kind]) for kind in kinds},
        "harmless": [
            {"input": one.mutant.base, "kind": one.mutant.kind, "change": one.mutant.what, "ids": list(one.refused)}
            for one in judged
            if one.harmless
        ],
        "missed": [
            {"input": one.mutant.base, "kind": one.mutant.kind, "change": one.mutant.what, "problem": one.problem}
            for one in judged
            if one.missed
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
