"""Lines of source of machine code and PTX."""

from pipelink.backend import source_lines
from pipelink.support.diagnostics import Location

SASS = """
.section .text.k,"ax",@progbits
	//## File "/a/h.cuh", line 3 inlined at "/a/c.cu", line 9
	//## File "/a/c.cu", line 9 inlined at "/a/k.mlir", line 1
	//## File "/a/k.mlir", line 1
        /*0000*/                   STL [R0], R1 ;
        /*0010*/                   LDL R1, [R0] ;
	//## File "/a/k.mlir", line 1
        /*0020*/                   EXIT ;
.section .text.other,"ax",@progbits
        /*0000*/                   RET ;
"""
PTX = """.visible .entry k()
{
	.loc	1 1 0
	.loc	2 9 4, function_name $L__info_string0, inlined_at 1 1 0
	.loc	3 3 7, function_name $L__info_string1, inlined_at 2 9 4
	st.local.u32 [%r1], %r2;
	.loc	1 1 0
	ret;
}
	.file	1 "/a/k.mlir"
	.file	2 "/a/c.cu"
	.file	3 "/a/h.cuh"
"""
INNER = (Location("/a/h.cuh", 3), Location("/a/c.cu", 9), Location("/a/k.mlir", 1))


def test_lines_of_machine_code() -> None:
    found = [(instruction.mnemonic, frames) for instruction, frames in source_lines.parse(SASS)]
    outer = (Location("/a/k.mlir", 1),)
    assert found == [("STL", INNER), ("LDL", INNER), ("EXIT", outer), ("RET", ())]


def test_lines_of_ptx() -> None:
    found = source_lines.of_ptx(PTX)
    assert found[5] == INNER
    assert found[7] == (Location("/a/k.mlir", 1),)
    assert found[0] == ()


def test_places_in_a_circle_end() -> None:
    text = '\t.loc 1 1 1, function_name $x, inlined_at 1 1 1\n ret;\n.file 1 "a"\n'
    assert source_lines.of_ptx(text)[1] == (Location("a", 1),)
