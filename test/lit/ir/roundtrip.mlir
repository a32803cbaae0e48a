// What is printed parses to the same, locations included; the dialect needs no registration of ours in mlir-opt's form.
// RUN: pl-opt %S/gemm.mlir -o %t.1
// RUN: env PYTHONHASHSEED=1 pl-opt %t.1 -o %t.2
// RUN: cmp %t.1 %t.2
// RUN: pl-opt --locations %S/gemm.mlir | pl-opt --locations | FileCheck %s --check-prefix=PLACES
// RUN: pl-opt %S/gemm.mlir | FileCheck %s

// CHECK: module @acme.tma_loader attributes {pipelink.component = {abi = 1 : i64
// CHECK: "pipelink.role"() {align = 1 : i64, registers = [24, 40], sym_name = "load", threads = "one", warps = 1 : i64}
// CHECK: module @gemm attributes {pipelink.kernel = {target = "sm_90a"}}
// CHECK: "pipelink.connect"() {source = @load::@ab, target = @mma::@ab}
// PLACES: {{gemm.mlir":2:3}}
