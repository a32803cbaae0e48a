"""MLIR's llvm dialect to NVVM IR text: every operation the passes generate, and what is refused."""

from __future__ import annotations

import pytest

from pipelink import ir as pipelink_ir
from pipelink.backend import libnvvm, nvvm
from pipelink.support.diagnostics import LinkError
from pipelink.support.mlir import ir

KERNEL = """
!frame = !llvm.struct<(array<2 x i64>, ptr, f32, array<2 x struct<(i32, i32)>>)>
!params = !llvm.struct<(array<384 x i8>)>
module @k {{
  llvm.func @other(i32, !llvm.ptr) -> i32
  llvm.func @helper(%id: i32, %frame: !llvm.ptr) -> i1 attributes {{always_inline}} {{
    %c = llvm.getelementptr inbounds %frame[0, 3, 1, 0] : (!llvm.ptr) -> !llvm.ptr, !frame
    %v = llvm.load %c : !llvm.ptr -> i32
    %eight = llvm.mlir.constant(8 : i32) : i32
    %a = llvm.mul %v, %eight : i32
    %b = llvm.sub %a, %eight : i32
    %d = llvm.add %b, %eight : i32
    llvm.inline_asm has_side_effects asm_dialect = att "cp.async.wait_group 2;", "~{{memory}}" : () -> ()
    %r = llvm.call @other(%d, %frame) : (i32, !llvm.ptr) -> i32
    llvm.switch %id : i32, ^none [0: ^zero, 3: ^none]
  ^none:
    llvm.unreachable
  ^zero:
    %z = llvm.icmp "ne" %r, %eight : i32
    llvm.return %z : i1
  }}
  llvm.func @entry(%p: !llvm.ptr {{llvm.byval = !params, llvm.align = 128 : i64, nvvm.grid_constant}})
      attributes {{nvvm.kernel, nvvm.maxntid = array<i32: 384>, nvvm.minctasm = 1 : i32}} {{
    %one = llvm.mlir.constant(1 : i32) : i32
    %f = llvm.alloca %one x !frame {{alignment = 16 : i64}} : (i32) -> !llvm.ptr
    %t = nvvm.read.ptx.sreg.tid.x : i32
    nvvm.barrier
    %at = llvm.getelementptr inbounds %p[268] : (!llvm.ptr) -> !llvm.ptr, i8
    %k = llvm.load %at : !llvm.ptr -> f32
    %slot = llvm.getelementptr inbounds %f[0, 2] : (!llvm.ptr) -> !llvm.ptr, !frame
    llvm.store %k, %slot : f32, !llvm.ptr
    %z = llvm.icmp "ult" %t, %one : i32
    llvm.cond_br %z, ^then, ^done
  ^then:
    {extra}
    llvm.br ^done
  ^done:
    llvm.return
  }}
}}
"""


def kernel(extra: str = "") -> ir.Operation:
    return pipelink_ir.parse(KERNEL.format(extra=extra)).operation  # a single module is the outermost one


def test_text_is_llvm_7() -> None:
    text = nvvm.translate(kernel())
    assert 'define void @"entry"({[384 x i8]}* byval align 128' in text
    assert "alloca {[2 x i64], i8*, float, [2 x {i32, i32}]}, align 16" in text
    assert 'call void asm sideeffect "cp.async.wait_group 2;", "~{memory}"()' in text
    assert "icmp ult i32" in text
    assert '"maxntidx", i32 384' in text
    assert '"minctasm", i32 1' in text
    assert '"grid_constant"' in text
    assert '@"llvm.used"' in text
    assert " ptr" not in text, "LLVM 7 has typed pointers only"


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_libnvvm_accepts_it(arch: str) -> None:
    assert libnvvm.compile_ltoir(nvvm.translate(kernel()), arch)


def test_byval_keeps_other_parentheses() -> None:
    assert nvvm._flatten_byval("void @k({[4 x (i8)]}* byval({[4 x (i8)]}) align 128 %a)") == (  # pyright: ignore[reportPrivateUsage]
        "void @k({[4 x (i8)]}* byval align 128 %a)"
    )


def test_unknown_operation_is_a_located_internal_error() -> None:
    with pytest.raises(LinkError) as caught:
        nvvm.translate(kernel("%u = llvm.mlir.undef : i32"))
    assert caught.value.diagnostics[0].id == "internal-error"
    assert "llvm.mlir.undef" in caught.value.diagnostics[0].message


def test_libnvvm_failure_keeps_the_log() -> None:
    with pytest.raises(LinkError) as caught:
        libnvvm.compile_ltoir("define nonsense", "sm_90a")
    found = caught.value.diagnostics[0]
    assert found.id == "nvvm-failed"
    assert "parse expected type" in found.notes[0].message
