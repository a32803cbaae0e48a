"""What printf and assert need, as PTX shows it."""

from pipelink.audit import printing

CALL = """
\t{{
\t.param .b64 param0;
\tst.param.b64 [param0+0], %rd1;
\t.param .b64 param1;
\tst.param.b64 [param1+0], {arguments};
\t.param .b32 retval0;
\tcall.uni (retval0),
\tvprintf,
\t(
\tparam0,
\tparam1
\t);
\tld.param.b32 %r1, [retval0+0];
\t}}
"""
HEAD = """.extern .func (.param .b32 func_retval0) vprintf(.param .b64 a, .param .b64 b);
.visible .entry k()
{
\t.local .align 8 .b8 __local_depot0[128];
\t.reg .b64 %SP;
\tmov.u64 %SPL, __local_depot0;
\tcvta.local.u64 %SP, %SPL;
\tadd.u64 %rd2, %SP, 0;
\tadd.u64 %rd3, %SPL, 0;
\tadd.u64 %rd4, %SP, 64;
\tcvta.to.local.u64 %rd5, %rd4;
"""


def test_arguments_at_two_places() -> None:
    stores = "\tst.local.v2.u32 [%rd3], {%r1, %r2};\n\tst.local.f64 [%rd3+8], %fd1;\n\tst.local.u32 [%rd5], %r3;\n"
    text = HEAD + stores + CALL.format(arguments="%rd2") + CALL.format(arguments="%rd4") + "\tret;\n}\n"
    assert printing.read(text, "k") == printing.Printing((("printf", 2),), (), 24)


def test_an_array_is_not_counted() -> None:
    """Below the arguments, or where nobody knows."""
    stores = (
        "\tst.local.u32 [%rd5], %r3;\n\tst.local.v4.u32 [%rd3+16], {%r1, %r2, %r3, %r4};\n\tst.local.u32 [%rd9], %r1;\n"
    )
    text = HEAD + stores + CALL.format(arguments="%rd4") + "\tret;\n}\n"
    assert printing.read(text, "k").stack_bytes == 8


def test_no_arguments_and_other_callees() -> None:
    other = CALL.format(arguments="0").replace("vprintf", "helper")
    found = printing.read(HEAD + CALL.format(arguments="0") + other + "\tret;\n}\n", "k")
    assert found == printing.Printing((("printf", 1),), ("helper",), 0)
    assert str(found) == "1 of printf"
