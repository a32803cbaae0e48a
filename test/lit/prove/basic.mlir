// What is refused comes with the steps that lead there; what is not leaves the IR as it was.
// RUN: pl-opt --pipeline=check,place %S/../../../examples/gemm/gemm.mlir -o %t.placed
// RUN: pl-opt --pipeline=prove %t.placed -o %t.proved
// RUN: diff %t.placed %t.proved
//
// RUN: sed 's/ab.release;/ /; s/ab.release keep 1;/ /' %t.placed | not pl-opt --pipeline=prove 2>&1 | FileCheck %s
// CHECK: error: roles wait for each other for ever: '@load::@load' waits for slot '@load::@ab'[0] to be given back and '@mma::@mma' waits for slot '@mma::@ab'[0] to be filled [deadlock]
// CHECK: counterexample: with work = 1, k_tiles = 5
// CHECK: 1 @load::@load acquire ab[0]
// CHECK: x {{.*}} @load::@load acquire ab[0] waits for ever
// CHECK: x {{.*}} @mma::@mma wait ab[0] waits for ever
// CHECK: cycle: @load::@load waits for @mma::@mma, which waits for @load::@load
// CHECK: hint: '@mma::@mma' holds all 4 slots of '@mma::@ab'
