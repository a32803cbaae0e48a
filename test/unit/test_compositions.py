"""The machine code of every composition equals its monolith's, and its audit is clean."""

from __future__ import annotations

import functools
import hashlib
import io

import pytest
from elftools.elf.elffile import ELFFile

import pipelink
from pipelink.api import Linked
from pipelink.backend import sass, toolchain
from pipelink.backend.monolith import compile_monolith
from pipelink.target import target as find_target
from test.compositions import (
    COMPOSITIONS,
    CUTE_CORE,
    EPILOGUES,
    FOLDERS,
    FURTHER,
    GEMMS,
    MAINLOOPS,
    OTHERS,
    PRODUCT,
    SCHEDULERS,
    TENSOR_MEMORY,
    Objects,
    compose,
    pairs,
    pairwise_cover,
)
from test.machine_code import differences

COVER = pairwise_cover(PRODUCT)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Compositions to compare: with ``--all`` every one, else of the product a pairwise cover."""
    if "compared" in metafunc.fixturenames:
        left_out = set() if metafunc.config.getoption("--all") else set(PRODUCT) - set(COVER)
        names = [name for name in COMPOSITIONS if name not in TENSOR_MEMORY and name not in left_out]
        metafunc.parametrize("compared", names)


def digests(objects: Objects) -> dict[str, str]:
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in objects.made.items()}


def linked_like_the_monolith(name: str, objects: Objects) -> Linked:
    kernel = compose(name, objects)
    before = digests(objects)
    linked = kernel.link(cache=objects.cache)
    (code,) = linked.targets
    text, folders, options = (
        kernel.monolith(FOLDERS, cache=objects.cache),
        [*FOLDERS, toolchain.transfer_dir()],
        list[str](),
    )
    if str(CUTE_CORE) in text:
        folders, options = [*folders, toolchain.cutlass_include_dir()], ["-default-device"]
    monolith = toolchain.compile_cubin(text, f"{name}.cu", kernel.target, include_dirs=folders, options=options)
    assert differences(code.cubin, monolith) == []
    assert code.audit.ok
    if name.startswith(("gemm-", "attention-")):  # the library's own
        said = [warning.message for warning in code.warnings]
        if "-context-" in name:  # what signals are taken to do
            assert len(said) == 3
            assert all("comes is not proved" in message for message in said)
        else:
            assert said == []
    assert digests(objects) == before  # one object serves every composition, since a link leaves it as it is
    return linked


def test_machine_code_equals_the_monoliths(compared: str, objects: Objects) -> None:
    linked_like_the_monolith(compared, objects)


def test_changed_code_is_different(objects: Objects) -> None:
    cubin = compose("affine", objects).link()["sm_90a"].cubin
    assert differences(cubin, cubin) == []
    found = ELFFile(io.BytesIO(cubin)).get_section_by_name(".text.affine")
    assert found is not None
    place = int(found["sh_offset"]) + 18  # the register that the second instruction writes
    assert differences(cubin, cubin[:place] + bytes([cubin[place] ^ 1]) + cubin[place + 1 :])


def test_the_cover_holds_every_pair() -> None:
    assert set().union(*map(pairs, COVER)) == set().union(*map(pairs, PRODUCT))
    assert len(COVER) < len(PRODUCT)
    assert set(PRODUCT) | set(TENSOR_MEMORY) == {name for name in COMPOSITIONS if name.startswith("gemm-")}


@pytest.mark.parametrize("name", TENSOR_MEMORY)
def test_blackwell_machine_code(name: str, objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no such device here: the machine code, which equals the monolith's, shows tcgen05.mma, tensor-memory
    loads and TMA, and the audit that nothing was left as a call, on the stack or spilled."""
    monkeypatch.setattr(sass, "read", functools.lru_cache(maxsize=1)(sass.read))  # the audit's listing serves here too
    (linked,) = linked_like_the_monolith(name, objects).targets
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
    assert set(sass.tensor_memory(listing.function(linked.name))[0]) == {columns}


@pytest.mark.parametrize("name", [name for name in FURTHER if "sm120" in name])
def test_objects_that_run_on_hopper_link_for_sm_120a(name: str, objects: Objects) -> None:
    """Not run: linked and audited, three slots in 99 KiB, and equal to the same unit."""
    kernel, target = compose(name, objects), "sm_120a"
    linked = kernel.link(target, cache=objects.cache)[target]
    text, folders = kernel.monolith(FOLDERS, target, cache=objects.cache), [*FOLDERS, toolchain.transfer_dir()]
    assert differences(linked.cubin, compile_monolith(text, f"{name}.cu", target, "sm_90", include_dirs=folders)) == []
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


def test_two_instances_of_a_large_body_stay_inlined(objects: Objects) -> None:
    """Thousands of instructions, instantiated twice: no call, each instance with a barrier of its own."""
    linked = compose("twice", objects).link(cache=False)["sm_90a"]
    found = sass.count(sass.read(linked.cubin))
    assert found.calls == ()
    assert found.barrier_ids == (1, 2)
    assert found.instructions > 5000
