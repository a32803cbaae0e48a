"""What can misbehave is refused: mutants of small compositions and random kernels, judged by an independent simulator.

A sample, always the same; ``python -m test.protocol.mutants`` judges all.
"""

from __future__ import annotations

import json

import pytest

from pipelink.support.diagnostics import LinkError
from test.protocol.inputs import INPUTS
from test.protocol.mutants import RESULTS, Mutant, decide, explained, mutants, placed, proved
from test.protocol.random_kernels import kernel_text

ONE_IN = 8  # mutants
RANDOM = 60  # random kernels


@pytest.mark.parametrize("name", INPUTS)
def test_nothing_is_wrong_with_what_mutants_are_made_of(name: str) -> None:
    assert proved(placed(INPUTS[name])) == ()


@pytest.mark.parametrize("name", INPUTS)
def test_every_mutant_that_can_misbehave_is_refused(name: str) -> None:
    chosen = [mutant for mutant in mutants(name, placed(INPUTS[name])) if mutant.chosen(ONE_IN)]
    judged = [found for found in map(decide, chosen) if found is not None]
    assert judged
    assert [(one.mutant.what, one.problem) for one in judged if one.missed] == []
    assert [(one.mutant.what, one.refused) for one in judged if one.harmless and explained(one) is None] == []


@pytest.mark.parametrize("block", range(4))
def test_random_kernels_that_can_misbehave_are_refused(block: int) -> None:
    missed: list[tuple[int, str | None]] = []
    for seed in range(block, RANDOM, 4):
        try:
            text = placed(kernel_text(seed))
        except LinkError:
            continue  # check has refused it
        found = decide(Mutant("random", "random", str(seed), text))
        if found is not None and found.missed:
            missed.append((seed, found.problem))
    assert missed == []


def test_the_recorded_run_missed_nothing() -> None:
    recorded = json.loads(RESULTS.read_text())
    assert recorded["total"]["mutants"] >= 300
    assert recorded["missed"] == []
    assert [row for row in recorded["harmless"] if row["why"] is None] == []
