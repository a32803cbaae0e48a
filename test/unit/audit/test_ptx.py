"""PTX as text, and where its values come from: what an audit concludes, instruction by instruction."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelink.audit.placement import Placed, placement_uses, size_uses
from pipelink.audit.values import Origins, number
from pipelink.backend import ptx

FIRST = "_ZN1a1r15pl_first_threadEiPv"


def kernel(body: str, before: str = "") -> ptx.Module:
    return ptx.parse(f"{before}\n.visible .entry k(\n.param .u32 k_param_0)\n{{\n.reg .b32 %r<9>;\n{body}\n}}\n")


def first_thread(register: str) -> str:
    """A call of the accessor as the compiler prints it."""
    return f"""{{ // callseq 0, 0
        .reg .b32 temp_param_reg;
        .param .b32 retval0;
        call.uni (retval0), \n {FIRST}, \n (\n );
        ld.param.b32 {register}, [retval0+0];
        }} // callseq 0\n"""


def uses(body: str, *, alignment: int = 32, threads: int = 128) -> list[tuple[str, bool]]:
    """The opcodes that depend on the placement, and whether they certainly do."""
    module = kernel(body, f".extern .func (.param .b32 func_retval0) {FIRST}()\n;")
    found = placement_uses(module.reachable("k"), Placed(alignment, threads, frozenset([FIRST])))
    return [(use.instruction.opcode, use.certain) for use in found]


def test_a_call_has_its_arguments_and_its_result() -> None:
    module = kernel(
        """{ // callseq 1, 0
        .param .b32 param0; st.param.b32 [param0+0], %r1;
        .param .b64 param1; st.param.b64 [param1+0], 7;
        .param .b32 retval0;
        call.uni (retval0), \n helper, \n (\n param0, \n param1\n );
        ld.param.b32 %r2, [retval0+0];
        }""",
        ".extern .func (.param .b32 func_retval0) helper\n(\n.param .b32 helper_param_0\n)\n;",
    )
    (call,) = [i for i in module.functions["k"].instructions if i.callee]
    assert (call.callee, call.arguments, call.result) == ("helper", ("%r1", "7"), "%r2")
    assert module.externals == {"helper"}
    assert Origins(module.reachable("k")).choices("k", "%r2") == {"call helper"}


def test_variables_in_shared_memory_have_their_bytes() -> None:
    module = kernel(
        ".shared .align 4 .u32 inner[2][3];\nmov.u32 %r1, inner;",
        ".shared .align 4 .b8 _ZZ1fvE5table[1024];\n.extern .shared .align 16 .b8 whole[];\n"
        ".visible .global .align 1 .b8 text[3] = {1, 2, 3};",
    )
    assert module.shared == {"_ZZ1fvE5table": 1024, "whole": 0}
    assert module.functions["k"].shared == {"inner": 24}


def test_registers_of_inline_assembly_are_told_apart() -> None:
    module = kernel("{ .reg .b32 t; mov.b32 t, 3; bar.sync t, 128; }\n{ .reg .b32 t; mov.b32 t, 4; bar.sync t, 128; }")
    origins = Origins(module.reachable("k"))
    barriers = [i for i in module.functions["k"].instructions if i.opcode == "bar.sync"]
    assert [origins.choices("k", i.operands[0]) for i in barriers] == [{"#3"}, {"#4"}]


@pytest.mark.parametrize(
    ("body", "choices"),
    [
        ("mov.u32 %r1, 5;", {"#5"}),
        ("mov.u32 %r2, 5; selp.b32 %r1, %r2, 6, %p1;", {"#5", "#6"}),
        ("mov.u32 %r1, 5; mov.u32 %r1, 7;", {"#5", "#7"}),
        (first_thread("%r1"), {f"call {FIRST}"}),
        (first_thread("%r2") + "add.s32 %r1, %r2, 1;", {f"call {FIRST}", "computed", "#1"}),
        ("ld.param.u32 %r1, [k_param_0];", {"argument"}),
        ("ld.u32 %r1, [%rd1];", {"memory"}),
    ],
)
def test_which_value_is_this(body: str, choices: set[str]) -> None:
    module = kernel(body, f".extern .func (.param .b32 func_retval0) {FIRST}()\n;")
    assert Origins(module.reachable("k")).choices("k", "%r1") == choices


def test_values_are_followed_into_functions_and_out_of_them() -> None:
    text = """
    .func (.param .b32 func_retval0) half(\n.param .b32 half_param_0)
    { ld.param.u32 %r1, [half_param_0]; st.param.b32 [func_retval0+0], %r1; ret; }
    .visible .entry k()
    { { .param .b32 param0; st.param.b32 [param0+0], 9; .param .b32 retval0;
        call.uni (retval0), half, (param0); ld.param.b32 %r5, [retval0+0]; } bar.sync %r5, 64; }"""
    module = ptx.parse(text)
    functions = module.reachable("k")
    assert [function.name for function in functions] == ["k", "half"]
    assert Origins(functions).choices("k", "%r5") == {"#9"}


def test_a_loop_does_not_confuse() -> None:
    module = kernel("mov.u32 %r1, 0;\n$L__BB0_1:\nadd.s32 %r2, %r1, 1;\nmov.u32 %r1, %r2;\n@%p1 bra $L__BB0_1;")
    assert Origins(module.reachable("k")).leaves("k", "%r1") == {"#0", "#1"}


# Each line is right wherever the role is.
INDEPENDENT = {
    "lane": "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.eq.s32 %p1, %r2, 0;",
    "lane times four": "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; and.b32 %r3, %r2, 124; setp.eq.s32 %p1, %r3, 0;",
    "own number": "mov.u32 %r1, %tid.x;" + first_thread("%r2") + "sub.s32 %r3, %r1, %r2; setp.lt.u32 %p1, %r3, 9;",
    "first as an address": "mov.u32 %r1, %tid.x;" + first_thread("%r2") + "sub.s32 %r3, %r1, %r2; "
    "mad.lo.s32 %r4, %r3, 4, %r5; st.global.u32 [%r4], %r6;",
    "compared with the first": "mov.u32 %r1, %tid.x;" + first_thread("%r2") + "setp.eq.s32 %p1, %r1, %r2;",
    "moved by a constant": "mov.u32 %r1, %tid.x;" + first_thread("%r2") + "sub.s32 %r3, 64, %r2; "
    "add.s32 %r4, %r3, %r1; st.global.u32 [%r4], 1;",
    "the number before it, inverted": "mov.u32 %r1, %tid.x; not.b32 %r2, %r1;"
    + first_thread("%r3")
    + "add.s32 %r4, %r3, %r2; setp.lt.u32 %p1, %r4, 3; xor.b32 %r5, %r1, -1; add.s32 %r6, %r3, %r5; "
    "st.global.u32 [%r6], 1;",
    "its neighbour": "mov.u32 %r1, %tid.x;" + first_thread("%r2") + "xor.b32 %r3, %r1, 1; sub.s32 %r4, %r3, %r2; "
    "st.global.u32 [%r4], 1;",
    "in a loop": "mov.u32 %r1, %tid.x;" + first_thread("%r2") + "neg.s32 %r3, %r2; $L: add.s32 %r4, %r1, %r3; "
    "st.global.u32 [%r4], 1; add.s32 %r5, %r3, 128; mov.u32 %r3, %r5; @%p1 bra $L;",
    "through a shuffle": "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; shfl.sync.idx.b32 %r3|%p1, %r2, 0, 31, -1; "
    "and.b32 %r4, %r3, 3; setp.eq.s32 %p1, %r4, 0;",
    "modulo its own count": "mov.u32 %r1, %tid.x; rem.u32 %r2, %r1, 128; st.global.u32 [%r2], 1;",
    "extracted": "mov.u32 %r1, %tid.x; bfe.u32 %r2, %r1, 2, 3; st.global.u32 [%r2], 1;",
    "signed modulo": "mov.u32 %r1, %tid.x; shr.s32 %r2, %r1, 31; shr.u32 %r3, %r2, 27; add.s32 %r4, %r1, %r3; "
    "and.b32 %r5, %r4, -32; sub.s32 %r6, %r1, %r5; setp.eq.s32 %p1, %r6, 0;",
    "modulo 96, as compiled": "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, -1431655765; shr.u64 %rd2, %rd1, 38; "
    "cvt.u32.u64 %r2, %rd2; mul.lo.s32 %r3, %r2, 96; sub.s32 %r4, %r1, %r3; st.global.u32 [%r4], 1;",
    "the same by the high half": "mov.u32 %r1, %tid.x; mul.hi.u32 %r2, %r1, 2863311531; shr.u32 %r3, %r2, 6; "
    "mul.lo.s32 %r4, %r3, 96; sub.s32 %r5, %r1, %r4; st.global.u32 [%r5], 1;",
    "rank of three dimensions": "mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; "
    "mad.lo.s32 %r4, %r1, %r2, %r3; and.b32 %r5, %r4, 31; st.global.u32 [%r5], 1;",
    "not used": "mov.u32 %r1, %tid.x;",
}
# Each first differing instruction depends on where the role is.
DEPENDENT = {
    "thread 0": ("mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0;", ("setp.eq.s32", True)),
    "index": ("mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; st.global.u32 [%rd1], 1;", ("st.global.u32", True)),
    "warp": ("mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.eq.s32 %p1, %r2, 1;", ("setp.eq.s32", True)),
    "modulo too much": ("mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 255; st.global.u32 [%r2], 1;", ("and.b32", True)),
    "divided": ("mov.u32 %r1, %tid.x; div.u32 %r2, %r1, 48;", ("div.u32", True)),
    "as a float": ("mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;", ("cvt.rn.f32.u32", True)),
    "first as it is": (first_thread("%r1") + "mov.u32 %r2, %tid.x; setp.lt.s32 %p1, %r1, 64;", ("setp.lt.s32", True)),
    "by its sign": ("mov.u32 %r1, %tid.x; add.s32 %r2, %r1, -64; shr.s32 %r3, %r2, 31;", ("shr.s32", True)),
    "into local memory": ("mov.u32 %r1, %tid.x; st.local.u32 [%rd1], %r1;", ("st.local.u32", False)),
    "inverted": ("mov.u32 %r1, %tid.x; not.b32 %r2, %r1; setp.eq.s32 %p1, %r2, -1;", ("setp.eq.s32", True)),
    "of the next warpgroup": (
        "mov.u32 %r1, %tid.x;" + first_thread("%r2") + "xor.b32 %r3, %r1, 128; sub.s32 %r4, %r3, %r2;",
        ("xor.b32", True),
    ),
    "either": ("mov.u32 %r1, %tid.x; selp.b32 %r2, %r1, 0, %p1;", ("selp.b32", True)),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_what_does_not_depend_on_the_placement(name: str) -> None:
    threads = 96 if "96" in name or "same" in name else 128
    assert uses(INDEPENDENT[name], threads=threads) == []
    assert size_uses(kernel(INDEPENDENT[name]).reachable("k"), ("%ntid.",)) == {}


@pytest.mark.parametrize("name", DEPENDENT)
def test_what_depends_on_the_placement(name: str) -> None:
    body, expected = DEPENDENT[name]
    assert uses(body)[:1] == [expected]


def test_alignment_decides_what_a_mask_removes() -> None:
    body = "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r2, 3; setp.eq.s32 %p1, %r3, 0;"
    assert uses(body, alignment=128, threads=96) == []
    assert uses(body, alignment=32, threads=96) == [("and.b32", True)]


def test_a_size_that_counts() -> None:
    body = (
        "mov.u32 %r1, %ntid.x; mov.u32 %r2, %r1; add.s32 %r3, %r2, %r4; mov.u32 %r5, %tid.y; mul.lo.s32 %r6, %r5, %r1;"
    )
    assert size_uses(kernel(body).reachable("k"), ("%ntid.",)) == {"%ntid.x": ["add.s32 %r3, %r2, %r4"]}


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), ("-3", -3), ("0x1F", 31), ("010", 8), ("09", None), ("%r1", None), ("0f3F800000", None)],
)
def test_numbers(text: str, value: int | None) -> None:
    assert number(text) == value


PIECES = (
    "{", "}", ";", ",", "(", ")", "[", "]", ":", "@", "%r1", "%tid.x", "bar.sync", "call.uni", ".entry k(", ".func f",
    "st.param.b32", "ld.param.b32", "[param0+0]", "(retval0)", ".reg .b32 t", "mov.u32", "//", "/*", "*/", "\n", "=",
    ".shared .b8 x[4]", "setp.eq.s32", "and.b32", "selp", "shl.b32", "mad.lo.s32", "bfe.u32", "7", "-1",
    "[func_retval0+0]", "\0", "st.shared.u32", "rem.u32", "0",
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60), st.booleans())
def test_any_text_is_read(pieces: list[str], inside: bool) -> None:
    text = " ".join(pieces)
    module = kernel(text) if inside else ptx.parse(text)
    for name in module.functions:
        functions = module.reachable(name)
        placement_uses(functions, Placed(32, 32, frozenset()))
        size_uses(functions, ("%ntid.", "%tid."))
        origins = Origins(functions)
        for function in functions:
            for instruction in function.instructions:
                for operand in instruction.operands:
                    origins.leaves(function.name, operand)
                    origins.choices(function.name, operand)
