"""The machine code of every composition equals its monolith's, and its audit is clean."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import pipelink
from pipelink.backend import sass, toolchain
from test.compositions import COMPOSITIONS, EPILOGUES, GEMMS, MAINLOOPS, SCHEDULERS, TEST_COMPONENTS, compose
from test.compositions import objects as compile_objects


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_machine_code_equals_the_monoliths(name: str, folder: Path) -> None:
    composition = COMPOSITIONS[name]
    kernel = compose(composition, folder)
    linked = kernel.link(cache=False)[composition.target]
    source = kernel.monolith([composition.folder])
    monolith = toolchain.compile_cubin(
        source, f"{name}.cu", composition.target, include_dirs=[composition.folder, toolchain.transfer_dir()]
    )
    assert sass.compare(linked.cubin, monolith) == []
    assert linked.audit.ok


def test_every_gemm_is_there() -> None:
    assert len(GEMMS) == len(EPILOGUES) * len(SCHEDULERS) * len(MAINLOOPS) == 24


def test_swapping_the_epilogue_recompiles_nothing(folder: Path) -> None:
    """The other objects stay the same bytes, and so does each epilogue in every kernel it is linked into."""

    def digests() -> dict[str, str]:
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.o")}

    for epilogue in EPILOGUES:
        compose(COMPOSITIONS[f"gemm_wgmma_128x256x64_{epilogue}_grouped_tiles"], folder)
    before = digests()
    for epilogue in EPILOGUES:
        compose(COMPOSITIONS[f"gemm_wgmma_128x256x64_{epilogue}_grouped_tiles"], folder).link(cache=False)
    assert digests() == before


@pytest.mark.parametrize("statements", [3000])
def test_two_instances_of_a_large_body_stay_inlined(statements: int, tmp_path: Path) -> None:
    """Thousands of instructions, instantiated twice: no call, each instance with its own barrier and memory."""
    body = "\n".join(
        f'  asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(y), "f"({i}.5f));' for i in range(statements)
    )
    source = tmp_path / "big.cu"
    source.write_text((TEST_COMPONENTS / "big.cu.in").read_text().replace("@BODY@", body))
    made = compile_objects(tmp_path, [(source, "sm_90a")])
    kernel = pipelink.Kernel("twice")
    for which in "ab":
        kernel.add(made["big.cu"], name=which, result=f"result_{which}")
    kernel.grid(1, 1, 1)
    linked = kernel.link(cache=False)["sm_90a"]
    found = sass.count(sass.read(linked.cubin))
    assert found.calls == ()
    assert found.barrier_ids == (1, 2)
    assert found.instructions > 2 * statements
