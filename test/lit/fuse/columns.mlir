// A component's own columns of tensor memory begin at their place in the CTA's allocation, which the frame names.
// RUN: pl-opt --pipeline=check,place,transfer,fold,entry %s | FileCheck %s

module @x.kept attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "first", columns = 64} : () -> ()
  "pipelink.tmem"() {sym_name = "second", columns = 32} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.kept} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// CHECK: llvm.func @_ZN1x4kept6second10pl_addressEiPv
// CHECK: %[[START:[0-9]+]] = llvm.load {{.*}} -> i32
// CHECK: %[[COLUMN:[0-9]+]] = llvm.mlir.constant(64 : i32)
// CHECK: %[[AT:[0-9]+]] = llvm.add %[[COLUMN]], %[[START]]
// CHECK: llvm.return %[[AT]]
// CHECK: llvm.func @k
// CHECK: %[[COLUMNS:[0-9]+]] = llvm.mlir.constant(128 : i32)
// CHECK: llvm.call @pl_tmem_allocate(%{{[0-9]+}}, %[[COLUMNS]])
