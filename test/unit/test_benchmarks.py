"""The configurations, and what ``python -m benchmarks`` makes of their results.  What each links to is its own job."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import inspection, launch, report, store
from benchmarks.configurations import BY_NAME, CONFIGURATIONS, Configuration
from benchmarks.families.attention import Attention
from benchmarks.families.gemm import MODELS, Gemm
from benchmarks.plot import Plot, Series
from benchmarks.store import Entry
from pipelink.components import attention, gemm
from pipelink.package import PackageImage, package_bytes
from pipelink.target import TARGETS

LINKED = {
    "identical": True, "difference": [], "instructions": {"linked": 10, "monolith": 10},
    "registers": {"linked": 168, "monolith": 168}, "stack": 0, "smem_bytes": 1024, "threads": 128, "calls": 0,
    "units": dict.fromkeys(inspection.UNITS, 1), "audit": True, "link_s": 1.0, "audit_s": 0.3, "compile_s": 4.0,
    "compile/link": 4.0, "linked": "now", "with": {"toolkit": "13.0", "cores": 2, "rounds": 3},
}  # fmt: skip
MACHINE = {"gpu": "NVIDIA H200", "driver": "1", "toolkit": "13.0", "torch": "2.11", "pairs": 12}


def timed(*configurations: Configuration, **machine: Any) -> dict[str, Entry]:
    """Results on all shapes of the configurations, of the code ``now``."""
    ratio = {"median": 1.0, "low": 0.99, "high": 1.01}
    figures = {"us": {"linked": 1.0}, "tflops": 600.0, "ratio": {"monolith": ratio, "product": ratio}}
    one = {"linked": "now", "correct": True, **figures, "with": MACHINE | machine}
    return {c.entry(shape): one for c in configurations for shape in c.shapes}


def test_each_configuration_is_there_once() -> None:
    assert len(BY_NAME) == len(CONFIGURATIONS) >= 51
    assert {c.target for c in CONFIGURATIONS} <= TARGETS.keys()
    assert {c.mainloop for c in CONFIGURATIONS if isinstance(c, Gemm)} >= gemm.MAINLOOPS.keys()
    bf16 = {name for name, epilogue in gemm.EPILOGUES.items() if epilogue.element == "bf16"}
    assert {c.epilogue for c in CONFIGURATIONS if isinstance(c, Gemm)} >= bf16
    attentions = [c for c in CONFIGURATIONS if isinstance(c, Attention)]
    assert {c.kind for c in attentions} == attention.VARIANTS.keys()
    assert {(c.dimension, c.element) for c in attentions} == set(
        itertools.product(attention.SHAPES, attention.ELEMENTS)
    )
    assert {c.score.partition("_")[0] for c in attentions} == {"plain", "softcap", "alibi", "bias"}
    assert all(c.name.startswith("attention_") for c in attentions)


def test_one_configuration_is_identical_to_its_monolith(tmp_path: Path) -> None:
    found = inspection.inspect("cp_async-store-grouped_tiles-sm_90a", str(tmp_path), 1, None)
    assert found is not None
    assert "error" not in found, found
    assert found["identical"], found["difference"]
    assert found["registers"]["linked"] == found["registers"]["monolith"]
    assert inspection.inspect("cp_async-store-grouped_tiles-sm_90a", str(tmp_path), 1, found) is None
    other = found | {"sources": "other"}
    again = inspection.inspect("cp_async-store-grouped_tiles-sm_90a", str(tmp_path), 1, other)
    assert again == found, "other sources of the same machine code are not measured again"


def test_the_last_line_counts(capsys: pytest.CaptureFixture[str]) -> None:
    names = list(BY_NAME)[:3]
    found = {name: dict(LINKED) for name in names}
    assert inspection.report(found) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 linked, 3 identical"
    found[names[0]]["identical"], found[names[1]] = False, {"error": "none"}
    assert inspection.report(found) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 linked, 1 identical"


def test_a_cute_link_must_be_three_times_faster(capsys: pytest.CaptureFixture[str]) -> None:
    name = next(name for name, c in BY_NAME.items() if c.cute)
    assert inspection.report({name: LINKED | {"compile/link": 2.9}}) == 1
    assert "links 2.90 times as fast as it compiles, not 3" in capsys.readouterr().out


def test_what_was_not_run_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    store.add(tmp_path / "inspect.json", "inspect", {c.name: LINKED for c in CONFIGURATIONS})
    store.add(tmp_path / "run.json", "run", timed(*(c for c in CONFIGURATIONS if c.runs)))
    tables = report.tables()
    for target in {c.target for c in CONFIGURATIONS}:
        rows = [line for line in tables["configurations"].splitlines() if f"| {target} |" in line]
        assert rows
        assert all(("not run" in row) == (target != "sm_90a") for row in rows)
        summary = [line for line in tables["architectures"].splitlines() if line.startswith(f"| {target} |")]
        assert all(("not run" in row) == (target != "sm_90a") for row in summary)
    assert tables["models"].count("\n| ") >= len(MODELS)
    assert report.plots()["speed.svg"].startswith("<svg")


def test_a_plot_holds_every_value_inside() -> None:
    series = [Series("a & b", {"x": (1.0, 0.9, 1.1), "y": (3.0, 2.9, 3.1)})]
    drawn = Plot("title", "label", ["x", "y"], series, (0.8, 1.2, 0.1)).svg()
    assert "a &amp; b" in drawn
    assert "prefers-color-scheme:dark" in drawn
    assert all(0 <= float(x) <= 780 for x in re.findall(r'cx="([\d.]+)"', drawn))


def test_the_names_of_series_stay_inside_a_plot() -> None:
    names = [letter * 30 for letter in "abcde"]
    drawn = Plot("title", "label", ["x"], [Series(name, {"x": (1, 1, 1)}) for name in names], (0.8, 1.2, 0.1)).svg()
    places = [re.search(rf'<text x="(\d+)" y="(\d+)">{name}<', drawn) for name in names]
    assert all(place and int(place[1]) + 7 * 30 <= 780 for place in places)
    assert len({place.groups() for place in places if place}) == len(names)


LAUNCH: dict[str, Any] = {
    "kernel": "gemm",
    "arguments": [
        {"name": "a", "kind": "tensor", "element": "bf16", "shape": ["M", "K"]},
        {"name": "b", "kind": "tensor", "element": "bf16", "shape": ["N", "K"]},
        {"name": "out", "kind": "tensor", "element": "bf16", "shape": ["M", "N"], "access": "write"},
    ],
    "dimensions": ["M", "N", "K"],
    "grid": ["ceildiv(M, 128)"],
    "threads": 128,
    "smem_bytes": 0,
    "parameters": {
        "bytes": 64,
        "fields": [{"name": "out", "offset": 0, "bytes": 8, "kind": "pointer", "tensor": "out"}],
    },
}


def test_the_cost_of_launches(tmp_path: Path) -> None:
    """Without a GPU; what the file holds of the other mode stays."""
    package, output = tmp_path / "gemm.plk", tmp_path / "launch.json"
    package.write_bytes(package_bytes("gemm", [PackageImage("sm_90a", b"cubin", LAUNCH, 32, "13.0")]))
    output.write_text(json.dumps({"benchmark": "launch", "gpu": {"new_us": 1.0}}))
    command = [sys.executable, launch.__file__, str(package), "--calls", "100", "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"known +[\d.]+ µs\nnew +[\d.]+ µs\n", done.stdout)
    found = json.loads(output.read_text())
    assert found["gpu"] == {"new_us": 1.0}
    assert 0 < found["stand_in"]["known_us"] < found["stand_in"]["new_us"]


def test_the_signals_are_linked_where_there_is_no_torch(tmp_path: Path) -> None:
    script, package = Path(store.__file__).with_name("signals.py"), tmp_path / "round_trip.plk"
    subprocess.run([sys.executable, script, "--link", package], check=True, capture_output=True)
    assert package.stat().st_size
