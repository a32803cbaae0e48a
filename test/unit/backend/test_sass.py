"""SASS of small NVRTC kernels: parsing, comparison, counts, and the registers of each setmaxnreg region."""

from functools import lru_cache

import pytest

from pipelink.backend import sass, toolchain
from pipelink.support.diagnostics import LinkError

ROLES = r"""
extern "C" __global__ void __launch_bounds__(256, 1) KERNEL(float* p, int n) {
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    for (int i = 0; i < n; i++) { p[i] = p[i] * SCALE; asm volatile("bar.sync 3, 128;" ::: "memory"); }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float x[LIVE];
#pragma unroll
    for (int i = 0; i < LIVE; i++) x[i] = p[i * 7];
    for (int k = 0; k < n; k++)
#pragma unroll
      for (int i = 0; i < LIVE; i++) x[i] = x[i] * x[(i + 7) % LIVE] + p[k];
#pragma unroll
    for (int i = 0; i < LIVE; i++) p[i * 7] = x[i];
  }
}
"""


@lru_cache
def compiled(source: str, **values: object) -> bytes:
    for name, value in values.items():
        source = source.replace(name, str(value))
    return toolchain.compile_cubin(source, "test.cu", "sm_90a")


def roles(kernel: str = "roles", scale: str = "2.0f", live: int = 60) -> bytes:
    return compiled(ROLES, KERNEL=kernel, SCALE=scale, LIVE=live)


def test_parse_finds_the_kernel_and_its_instructions() -> None:
    listing = sass.read(roles())
    assert listing.arch == "sm_90a"
    kernel = listing.function("roles")
    assert kernel.instructions[0].offset == 0
    assert all(b.offset - a.offset == 16 for a, b in zip(kernel.instructions, kernel.instructions[1:], strict=False))
    assert any(i.mnemonic == "EXIT" for i in kernel.instructions)


def test_branches_lead_to_labels() -> None:
    kernel = sass.read(roles()).function("roles")
    branch = next(i for i, instruction in enumerate(kernel.instructions) if instruction.mnemonic == "BRA")
    assert len(kernel.successors(branch)) >= 1
    assert all(0 <= index < len(kernel.instructions) for index in kernel.successors(branch))


@pytest.mark.parametrize(
    ("text", "following"),
    [
        ("BRA `(.L_x_2)", [2]),
        ("@!P0 BRA `(.L_x_2)", [1, 2]),
        ("BRA.U UP0, `(.L_x_2)", [1, 2]),
        ("BRA.DIV UR4, `(.L_x_2)", [1, 2]),
        ("BRA !P2, `(.L_x_2)", [1, 2]),
        ("CALL.REL.NOINC `(.L_x_2)", [1, 2]),
        ("BSSY B0, `(.L_x_2)", [1, 2]),
        ("RET.REL.NODEC R2 `(k)", []),
        ("EXIT", []),
        ("@P0 EXIT", [1]),
    ],
)
def test_what_can_follow_an_instruction(text: str, following: list[int]) -> None:
    listing = sass.parse(f"""
	.section	.text.k,"ax",@progbits
.text.k:
        /*0000*/                   {text} ;
        /*0010*/                   NOP ;
.L_x_2:
        /*0020*/                   EXIT ;
""")
    assert listing.functions[0].successors(0) == following


def test_equal_code_under_another_kernel_name_is_the_same() -> None:
    assert sass.compare(roles("roles"), roles("other")) == []


def test_a_changed_immediate_is_one_differing_line_each() -> None:
    difference = sass.compare(roles(scale="2.5f"), roles(scale="3.5f"))
    assert [line[0] for line in difference] == ["-", "+"] * (len(difference) // 2)
    assert difference
    assert all("FMUL" in line for line in difference)


def test_branch_targets_are_compared_when_nothing_else_differs() -> None:
    text = """
	.section	.text.k,"ax",@progbits
.text.k:
        /*0000*/                   BRA `(.L_x_{}) ;
.L_x_1:
        /*0010*/                   NOP ;
.L_x_2:
        /*0020*/                   EXIT ;
"""
    first, second = (sass.parse(text.replace("{}", label)) for label in "12")
    assert sass.compare(first, first) == []
    assert sass.compare(first, second) == ["-BRA `(1)", "+BRA `(2)"]


def test_counts() -> None:
    counts = sass.count(sass.read(roles()))
    assert counts.barrier_ids == (3,)
    assert counts.calls == ()
    assert counts.local == 0
    assert counts.wgmma == counts.tma == 0


def test_ptxas_helpers_are_no_component_calls() -> None:
    cubin = compiled('extern "C" __global__ void k(float* p) { p[0] = p[1] / p[2]; }')
    listing = sass.read(cubin)
    assert any(name.startswith(sass.INTERNAL_PREFIX) for name in listing.function("k").symbols)
    assert sass.count(listing).calls == ()


@pytest.mark.parametrize(("last", "calls"), [("EXIT", ()), ("RET.REL.NODEC R20 `(k)", (".L_x_9",))])
def test_a_jump_that_ptxas_writes_as_a_call(last: str, calls: tuple[str, ...]) -> None:
    """On sm_80 divergent code is left with CALL to a label that never returns."""
    text = f"""
	.section	.text.k,"ax",@progbits
	.type           k,@function
k:
.text.k:
.L_x_8:
        /*0000*/               @P0 CALL.REL.NOINC `(.L_x_9) ;
        /*0010*/                   BRA `(.L_x_8) ;
.L_x_9:
        /*0020*/                   {last} ;
"""
    assert sass.count(sass.parse(text)).calls == calls


def test_a_function_that_stayed_is_a_call() -> None:
    cubin = compiled(
        "__device__ __noinline__ float f(float a) { return a * a + sinf(a); }"
        'extern "C" __global__ void k(float* p) { p[0] = f(p[1]); }'
    )
    (callee,) = set(sass.count(sass.read(cubin)).calls)
    assert "_Z1ff" in callee


def test_each_setmaxnreg_region_has_its_own_registers() -> None:
    regions = {r.registers: r for r in sass.register_regions(sass.read(roles()).function("roles"))}
    assert set(regions) == {40, 232}
    assert regions[40].highest < 40
    assert 60 <= regions[232].highest < 232
    assert regions[232].instructions > regions[40].instructions


@pytest.mark.parametrize(
    ("text", "highest"),
    [
        ("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24, gsb0", 151),
        ("HGMMA.64x128x16.F16 R24, R4, gdesc[UR8], R24, gsb0", 55),
        ("LDG.E.128 R4, desc[UR4][R2.64]", 7),
        ("STG.E.64 desc[UR4][R2.64], R8", 9),
        ("IMAD.WIDE R2, R0, 0x4, R6", 7),
        ("HMMA.16816.F32.BF16 R4, R8, R12, R16", 19),
        ("LDSM.16.M88.4 R4, [R0+UR4]", 7),
        ("EXIT", -1),
    ],
)
def test_vector_operands_count_whole(text: str, highest: int) -> None:
    listing = sass.parse(f'\t.section\t.text.k,"ax"\n        /*0000*/                   {text} ;\n')
    assert sass.highest_register(listing.instructions[0]) == highest


def test_indexed_branches_have_their_targets() -> None:
    arms = " ".join(f"case {i}: p[{i * 3}] = sinf(p[{i}]) + {i}; break;" for i in range(12))
    cubin = compiled(f'extern "C" __global__ void k(float* p, int n) {{ switch (n) {{ {arms} }} }}')
    kernel = sass.read(cubin).function("k")
    branches = [i for i, instruction in enumerate(kernel.instructions) if instruction.mnemonic in ("BRX", "JMX")]
    assert branches
    assert all(len(kernel.successors(i)) > 2 for i in branches)


def test_garbage_is_refused() -> None:
    with pytest.raises(LinkError, match="disassembly-failed"):
        sass.read(b"not a cubin")


@pytest.mark.parametrize("place", ["tempfile.TemporaryDirectory", "pathlib.Path.write_bytes", "subprocess.Popen"])
def test_no_room_or_process_for_the_disassembler(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(place, refuse)
    with pytest.raises(LinkError, match=r"cannot run nvdisasm: no space left on device \[disassembly-failed\]"):
        sass.read(b"not a cubin")
