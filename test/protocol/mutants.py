"""Placed compositions with one thing changed, judged by the simulator and by pass ``prove``.

``python -m test.protocol.mutants`` judges all of them, and a sample of those of shipped compositions, and writes
``benchmarks/results/mutants.json``: how many of each kind can go wrong, how many of these ``prove`` refuses (all), and
what it refuses although nothing can go wrong.  ``--only INPUT`` and ``--kind KIND`` choose some, ``--verbose`` shows
each.  ``--add`` adds the numbers of inputs that are not recorded yet to those that are; of others, ``--instead
NUMBERS`` has what they were, from a run with ``--output`` before the change.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from pipelink.ir import parse, program
from pipelink.ir.views import Component, Kernel
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.support.diagnostics import Diagnostics, LinkError
from test.protocol import changes
from test.protocol.explore import LimitError
from test.protocol.inputs import INPUTS
from test.protocol.judge import judge
from test.protocol.machine import UnsupportedError
from test.protocol.oracles import faults

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "mutants.json"
PROVE = "prove{seconds=20}"
STATES = 60_000  # of one assignment of the counts
ROUNDS = 9  # of loops within loops
SHIPPED = 5  # of the mutants of shipped compositions one in so many
WIDE = {"gemm-cluster": 3, "pair_256": 3, "random": 4}  # fewer, where there are too many states


@dataclass(frozen=True)
class Mutant:
    """``text`` is a placed module; ``kind`` and ``what`` say what was changed in composition ``base``."""

    base: str
    kind: str
    what: str
    text: str


@dataclass(frozen=True)
class Judged:
    """``problem``: what the simulator or an oracle found, or None; ``refused``: the ids of the errors of ``prove``;
    ``assumed``: ``prove`` warns that it has not proved the part in question (``unproven``)."""

    mutant: Mutant
    problem: str | None
    refused: tuple[str, ...]
    assumed: bool = False

    @property
    def missed(self) -> bool:
        return self.problem is not None and not self.refused and not self.assumed

    @property
    def harmless(self) -> bool:
        return self.problem is None and bool(self.refused)


def placed(text: str) -> str:
    """A module after check and place, as text."""
    module = parse(text)
    run_pipeline(parse_pipeline("check,place"), module.operation)
    return str(module)


def mutants(base: str, text: str, one_in: int = 1) -> Iterator[Mutant]:
    """The mutants of a placed module, in a fixed order, each text once: all, or a sample of one in so many changes,
    always the same."""
    seen = {text}
    views = program(parse(text))
    for change in changes.all_changes(views.kernels[0], views.components):
        if crc32(f"{base} {change.kind} {change.what}".encode()) % one_in:
            continue
        module = parse(text)
        fresh = program(module)
        change.apply(fresh.kernels[0], fresh.components)
        changed = str(module)
        if changed not in seen:
            seen.add(changed)
            yield Mutant(base, change.kind, change.what, changed)


def opinion(kernel: Kernel, components: dict[str, Component], rounds: int = ROUNDS) -> str | None:
    """What goes wrong in a placed kernel, by the oracles and the simulator.  Raises UnsupportedError, LimitError."""
    found = next(faults(kernel, components), None)
    if found is not None:
        return f"static: {found}"
    verdict = judge(kernel, components, rounds=rounds, limit=STATES)
    counts = ", ".join(f"{' '.join(map(str, symbol[:2]))}={value}" for symbol, value in verdict.counts)
    return None if verdict.problem is None else f"{verdict.kind}: {verdict.problem} [{counts}]"


def proved(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the errors of ``prove``, and its warnings.  Raises LinkError where it breaks down."""
    module, found = parse(text), Diagnostics()
    try:
        run_pipeline(parse_pipeline(PROVE), module.operation, diagnostics=found)
        every = found.items
    except LinkError as error:
        every = error.diagnostics
    errors = {one.id for one in every if one.severity == "error"}
    if "internal-error" in errors:
        raise LinkError(every)
    return tuple(sorted(errors)), tuple(one.message for one in every if one.severity == "warning")


def decide(mutant: Mutant, *, prove: bool = True) -> Judged | None:
    """Both verdicts; None where the simulator cannot say."""
    views = program(parse(mutant.text))
    rounds = min((number for part, number in WIDE.items() if part in mutant.base), default=ROUNDS)
    try:
        problem = opinion(views.kernels[0], views.components, rounds)
    except (UnsupportedError, LimitError):
        return None
    if not prove:
        return Judged(mutant, problem, ())
    refused, warnings = proved(mutant.text)
    return Judged(mutant, problem, refused, problem is not None and _is_assumed(problem, warnings))


def _is_assumed(problem: str, warnings: Sequence[str]) -> bool:
    """Whether it was said that roles are not followed; or all who hang wait for a signal, or for somebody who does, and
    it was said of each such signal that it is taken to come."""
    if any(re.fullmatch(r"what '@.*' does is not proved: .*", warning) for warning in warnings):
        return True
    ports = re.findall(r" at await (\w+)::(\w+)", problem) if problem.startswith("signal: ") else []
    named = {f"that signal '@{instance}::@{port}' comes is not proved" for instance, port in ports}
    return bool(ports) and named <= set(warnings)


def ill_formed(one: Judged) -> str | None:
    """Why a mutant is refused rightly though it happens to do no harm: it breaks a rule that every placement keeps."""
    if "bad-placement" in one.refused:
        return "two places of the placement contradict each other; what is used happens to fit"
    if one.mutant.kind == "barrier id" and "barrier-shared" in one.refused and one.mutant.what.endswith("-> 0"):
        return "named barrier 0 is the entry's; here the entry does not come back to it"
    if one.mutant.kind == "live interval" and "placement-overlap" in one.refused:
        return "the contract says that two buffers are in use at once; the protocol happens to use one after the other"
    return None


def explained(one: Judged) -> str | None:
    """Why something harmless is refused, in a line; None for what nobody has explained."""
    kind, ids = one.mutant.kind, set(one.refused)
    if "barrier-shared" in ids and "that of" in one.mutant.what:
        return "two components meet at one barrier, each in its turn, because one role calls both"
    if kind == "arrival unit":
        return "an only thread arrives in a unit that it is not: the same arrival by chance"
    if kind == "by" and ".store" in one.mutant.what:
        return "a warp copies its part of a buffer, or waits for it, and others that wrote theirs do not"
    if kind == "by":
        return "warps give back a slot that they have not waited for themselves"
    if "arrival-count" in ids:
        return "arrivals overrun a phase that nobody waits for"
    return None


def summary(judged: list[Judged], undecided: int) -> dict[str, Any]:
    """Counts by kind and in total; what was missed; what is refused although it is harmless, and why."""

    def counts(some: list[Judged]) -> dict[str, Any]:
        wrong = [one for one in some if one.problem is not None]
        refused = sum(bool(one.refused) for one in wrong)
        odd = [one for one in some if one.harmless]
        assumed = sum(one.assumed and not one.refused for one in wrong)
        return {
            "mutants": len(some),
            "misbehave": len(wrong),
            "refused": refused,
            "assumed": assumed,
            "rate": round((refused + assumed) / len(wrong), 4) if wrong else 1.0,
            "ill_formed": sum(ill_formed(one) is not None for one in odd),
            "harmless_refused": sum(ill_formed(one) is None for one in odd),
        }

    def row(one: Judged) -> dict[str, Any]:
        return {"input": one.mutant.base, "kind": one.mutant.kind, "change": one.mutant.what}

    kinds = sorted({one.mutant.kind for one in judged})
    harmless = [one for one in judged if one.harmless]
    return {
        "total": {**counts(judged), "undecided": undecided},
        "inputs": len({one.mutant.base for one in judged} & INPUTS.keys()),
        "shipped": len({one.mutant.base for one in judged} - INPUTS.keys()),
        "kinds": {kind: counts([one for one in judged if one.mutant.kind == kind]) for kind in kinds},
        "missed": [{**row(one), "problem": one.problem} for one in judged if one.missed],
        "ill_formed": [
            {**row(one), "ids": list(one.refused), "why": why} for one in harmless if (why := ill_formed(one))
        ],
        "harmless": [
            {**row(one), "ids": list(one.refused), "why": explained(one)} for one in harmless if ill_formed(one) is None
        ],
    }


def combined(recorded: dict[str, Any], found: dict[str, Any], sign: int = 1) -> dict[str, Any]:
    """The numbers of two runs of different inputs as of one; with ``sign`` -1 those of the second taken out."""

    def added(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        sums = {key: one.get(key, 0) + sign * other.get(key, 0) for key in {**one, **other} if key != "rate"}
        wrong, seen = sums["misbehave"], sums["refused"] + sums["assumed"]
        rated = {**sums, "rate": round(seen / wrong, 4) if wrong else 1.0}
        return {key: rated[key] for key in (one or other)}

    def rows(key: str) -> list[dict[str, Any]]:
        if sign > 0:
            return [*recorded[key], *found[key]]
        return [row for row in recorded[key] if row not in found[key]]

    kinds = sorted(recorded["kinds"].keys() | found["kinds"].keys())
    every = {kind: added(recorded["kinds"].get(kind, {}), found["kinds"].get(kind, {})) for kind in kinds}
    return {
        "total": added(recorded["total"], found["total"]),
        **{key: recorded[key] + sign * found[key] for key in ("inputs", "shipped")},
        "kinds": {kind: row for kind, row in every.items() if row["mutants"]},
        **{key: rows(key) for key in ("missed", "ill_formed", "harmless")},
    }


def bases(only: list[str] | None, shipped: bool) -> Mapping[str, str]:
    """Placed modules by name."""
    found = {name: placed(text) for name, text in INPUTS.items() if not only or name in only}
    if shipped:
        from test.protocol import shipped as library

        with tempfile.TemporaryDirectory() as folder:
            found |= library.texts(Path(folder), only)
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", help="a composition")
    parser.add_argument("--kind", action="append", help="a kind of change")
    parser.add_argument("--verbose", action="store_true", help="show every mutant")
    parser.add_argument("--simulate", action="store_true", help="the simulator alone")
    parser.add_argument("--small", action="store_true", help="without the shipped compositions")
    parser.add_argument("--output", type=Path, help="where the numbers go")
    parser.add_argument("--add", action="store_true", help="add to the recorded numbers")
    parser.add_argument("--instead", type=Path, metavar="NUMBERS", help="with --add: what is taken out before")
    chosen = parser.parse_args(arguments)
    start = time.perf_counter()
    judged: list[Judged] = []
    undecided = 0
    for base, text in bases(chosen.only, not chosen.small).items():
        for mutant in mutants(base, text, 1 if base in INPUTS else SHIPPED):
            if chosen.kind and mutant.kind not in chosen.kind:
                continue
            found = decide(mutant, prove=not chosen.simulate)
            if found is None:
                undecided += 1
                continue
            judged.append(found)
            odd = (found.missed or found.harmless) and not chosen.simulate
            if chosen.verbose or odd:
                word = "MISSED" if found.missed else "HARMLESS" if found.harmless else "agreed"
                ids = ", ".join(found.refused)
                print(f"{word} {base}, {mutant.kind}, {mutant.what}\n    {found.problem}\n    {ids}", flush=True)
    numbers = summary(judged, undecided)
    print(json.dumps(numbers["total"]), f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    if chosen.add:
        numbers = combined(json.loads(RESULTS.read_text()), numbers)
        if chosen.instead:
            numbers = combined(numbers, json.loads(chosen.instead.read_text()), -1)
        RESULTS.write_text(json.dumps(numbers, indent=1) + "\n")
    elif chosen.output or not (chosen.only or chosen.kind or chosen.simulate or chosen.small):
        (chosen.output or RESULTS).write_text(json.dumps(numbers, indent=1) + "\n")
    return int(any(one.missed for one in judged) and not chosen.simulate)


if __name__ == "__main__":
    sys.exit(main())
