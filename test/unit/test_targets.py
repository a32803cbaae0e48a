"""Links for architectures that nothing here runs on: the machine code is read, and equals the monolith's.

What runs is sm_90a (test/gpu).  The library's portable components link for sm_86 and sm_87 (mainloop of cp.async), for
sm_110a (tensor memory) and for sm_121a (TMA and mma.sync), and for the plain names of these chips.
"""

from __future__ import annotations

import pytest

import pipelink
from pipelink.backend import sass, toolchain
from pipelink.backend.monolith import compile_monolith
from pipelink.components import gemm
from pipelink.target import TARGETS
from test.compositions import FOLDERS, Objects
from test.machine_code import differences

# target, mainloop, epilogue, scheduler, newest image; opcodes that the code has, and beginnings that none has
LINKS = (
    ("sm_86", "cp_async", "swiglu", "grouped_tiles", "sm_80", {"LDGSTS", "HMMA"}, ("UTMA", "HGMMA", "UTC")),
    ("sm_87", "cp_async", "store", "grouped_tiles", "sm_80", {"LDGSTS", "HMMA"}, ("UTMA", "HGMMA", "UTC")),
    ("sm_110", "cp_async", "store", "grouped_tiles", "sm_80", {"LDGSTS", "HMMA"}, ("HGMMA", "UTC")),
    ("sm_110a", "tcgen05_128x256x64", "swiglu", "grouped_tiles", "sm_110f", {"UTMALDG", "UTCHMMA", "LDTM"}, ("HMMA",)),
    ("sm_110a", "tcgen05_pair_256x256x64", "store", "paired_tiles", "sm_110f", {"UTMALDG", "UTCHMMA"}, ("HMMA",)),
    ("sm_121", "sm120_128x128x64", "store", "grouped_tiles", "sm_90", {"UTMALDG", "HMMA"}, ("HGMMA", "UTC", "USETMAX")),
    ("sm_121a", "sm120_128x128x64", "swiglu", "grouped_tiles", "sm_90", {"UTMALDG", "HMMA"}, ("HGMMA", "UTC")),
)


@pytest.mark.parametrize(
    ("target", "mainloop", "epilogue", "scheduler", "newest", "has", "lacks"),
    LINKS,
    ids=[f"{target}-{mainloop}" for target, mainloop, *_ in LINKS],
)
def test_the_library_links(
    objects: Objects,
    target: str,
    mainloop: str,
    epilogue: str,
    scheduler: str,
    newest: str,
    has: set[str],
    lacks: tuple[str, ...],
) -> None:
    kernel = pipelink.Kernel("gemm", target=target)
    gemm.add_gemm(gemm.Composer(kernel, objects), gemm.MAINLOOPS[mainloop], epilogue, scheduler)
    linked = kernel.link(cache=False)[target]
    assert linked.audit.ok
    listing = sass.read(linked.cubin)
    assert listing.arch == target
    mnemonics = {instruction.mnemonic for instruction in listing.instructions}
    assert mnemonics >= has
    assert not [name for name in mnemonics if name.startswith(lacks)]
    folders = [*FOLDERS, toolchain.transfer_dir()]
    text = kernel.monolith(FOLDERS, target)
    assert differences(linked.cubin, compile_monolith(text, "gemm.cu", target, newest, include_dirs=folders)) == []


@pytest.mark.parametrize("target", ["sm_86", "sm_87", "sm_110", "sm_120a", "sm_121a"])
def test_tensor_memory_is_refused_where_there_is_none(objects: Objects, target: str) -> None:
    kernel = pipelink.Kernel("gemm", target=target)
    gemm.add_gemm(gemm.Composer(kernel, objects), gemm.MAINLOOPS["tcgen05_128x256x64"], "store", "grouped_tiles")
    with pytest.raises(pipelink.LinkError) as caught:
        kernel.link()
    assert {d.id for d in caught.value.diagnostics} <= {"unsupported-by-target", "arch-mismatch", "missing-arch"}


def test_plain_names_have_what_every_chip_of_the_kind_has() -> None:
    for name, target in TARGETS.items():
        if name.endswith("a") and name != "sm_90a":
            plain = TARGETS[name.removesuffix("a")]
            assert (plain.smem_per_cta, plain.warps_per_sm, plain.tma) == (
                target.smem_per_cta,
                target.warps_per_sm,
                True,
            )
            assert (plain.setmaxnreg, plain.tmem_columns, plain.family) == (False, 0, "")
