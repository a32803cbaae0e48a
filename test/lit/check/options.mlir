// With the linker's version, LTO-IR of a newer toolkit is refused before anything is linked.
// RUN: pl-opt --pipeline='check{linker=13.0}' %S/../ir/gemm.mlir -o %t
// RUN: not pl-opt --pipeline='check{linker=12.9}' %S/../ir/gemm.mlir 2>&1 | FileCheck %s

// CHECK: gemm.mlir:38:3: error: component 'acme.tma_loader' was compiled by toolkit 13.0, newer than nvJitLink 12.9 [outdated-linker]
// CHECK: hint: link with nvJitLink 13.0 or newer
