"""Results of benchmarks: what is published is not empty, runs merge, and machine code says what results belong to."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest

from benchmarks import linking, report, stale, store
from benchmarks.__main__ import parser
from benchmarks.configurations import BY_NAME, CONFIGURATIONS, Configuration, family_of
from benchmarks.families import FAMILIES
from benchmarks.families.attention import ATTENTION
from benchmarks.families.base import Family, shape_text
from benchmarks.machine_code import digest_of, digest_of_package
from benchmarks.store import Entry
from pipelink.package import PackageImage, package_bytes
from test.unit.test_benchmarks import LINKED, timed

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
RUNNING = next(c for c in CONFIGURATIONS if c.runs)


# ------------------------------------------------------------------------------------------------------- publication
def empty_blocks(text: str) -> list[str]:
    """The names of marked blocks that hold nothing, or a table's header without a row."""
    found: list[str] = []
    for name, block in re.findall(r"<!-- begin ([\w-]+) -->\n(.*?)<!-- end \1 -->", text, re.S):
        lines = block.strip().splitlines()
        rules = [index for index, line in enumerate(lines) if re.fullmatch(r"\|(-+\|)+", line)]
        if not lines or any(index + 1 == len(lines) or not lines[index + 1].startswith("|") for index in rules):
            found.append(name)
    return found


def test_an_empty_table_is_seen() -> None:
    rule = "| a | b |\n|---|---|\n"
    assert empty_blocks(f"<!-- begin x -->\n{rule}| 1 | 2 |\n\nNote.\n<!-- end x -->") == []
    assert empty_blocks(f"<!-- begin x -->\n{rule}\nNote.\n<!-- end x -->") == ["x"]
    assert empty_blocks(f"<!-- begin x -->\n{rule}<!-- end x -->\n<!-- begin y -->\n<!-- end y -->") == ["x", "y"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_published_table_is_empty(page: Path) -> None:
    assert not empty_blocks(page.read_text())


@pytest.mark.parametrize(
    "name",
    [
        "families",
        "models",
        "gemm",
        "linker",
        "configurations",
        "architectures",
        "monoliths",
        "paged",
        "decode",
        "decoder",
    ],
)
def test_every_table_of_numbers_is_published_with_rows(name: str) -> None:
    blocks = [re.search(rf"<!-- begin {name} -->(.*?)<!-- end {name} -->", page.read_text(), re.S) for page in PAGES]
    assert any(block and re.search(r"\|---\|\n\|", block[1]) for block in blocks)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.plot], ids=lambda family: family.name)
def test_each_shape_has_a_mark_in_its_familys_plot(family: report.Family) -> None:
    drawn = (ROOT / "docs" / family.plot).read_text()
    legend, marks = (len(re.findall(rf'<circle class="s\d" .*r="{radius}"/>', drawn)) for radius in (5, 4))
    assert legend == sum(len(kind.plotted) for kind in family.kinds)
    assert marks == legend * len(family.shapes)


def test_sparse_attention_has_a_row_for_each_case_and_a_mean_for_each_peer(tmp_path: Path) -> None:
    with_ = {"gpu": "NVIDIA H200", "driver": "1", "torch": "2"}
    window = {"us": {"window": 250.0, "FlashAttention 4": 251.0}, "ratio": {"FlashAttention 4": [1.004, 1.0, 1.01]}}
    blocks = {
        "us": {"plan": 200.0, "FlexAttention, Triton": 400.0},
        "ratio": {"FlexAttention, Triton": [2.0, 1.9, 2.1]},
    }
    entries = {
        "window1024-128-4x16x4096": {**window, "linked": "window", "with": with_},
        "blocks10%-64-1x16x16384": {**blocks, "linked": "plan", "with": with_},
    }
    store.add(tmp_path / "sparse.json", "sparse", entries)
    with mock.patch.object(report, "RESULTS", tmp_path):
        text = report.tables()["sparse"]
    assert "| window 1024, 128 | 4 × 16 × 4096 | window | 250 | 251 | – | – | 1.004 | – | – |" in text
    assert "| blocks 10%, 64 | 1 × 16 × 16384 | plan | 200 | – | – | 400 | – | – | 2.000 |" in text
    assert "1.004 over FlashAttention 4; 2.000 over FlexAttention, Triton" in text


def test_prompts_over_pages_stand_beside_dense_ones_and_the_peer_that_was_there(tmp_path: Path) -> None:
    with_ = {"gpu": "NVIDIA H200", "driver": "1", "torch": "2"}
    alone = {"us": {"dense": 970.0, "paged": 1000.0}, "ratio": {"dense": [0.97, 0.965, 0.975]}, "with": with_}
    beside = {
        "us": {"dense": 480.0, "paged": 500.0, "FlashInfer": 550.0},
        "ratio": {"dense": [0.96, 0.955, 0.965], "FlashInfer": [1.1, 1.09, 1.11]},
        "with": with_,
    }
    store.add(tmp_path / "paged.json", "paged", {"page16-128-1x32(8)x16384": alone})
    with mock.patch.object(report, "RESULTS", tmp_path):
        text = report.tables()["paged"]
        assert "| 16 | 1 × 32(8) × 16384 | 1000 | 970 | 0.970 (0.965 to 0.975) |" in text
        assert "FlashInfer" not in text
        store.add(tmp_path / "paged.json", "paged", {"page64-128-4x16x4096": beside})
        text = report.tables()["paged"]
    assert "| 16 | 1 × 32(8) × 16384 | 1000 | 970 | – | 0.970 (0.965 to 0.975) | – |" in text
    assert "| 64 | 4 × 16 × 4096 | 500 | 480 | 550 | 0.960 (0.955 to 0.965) | 1.100 (1.090 to 1.110) |" in text
    assert "0.965 over linked, keys in a row; 1.100 over FlashInfer, pages." in text


def test_decoding_over_pages_is_compared_where_the_peer_was_there(tmp_path: Path) -> None:
    us = {"linked": 10.0, "paged": 11.0, "cuDNN": 9.5}
    one = {"us": us, "ratio": [0.95, 0.94, 0.96]}
    both = {"us": us | {"FlashInfer": 12.1}, "ratio": [0.95, 0.94, 0.96], "pages": [1.1, 1.0, 1.2]}
    with_ = {"gpu": "NVIDIA H200", "driver": "1", "torch": "2"}
    store.add(tmp_path / "decode.json", "decode", {"1x1024": {"same": one, "rotated": one, "with": with_}})
    with mock.patch.object(report, "RESULTS", tmp_path):
        text = report.tables()["decode"]
        assert "same: linked, pages of 64, µs" in text
        assert "FlashInfer" not in text
        store.add(tmp_path / "decode.json", "decode", {"8x8192": {"same": both, "rotated": both, "with": with_}})
        text = report.tables()["decode"]
    assert "| 1 × 1024 | 10.0 | 11.0 | 9.5 | – | 10.0 | 11.0 | 9.5 | – | 0.950 | 0.950 |" in text
    assert "| 8 × 8192 | 10.0 | 11.0 | 9.5 | 12.1 |" in text
    assert "both with pages: same 1.100, rotated 1.100." in text


def test_every_kind_of_a_family_is_in_the_tables() -> None:
    for family in FAMILIES:
        for kind in family.kinds:
            found = report.best(report.RESULTS / "run.json", family, kind)
            assert list(found) == list(map(shape_text, family.shapes)), kind.title


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_measured_as_a_whole(family: Family) -> None:
    """Each configuration of a Hopper GPU has a result, unless none of its family has one yet, as its table says."""
    entries = store.read(store.RESULTS / "run.json")
    measured = {name.partition("/")[0] for name, entry in entries.items() if "ratio" in entry}
    missing = [c for c in family.configurations if c.runs and c.name not in measured]
    if len(missing) == sum(c.runs for c in family.configurations):
        rows = report.tables()["monoliths"].splitlines()
        assert all(
            any(row.startswith(f"| {title}") and "not measured" in row for row in rows) for title in family.groups
        )
    else:
        assert [c.name for c in missing] == []


def test_each_configuration_stands_in_one_group_beside_its_monolith() -> None:
    for family in FAMILIES:
        assert all(sum(fits(c) for fits in family.groups.values()) == 1 for c in family.configurations)


def test_what_is_near_its_monolith(tmp_path: Path) -> None:
    """The same machine code, or other code that takes so nearly the same time."""
    chosen = [c for c in ATTENTION.configurations if c.runs][:4]
    entries = {c.name: LINKED | {"identical": c is chosen[0]} for c in chosen}
    store.add(tmp_path / "inspect.json", "inspect", entries)
    with mock.patch.object(report, "RESULTS", tmp_path):
        assert "| attention | 4 | 1 | 0 | not measured | 1 of 4 |" in report.tables()["monoliths"]
        results = timed(*chosen[:3])
        for c, ratio in zip(chosen, (1.01, 1.0019, 0.9979), strict=False):
            for shape in c.shapes:
                one = results[c.entry(shape)]
                results[c.entry(shape)] = one | {"ratio": {"monolith": {"median": ratio, "low": 0.9, "high": 1.1}}}
        store.add(tmp_path / "run.json", "run", results)
        assert "| attention | 4 | 1 | 3 | 1.0033 | 2 of 4 |" in report._monoliths(tmp_path / "inspect.json")


def test_each_configuration_is_inspected_and_its_code_recorded() -> None:
    for name in ("inspect", stale.CODE):
        assert BY_NAME.keys() <= store.read(store.RESULTS / f"{name}.json").keys()


def test_a_table_or_plot_without_rows_is_not_generated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    assert report.tables() == report.plots() == {}
    families = [f for f in FAMILIES if f.kinds]
    others = [c for f in families for c in f.configurations if c.runs and not any(k.fits(c) for k in f.kinds)]
    store.add(tmp_path / "run.json", "run", timed(*others))
    with pytest.raises(ValueError, match="has no rows"):
        report.tables()
    with pytest.raises(ValueError, match="nothing to show"):
        report.plots()


# ------------------------------------------------------------------------------------------------------------- merge
def test_a_partial_run_keeps_what_others_measured(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "run.json", tmp_path / "elsewhere.json"
    old = {name: {"value": 1, "with": {"gpu": "A", "date": "2026-01-01"}} for name in ("a/1", "b/1", "gone/1")}
    new = {name: {"value": 2, "with": {"gpu": "B", "date": "2026-01-02"}} for name in ("b/1", "c/1")}
    store.add(path, "run", old)
    store.add(elsewhere, "run", new)
    assert store.merge(elsewhere, tmp_path) == (path, 2)
    assert store.read(path) == old | new


def test_a_run_does_not_merge_into_another_benchmarks_file(tmp_path: Path) -> None:
    store.add(tmp_path / "found.json", "gemm", {"a": {}})
    with pytest.raises(ValueError, match="holds results of 'gemm', not of 'run'"):
        store.add(tmp_path / "found.json", "run", {"b": {}})
    assert store.read(tmp_path / "found.json") == {"a": {}}


def test_each_write_keeps_what_another_process_wrote(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    for name in ("a", "b", "c"):
        store.add(path, "run", {name: {"with": {"date": "1"}}})
    assert list(store.read(path)) == ["a", "b", "c"]
    assert [file.name for file in tmp_path.iterdir()] == ["found.json"]
    json.loads(path.read_text())


def test_facts_of_several_runs_stand_beside_each_other() -> None:
    entries: list[Entry] = [{"with": {"gpu": "H200", "pairs": 12}}, {"with": {"gpu": "H100", "pairs": 10}}, {}]
    assert [store.facts(entries, name) for name in ("gpu", "pairs", "driver")] == [
        "H100, H200",
        "10 to 12",
        "not recorded",
    ]
    assert store.facts(entries[:1], "pairs") == "12"


def test_tables_of_several_runs_name_all_machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    running = [c for c in CONFIGURATIONS if c.runs]
    store.add(tmp_path / "run.json", "run", timed(*running[::2]))
    store.add(tmp_path / "run.json", "run", timed(*running[1::2], driver="2", pairs=24))
    table = report.tables()["models"]
    assert "driver 1, 2" in table
    assert "12 to 24 interleaved pairs" in table
    assert report.MARK not in table


def test_results_of_earlier_code_are_marked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    store.add(tmp_path / "inspect.json", "inspect", {c.name: LINKED for c in CONFIGURATIONS})
    store.add(tmp_path / "run.json", "run", timed(*(c for c in CONFIGURATIONS if c.runs)))
    digests = {c.name: {"linked": "now"} for c in CONFIGURATIONS}
    store.add(tmp_path / "code.json", stale.CODE, digests)
    assert not any(report.MARK in table for table in report.tables().values())
    store.add(tmp_path / "code.json", stale.CODE, {RUNNING.name: {"linked": "later"}})
    tables = report.tables()
    marked = [line for line in tables["configurations"].splitlines() if report.MARK in line]
    assert marked[-1] == report.FOOTNOTE
    assert [line.startswith(f"| {RUNNING.title} {report.MARK} | {RUNNING.target} |") for line in marked] == [
        True,
        False,
    ]
    assert all(tables[name].endswith(report.FOOTNOTE) for name in ("architectures", "families", "models"))


# -------------------------------------------------------------------------------------------------------------- code
def cubin(text: bytes, **others: bytes) -> bytes:
    """An ELF64 file with a kernel's code and other sections."""
    sections = {"": b"", ".text.gemm": text, **{f".{name}": data for name, data in others.items()}}
    names = b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    body, table, position = b"", b"", 0
    for name, data in {**sections, ".shstrtab": names}.items():
        table += struct.pack("<IIQQQQIIQQ", position, 1, 0, 0, 64 + len(body), len(data), 0, 0, 1, 0)
        body += data
        position += len(name) + 1
    count = len(sections) + 1
    head = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01", 2, 190, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, count, count - 1
    )
    return head + body + table


def test_a_digest_follows_machine_code_alone() -> None:
    assert digest_of(cubin(b"code")) == digest_of(cubin(b"code", note=b"other", strtab=b"names"))
    assert len({digest_of(found) for found in (cubin(b"code"), cubin(b"edoc"))}) == 2
    assert digest_of(cubin(b"code")) != digest_of(cubin(b"code", **{"nv.constant3": b"1"}))
    with pytest.raises(ValueError, match="not a cubin"):
        digest_of(b"code")
    with pytest.raises(ValueError, match="no machine code"):
        digest_of(cubin(b"").replace(b".text", b".data"))


def test_a_digest_does_not_follow_other_members_of_a_package(tmp_path: Path) -> None:
    def package(name: str, code: bytes, toolkit: str, **details: str) -> Path:
        image = PackageImage("sm_90a", cubin(code, note=toolkit.encode()), {"smem_bytes": 1}, 168, toolkit)
        (tmp_path / name).write_bytes(package_bytes(name, [image], details))
        return tmp_path / name

    first = digest_of_package(package("a.plk", b"code", "13.0"))
    assert first == digest_of_package(package("b.plk", b"code", "13.1", audit="more", map="other"))
    assert first != digest_of_package(package("c.plk", b"edoc", "13.0"))


# ------------------------------------------------------------------------------------------------------------- stale
def test_stale_says_what_is_missing_and_what_is_of_other_code() -> None:
    code: dict[str, Entry] = {RUNNING.name: {"linked": "now"}}
    inspected: dict[str, Entry] = {RUNNING.name: LINKED}
    results = timed(RUNNING)
    assert stale.reasons(RUNNING, "now", code, inspected, results) == []
    assert stale.reasons(RUNNING, "now", {}, {}, results) == [
        "not inspected",
        "its digest is not recorded (`stale --record`)",
    ]
    first, second, *rest = (RUNNING.entry(shape) for shape in RUNNING.shapes)
    some = {name: results[name] for name in rest} | {second: results[second] | {"linked": "before"}}
    shapes = [name.partition("/")[2] for name in (first, second)]
    assert stale.reasons(RUNNING, "now", code, inspected, some) == [
        f"not timed on {shapes[0]}",
        f"timed with other machine code on {shapes[1]}",
    ]
    other = stale.reasons(RUNNING, "later", code, inspected, results)
    assert [reason.partition(" with ")[0] for reason in other[:2]] == ["inspected", "timed"]


def test_a_configuration_that_no_gpu_runs_is_not_stale_untimed() -> None:
    c = next(c for c in CONFIGURATIONS if not c.runs)
    assert stale.reasons(c, "now", {c.name: {"linked": "now"}}, {c.name: LINKED}, {}) == []


def test_stale_fails_where_it_lists_something(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Linked:
        cubin = cubin(b"code")

    monkeypatch.setattr(stale, "RESULTS", tmp_path)
    monkeypatch.setattr(linking, "cached_objects", lambda: None)
    monkeypatch.setattr(linking, "link", lambda configuration, objects: (None, Linked))
    digest = digest_of(Linked.cubin)
    store.add(tmp_path / "inspect.json", "inspect", {RUNNING.name: LINKED | {"linked": digest}})
    results = {name: entry | {"linked": digest} for name, entry in timed(RUNNING).items()}
    store.add(tmp_path / "run.json", "run", results)
    assert stale.run([RUNNING.name], recorded=True) == 0
    assert capsys.readouterr().out.splitlines() == ["0 of 1 configurations stale"]
    monkeypatch.setattr(Linked, "cubin", cubin(b"edoc"))
    assert stale.run([RUNNING.name], recorded=False) == 1
    listed, last = capsys.readouterr().out.splitlines()
    assert listed.startswith(f"{RUNNING.name}: inspected with other machine code; timed with other machine code on")
    assert last == "1 of 1 configurations stale"


def test_a_configuration_knows_its_family() -> None:
    assert all(c in family_of(c).configurations for c in CONFIGURATIONS)


# --------------------------------------------------------------------------------------------------------------- run
class Kernel:
    def close(self) -> None: ...


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """benchmarks/measure.py without torch and without a GPU: every kernel is right and as fast as all others."""
    ratio = {"median": 1.0, "low": 0.99, "high": 1.01}
    figures = {"relative_error": 0.0, "us": {}, "ratio": {"monolith": ratio}, "tflops": 1.0}
    for name in ("torch", "benchmarks.timing"):
        monkeypatch.setitem(sys.modules, name, mock.MagicMock())
    monkeypatch.delitem(sys.modules, "benchmarks.measure", raising=False)
    found = importlib.import_module("benchmarks.measure")
    monkeypatch.setattr(found, "timing", mock.MagicMock(machine=lambda: {"gpu": "H200"}))
    monkeypatch.setattr(found, "OUTPUT", tmp_path / "run.json")
    monkeypatch.setattr(found, "runtime", mock.MagicMock(load=lambda path: Kernel()))
    monkeypatch.setattr(found, "_check", lambda *_: {"relative_error": 0.0})
    monkeypatch.setattr(found, "_time", lambda *_: dict(figures))
    for c in CONFIGURATIONS[:3]:
        for suffix in ("plk", "monolith.plk"):
            image = PackageImage("sm_90a", cubin(c.name.encode()), {}, 168, "13.0")
            (tmp_path / f"{c.name}.{suffix}").write_bytes(package_bytes("gemm", [image]))
    yield found
    sys.modules.pop("benchmarks.measure", None)


def flags(folder: Path, *more: str) -> argparse.Namespace:
    return parser().parse_args(["run", str(folder), *more])


def test_a_run_measures_what_is_not_known(measure: ModuleType, tmp_path: Path) -> None:
    names = [c.name for c in CONFIGURATIONS[:3]]
    other = {"of another GPU/1x1x1": {"correct": True, "with": {"gpu": "A100"}}}
    store.add(tmp_path / "run.json", "run", other)
    assert measure.run(names, flags(tmp_path)) == 0
    found = store.read(tmp_path / "run.json")
    expected = [c.entry(s) for c in CONFIGURATIONS[:3] for s in (*family_of(c).tails, *c.shapes)]
    assert list(found) == [*other, *expected]
    assert found[expected[0]]["linked"] == digest_of(cubin(names[0].encode()))
    assert all(found[name]["with"]["gpu"] == "H200" for name in expected)

    measured: list[str] = []
    measure.measure = lambda packages, parts, pairs: measured.append(packages.configuration.name) or iter(())
    output = tmp_path / "own.json"
    assert measure.run(names, flags(tmp_path, "--output", str(output))) == 0
    assert measured == [], "everything is committed"
    store.add(output, "run", {name: found[name] for name in expected if name.startswith(names[0])})
    measure.run(names, flags(tmp_path, "--output", str(output), "--again"))
    assert measured == names[1:], "what the file holds is not measured again"


def test_a_run_that_cannot_go_on_loses_nothing(measure: ModuleType, tmp_path: Path) -> None:
    names = [c.name for c in CONFIGURATIONS[:3]]
    measure.run(names, flags(tmp_path))
    before = store.read(tmp_path / "run.json")

    def crash(configuration: Configuration, *_: object) -> Entry:
        if configuration.name == names[1]:
            raise RuntimeError("an illegal memory access was encountered")
        return {"relative_error": 0.0}

    def lost() -> None:
        raise RuntimeError("the context is gone")

    measure._check = crash
    assert measure.run(names, flags(tmp_path, "--again")) == 1
    assert store.read(tmp_path / "run.json").keys() == before.keys()
    measure.torch.cuda.synchronize = lost
    assert measure.run(names, flags(tmp_path, "--again")) == 1
    after = store.read(tmp_path / "run.json")
    assert all(after[c.entry(shape)]["correct"] for c in CONFIGURATIONS[:3] for shape in c.shapes)


def test_a_wrong_kernel_is_a_result(measure: ModuleType, tmp_path: Path) -> None:
    def wrong(*_: object) -> Entry:
        raise AssertionError("3 of 4 wrong")

    c = CONFIGURATIONS[0]
    measure._time = wrong
    assert measure.run([c.name], flags(tmp_path)) == 1
    found = store.read(tmp_path / "run.json")
    assert all(found[c.entry(shape)]["correct"] for shape in family_of(c).tails)
    assert [found[c.entry(shape)]["error"] for shape in c.shapes] == ["3 of 4 wrong"] * len(c.shapes)


def test_a_run_stops_after_its_minutes(measure: ModuleType, tmp_path: Path) -> None:
    names = [c.name for c in CONFIGURATIONS[:3]]
    assert measure.run(names, flags(tmp_path, "--minutes", "1e-9")) == 3
    assert not (tmp_path / "run.json").exists()
