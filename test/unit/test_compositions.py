"""The machine code of every composition equals its monolith's, and its audit is clean."""

from __future__ import annotations

import hashlib

import pytest

import pipelink
from pipelink.backend import sass, toolchain
from test.compositions import COMPOSITIONS, EPILOGUES, FOLDERS, GEMMS, MAINLOOPS, OTHERS, SCHEDULERS, Objects, compose


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Objects:
    return Objects(tmp_path_factory.mktemp("objects"))


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_machine_code_equals_the_monoliths(name: str, objects: Objects) -> None:
    kernel = compose(name, objects)
    linked = kernel.link(cache=False)["sm_90a"]
    monolith = toolchain.compile_cubin(
        kernel.monolith(FOLDERS), f"{name}.cu", "sm_90a", include_dirs=[*FOLDERS, toolchain.transfer_dir()]
    )
    assert sass.compare(linked.cubin, monolith) == []
    assert linked.audit.ok


def test_every_gemm_is_there() -> None:
    assert len(GEMMS) == len(EPILOGUES) * len(SCHEDULERS) * len(MAINLOOPS) + len(OTHERS) == 44


def test_a_gated_epilogue_refuses_plain_columns(objects: Objects) -> None:
    kernel = pipelink.Kernel("mixed")
    mma, finish = kernel.add(objects["cp_async_mainloop"], "cp_async_mainloop"), kernel.add(objects["swiglu"])
    kernel.connect(mma.work, kernel.add(objects["static_tiles"]).next)
    kernel.connect(mma.store, finish.store)
    with pytest.raises(pipelink.LinkError, match=r"requires plc_columns = .gated32., .* promises .plain."):
        kernel.link(cache=False)


def test_swapping_the_epilogue_recompiles_nothing(objects: Objects) -> None:
    """One object each serves every mainloop; links leave them as they are."""

    def digests() -> dict[str, str]:
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in objects.folder.glob("*.o")}

    kernels = [
        compose(f"gemm-{mainloop}-{epilogue}-grouped_tiles", objects)
        for mainloop in MAINLOOPS
        for epilogue in EPILOGUES
    ]
    before = digests()
    for kernel in kernels[: len(EPILOGUES)]:
        kernel.link(cache=False)
    assert digests() == before


def test_two_instances_of_a_large_body_stay_inlined(objects: Objects) -> None:
    """Thousands of instructions, instantiated twice: no call, each instance with a barrier of its own."""
    linked = compose("twice", objects).link(cache=False)["sm_90a"]
    found = sass.count(sass.read(linked.cubin))
    assert found.calls == ()
    assert found.barrier_ids == (1, 2)
    assert found.instructions > 5000
