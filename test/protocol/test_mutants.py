"""What can misbehave is refused: mutants of small compositions and random kernels, judged by an independent simulator.

A sample, always the same; ``python -m test.protocol.mutants`` judges all.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pipelink.support.diagnostics import LinkError
from test.protocol.inputs import INPUTS
from test.protocol.mutants import RESULTS, Mutant, combined, decide, explained, ill_formed, mutants, placed, proved
from test.protocol.random_kernels import ending_text, kernel_text, meeting_text

ONE_IN = 8  # mutants
RANDOM = 30  # random kernels of each kind


@pytest.mark.parametrize("name", INPUTS)
def test_nothing_is_wrong_with_what_mutants_are_made_of(name: str) -> None:
    assert proved(placed(INPUTS[name]))[0] == ()


@pytest.mark.parametrize("name", INPUTS)
def test_every_mutant_that_can_misbehave_is_refused(name: str) -> None:
    judged = [found for found in map(decide, mutants(name, placed(INPUTS[name]), ONE_IN)) if found is not None]
    assert judged
    assert [(one.mutant.what, one.problem) for one in judged if one.missed] == []
    assert [
        (one.mutant.what, one.refused) for one in judged if one.harmless and not (ill_formed(one) or explained(one))
    ] == []


@pytest.mark.parametrize("make", [kernel_text, ending_text, meeting_text])
def test_random_kernels_that_can_misbehave_are_refused(make: Callable[[int], str]) -> None:
    missed: list[tuple[int, str | None]] = []
    for seed in range(RANDOM):
        try:
            text = placed(make(seed))
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


def test_of_harmless_mutants_one_in_a_hundred_is_refused_at_most() -> None:
    total = json.loads(RESULTS.read_text())["total"]
    assert total["harmless_refused"] <= 0.01 * (total["mutants"] - total["misbehave"] - total["ill_formed"])


def test_numbers_of_a_run_are_added_and_taken_out() -> None:
    recorded = json.loads(RESULTS.read_text())
    twice = combined(recorded, recorded)
    assert twice["total"]["mutants"] == 2 * recorded["total"]["mutants"]
    assert twice["kinds"]["bulk store"]["refused"] == 2 * recorded["kinds"]["bulk store"]["refused"]
    once = combined(twice, recorded, -1)
    assert {**once, "harmless": [], "ill_formed": []} == {**recorded, "harmless": [], "ill_formed": []}
