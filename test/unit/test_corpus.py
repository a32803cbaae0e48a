"""The corpus is complete and honest: every kind has an entry, every entry a head, a fault with its id, and a fix."""

import re

import pytest

from pipelink.ir import parse
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.support.diagnostics import Diagnostic, LinkError
from test.corpus.heads import DECIDED, Entry, entries, kinds

ENTRIES = entries()
SEQUENCES = {"deadlock", "rate-mismatch", "slot-race", "arrival-count", "barrier-participation"}
_SPLIT = re.compile(r"^// -----$", re.M)


def name(entry: Entry) -> str:
    return f"{entry.area}/{entry.path.name}"


@pytest.mark.parametrize("area", kinds())
def test_every_kind_has_an_entry(area: str) -> None:
    shown = {entry.kind for entry in ENTRIES if entry.area == area}
    assert shown == set(kinds()[area])


@pytest.mark.parametrize("entry", ENTRIES, ids=name)
def test_head(entry: Entry) -> None:
    assert entry.kind
    assert entry.decided
    assert set(entry.decided) <= set(DECIDED)
    assert bool(re.fullmatch(r"https://\S+", entry.report)) == (entry.area == "reports")


@pytest.mark.parametrize("entry", ENTRIES, ids=name)
def test_the_fault_is_refused_by_its_id(entry: Entry) -> None:
    assert entry.ids or entry.decided == ("prevented",)
    for line in entry.path.read_text().splitlines():
        if "expected-error" in line:
            assert re.search(r"\[[a-z0-9-]+\]\}\}", line), line


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.path.suffix == ".mlir"], ids=name)
def test_the_fix_stands_beside_the_fault(entry: Entry) -> None:
    """A part that expects no error, where the file is split into parts."""
    text = entry.path.read_text()
    if "-verify-diagnostics" in text:
        parts = _SPLIT.split(text)
        assert any("expected-error" in part for part in parts)
        assert any("expected-error" not in part for part in parts)


def refused(part: str, pipeline: str) -> list[Diagnostic]:
    try:
        run_pipeline(parse_pipeline(pipeline), parse(part))
    except LinkError as problem:
        return list(problem.diagnostics)
    return []


def proved() -> list[Entry]:
    """Entries whose parts ``prove`` refuses; those that edit a placement are left to lit."""
    found = [entry for entry in ENTRIES if set(entry.ids) & SEQUENCES and "prove" in entry.decided]
    return [entry for entry in found if "-verify-diagnostics" in entry.path.read_text()]


@pytest.mark.parametrize("entry", proved(), ids=name)
def test_a_sequence_is_shown(entry: Entry) -> None:
    """Where steps lead to the fault, the diagnostic has them."""
    text = entry.path.read_text()
    pipeline = text.split("--pipeline=")[1].split()[0]
    found = [d for part in _SPLIT.split(text) for d in refused(part, pipeline) if d.id in SEQUENCES]
    assert found
    for diagnostic in found:
        assert diagnostic.trace is not None
        assert diagnostic.trace.steps
