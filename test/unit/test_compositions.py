"""The machine code of every composition equals its monolith's, and its audit is clean."""

from __future__ import annotations

import hashlib

import pytest

import pipelink
from pipelink.backend import sass, toolchain
from pipelink.backend.monolith import compile_monolith
from pipelink.target import target as find_target
from test.compositions import (
    COMPOSITIONS,
    EPILOGUES,
    FOLDERS,
    FURTHER,
    GEMMS,
    MAINLOOPS,
    OTHERS,
    SCHEDULERS,
    TENSOR_MEMORY,
    Objects,
    compose,
)


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Objects:
    return Objects(tmp_path_factory.mktemp("objects"))


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_machine_code_equals_the_monoliths(name: str, objects: Objects) -> None:
    kernel = compose(name, objects)
    linked = kernel.link(cache=False)[kernel.target]
    monolith = toolchain.compile_cubin(
        kernel.monolith(FOLDERS), f"{name}.cu", kernel.target, include_dirs=[*FOLDERS, toolchain.transfer_dir()]
    )
    assert sass.compare(linked.cubin, monolith) == []
    assert linked.audit.ok


@pytest.mark.parametrize("name", TENSOR_MEMORY)
def test_blackwell_instructions(name: str, objects: Objects) -> None:
    """There is no such device here: the machine code shows tcgen05.mma, tensor-memory loads and TMA, and the audit that
    nothing was left as a call, on the stack or spilled."""
    kernel = compose(name, objects)
    linked = kernel.link()[kernel.target]
    listing = sass.read(linked.cubin)
    opcodes = {instruction.opcode for function in listing.functions for instruction in function.instructions}
    both = ("UTCHMMA.2CTA", "UTCBAR.2CTA.MULTICAST", "UTMALDG.2D.2CTA")
    own = ("UTCHMMA", "UTCBAR", "UTMALDG.2D")
    wanted, others = (both, own) if "pair" in name else (own, both)
    assert opcodes >= {*wanted, "LDTM.16dp256bit.x8", "UTCATOMSWS.AND"}
    assert not opcodes & set(others)
    assert not any(opcode.startswith(("HMMA", "HGMMA")) for opcode in opcodes)
    counts = sass.count(listing)
    assert (counts.calls, counts.local) == ((), 0)
    columns = 512 if "256" in name else 256
    assert set(sass.tensor_memory(listing.function(kernel.name))[0]) == {columns}
    assert linked.audit.ok


@pytest.mark.parametrize("name", [name for name in FURTHER if "sm120" in name])
def test_objects_that_run_on_hopper_link_for_sm_120a(name: str, objects: Objects) -> None:
    """Not run: linked and audited, three slots in 99 KiB, and equal to the same unit."""
    kernel, target = compose(name, objects), "sm_120a"
    linked = kernel.link(target, cache=False)[target]
    text, folders = kernel.monolith(FOLDERS, target), [*FOLDERS, toolchain.transfer_dir()]
    assert sass.compare(linked.cubin, compile_monolith(text, f"{name}.cu", target, "sm_90", include_dirs=folders)) == []
    assert linked.audit.ok
    code = sass.read(linked.cubin)
    assert sass.count(code).calls == ()
    assert {"HMMA", "LDSM", "UTMALDG"} <= {i.opcode.split(".")[0] for i in code.instructions}
    assert 3 * 32768 <= linked.launch["smem_bytes"] <= find_target(target).smem_per_cta


def test_every_gemm_is_there() -> None:
    assert len(GEMMS) == len(EPILOGUES) * len(SCHEDULERS) * len(MAINLOOPS) + len(OTHERS) == 49


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
