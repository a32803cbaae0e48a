"""Names of torch's attention kernels, what there are parts for, and how one that no folder holds is linked."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import pipelink
from pipelink import LinkError, runtime
from pipelink.components import attention as parts
from pipelink.components.gemm import Composer, Objects
from pipelink.torch import __main__ as command
from pipelink.torch import linking, table
from pipelink.torch.table import AttentionEntry

NAMES = {
    "attention-dense-64": AttentionEntry("dense", 64),
    "attention-varlen-causal-256-f16": AttentionEntry("varlen-causal", 256, "f16"),
    "attention-split-lengths-causal-128-p16-softcap": AttentionEntry(
        "split-lengths-causal", 128, pack=16, score="softcap"
    ),
    "attention-split-lengths-128-p4-page64-sinks_f16": AttentionEntry(
        "split-lengths", 128, pack=4, page=64, sink="f16"
    ),
    "attention-plan-64-f16-bias_bf16-sinks_f32": AttentionEntry("plan", 64, "f16", score="bias_bf16", sink="f32"),
}
NONE = [
    "attention", "attention-dense", "attention-dense-96", "attention-dense-64-p4", "attention-plan-256",
    "attention-split-256", "attention-split-64-alibi", "attention-blocks-128-softcap-sinks_bf16",
    "attention-dense-64-softcap-alibi", "attention-dense-64-p1",
    "attention-paged-64", "attention-paged-256-page16", "attention-dense-64-page16", "attention-paged-64-f16-page16",
    "attention-split-lengths-64-page16", "attention-paged-64-page32",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_say_what_a_kernel_consists_of(name: str) -> None:
    assert NAMES[name].name == name
    assert AttentionEntry.named(name) == AttentionEntry.named(f"{name}.plk") == NAMES[name]


@pytest.mark.parametrize("name", NONE)
def test_what_names_no_kernel(name: str) -> None:
    assert AttentionEntry.named(name) is None


def test_the_listed_kernels_have_names_of_their_own() -> None:
    assert len({entry.name for entry in table.ATTENTION}) == len(table.ATTENTION)
    assert all(AttentionEntry.named(entry.name) == entry for entry in table.ATTENTION)


def test_the_table_is_that_of_the_parts() -> None:
    assert {*table.FULL, *table.LISTS, *table.SPLIT, *table.PAGED} == {*parts.VARIANTS}
    assert tuple(parts.SCORES) == table.SCORES
    assert tuple(parts.SINKS) == table.SINKS
    assert (table.ELEMENTS, table.PACKS, table.PAGES) == (parts.ELEMENTS, parts.PACKS, parts.PAGES)
    assert {d: shape.queries for d, shape in parts.SHAPES.items()} == table.TILES


def composed(entry: AttentionEntry, objects: Objects) -> pipelink.Kernel:
    kernel = pipelink.Kernel("attention", target="sm_90a")
    parts.add_attention(Composer(kernel, objects), **entry.parts(), output="lse")
    return kernel


def test_what_the_table_has_can_be_composed(objects: Objects) -> None:
    """Every variant, element and pack, and every score and sink: all components are there."""
    base = [
        AttentionEntry(variant, d, element, pack, page)
        for variant in parts.VARIANTS
        for d in parts.SHAPES
        for element in parts.ELEMENTS
        for pack in parts.PACKS
        for page in (None, *parts.PAGES)
    ]
    more = [
        AttentionEntry("window", d, score=score, sink=sink)
        for d in parts.SHAPES
        for score in parts.SCORES
        for sink in parts.SINKS
    ]
    there = [entry for entry in (*base, *more) if not entry.lacking()]
    assert len(there) > 150
    for entry in there:
        composed(entry, objects)


@pytest.mark.parametrize(
    "entry",
    [AttentionEntry("split", 64, score="alibi"), AttentionEntry("split-lengths", 128, pack=4, score="bias_f32")],
    ids=lambda entry: entry.name,
)
def test_what_the_table_lacks_is_refused_by_the_link(objects: Objects, entry: AttentionEntry) -> None:
    assert entry.lacking()
    with pytest.raises(LinkError, match="plc_rows"):
        composed(entry, objects).link(cache=objects.cache)


@pytest.mark.parametrize(
    "entry",
    [
        AttentionEntry("split-lengths", 64, pack=4, page=64),
        AttentionEntry("blocks", 128, score="softcap", sink="bf16"),
        AttentionEntry("window", 64, score="bias_f32"),
        AttentionEntry("dense", 128, score="bias_f32"),
        AttentionEntry("causal", 256, score="bias_f32"),
    ],
    ids=lambda entry: entry.name,
)
def test_what_the_core_has_no_register_for_would_spill(objects: Objects, entry: AttentionEntry) -> None:
    assert entry.lacking()
    with pytest.raises(LinkError, match="audit-spill"):
        composed(entry, objects).link(cache=objects.cache)


@pytest.mark.parametrize("entry", [AttentionEntry("split", 256), AttentionEntry("plan", 256)], ids=lambda x: x.name)
def test_what_the_table_lacks_has_no_components(objects: Objects, entry: AttentionEntry) -> None:
    assert entry.lacking()
    with pytest.raises(LinkError, match=r"\[unknown-component\]|\[requirement|plc_"):
        composed(entry, objects).link(cache=objects.cache)


def test_a_kernel_is_linked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINK_CACHE_DIR", str(tmp_path))
    package = linking.linked_package("attention-causal-64-softcap")
    assert package is not None
    kernel = runtime.load(package)
    assert {"softcap", "lse"} <= {a.name for a in kernel.contract.arguments}

    def again(*_: Any, **__: Any) -> Any:
        raise AssertionError("linked again")

    monkeypatch.setattr(subprocess, "run", again)
    assert linking.linked_package("attention-causal-64-softcap") == package


def test_a_kernel_that_cannot_be_linked_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINK_CACHE_DIR", str(tmp_path))
    with pytest.raises(LinkError, match="'attention-dense-96' cannot be linked") as caught:
        linking.linked_package("attention-dense-96")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.id == "no-image"
    assert "is no kernel's name" in diagnostic.notes[0].message


@pytest.mark.parametrize(
    ("said", "notes"),
    [
        ("loading\nerror: it spills [audit-spill]\nnote: here\n", ["error: it spills [audit-spill]", "note: here"]),
        ("Traceback (most recent call last):\n  File x\nMemoryError\n", ["MemoryError"]),
        ("", []),
    ],
)
def test_what_the_linker_said_is_told_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, notes: list[str]
) -> None:
    monkeypatch.setenv("PIPELINK_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1, "", said))
    with pytest.raises(LinkError, match="'attention-dense-64' cannot be linked") as caught:
        linking.linked_package("attention-dense-64")
    assert [note.message for note in caught.value.diagnostics[0].notes] == notes


def test_no_kernel_is_linked_without_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "find_spec", lambda _: None)
    assert linking.linked_package("attention-dense-64") is None


def test_build_links_the_one_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["build", str(tmp_path), "--only", "attention-split-64"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["attention-split-64.plk"]  # and none whose name goes on
    assert command.main(["build", str(tmp_path), "--only", "attention-split-65"]) == 1
    assert "[usage]" in capsys.readouterr().err
