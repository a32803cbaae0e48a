// Every connection gets its legal transfers, preferred first; a second run changes nothing.
// RUN: pl-opt --pipeline=check %S/../ir/gemm.mlir | FileCheck %s
// RUN: pl-opt --pipeline=check %S/../ir/gemm.mlir -o %t.1
// RUN: env PYTHONHASHSEED=1 pl-opt --pipeline=check %t.1 -o %t.2
// RUN: cmp %t.1 %t.2

// CHECK: "pipelink.connect"() {legal = ["ring.tma"], source = @load::@ab, target = @mma::@ab}
// CHECK: "pipelink.connect"() {legal = ["call"], source = @mma::@accumulators, target = @epilogue::@store}
