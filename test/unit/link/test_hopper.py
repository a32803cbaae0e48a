"""What components of sm_90 can use beyond ports, in machine code; that each link equals its monolith is
test_compositions.py's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipelink import components
from pipelink.backend import sass
from test.compositions import TEST_COMPONENTS, Objects, compose


def texts(name: str, objects: Objects) -> list[str]:
    """The instructions with their operands."""
    return [found.text for found in sass.read(compose(name, objects).link().targets[0].cubin).instructions]


def having(found: list[str], word: str) -> list[str]:
    return [text for text in found if word in text]


def test_tma_adds_to_a_tensor_and_maps_are_prefetched(objects: Objects) -> None:
    found = texts("reduced_by_tma", objects)
    assert having(found, "UTMAREDG.2D.ADD")
    assert not having(found, "UTMASTG")
    assert len(having(found, "UTMACCTL.PF")) == 2, "the loader's map and the adder's"
    assert having(found, "UBLKPF")


def test_bytes_are_stored_without_a_tensor_map(objects: Objects) -> None:
    assert having(texts("bulk_stores", objects), "UBLKCP.G.S")


def test_a_in_registers_and_b_along_its_rows(objects: Objects) -> None:
    found = having(texts("row_product", objects), "HGMMA")
    assert len(found) == 4
    for text in found:
        assert "HGMMA.64x128x16.F32.BF16 R" in text
        assert ".tnspB" in text
        assert text.count("gdesc") == 1, "a is in registers"


def test_copies_say_how_the_cache_keeps_them(objects: Objects) -> None:
    assert all("desc[" in text for text in having(texts("row_product", objects), "UTMALDG"))
    plain = having(texts("gemm-wgmma_128x256x64-store-grouped_tiles", objects), "UTMALDG")
    assert plain
    assert not having(plain, "desc[")


@pytest.mark.parametrize(
    ("name", "source", "port", "policies", "opcode"),
    [
        ("gemm-cluster_128x256x64-store-paired_tiles", "sm90_gemm.cuh", "pl::ring<2, 8>, pl::by_tma",
         "pl::evict_first, pl::evict_last", "UTMALDG.2D"),
        ("matvec", "matvec.cu", "pl::ring<2, 8>, pl::by_bulk", "pl::evict_first", "UBLKCP"),
    ],
)  # fmt: skip
def test_multicasts_and_bulk_copies_too(
    name: str, source: str, port: str, policies: str, opcode: str, tmp_path: Path
) -> None:
    for folder in (components.FOLDER, TEST_COMPONENTS):
        shutil.copytree(folder, tmp_path / "sources", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.py"))
    changed = tmp_path / "sources" / source
    changed.write_text(changed.read_text().replace(port, f"{port}, pl::l2<{policies}>"))
    found = having(texts(name, Objects(tmp_path, sources=(tmp_path / "sources",))), opcode)
    assert found
    assert all("desc[" in text for text in found)
    if "cluster" in name:
        assert having(found, "MULTICAST")
