// Roles of an exclusive group are called one after the other, on one frame, by the threads that each of them has.
// Between two the group's warps meet: several at a named barrier that is placed for them, one by itself.
// RUN: pl-opt --pipeline=check,place,transfer,fold,entry %s | FileCheck %s
// RUN: pl-opt --pipeline=check,place %s | FileCheck %s --check-prefix=PLACED

module @x.many attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 128} : () -> ()
}
module @x.one attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
}
module @x.two attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.param"() {sym_name = "out", type = "tensor_map", bytes = 128, align = 64,
    tile = {element = "bf16", shape = [16, 64], layout = "swizzle128", align = 1024}} : () -> ()
  "pipelink.tensor"() {name = "out", element = "bf16", shape = ["M", "64"], access = "write"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.many} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.one} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @x.two} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @x.one} : () -> ()
  "pipelink.instance"() {sym_name = "e", component = @x.one} : () -> ()
  "pipelink.exclusive"() {name = "several", roles = [@a::@run, @b::@run, @c::@run]} : () -> ()
  "pipelink.exclusive"() {name = "one", roles = [@e::@run, @d::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// PLACED: meetings = {several = {id = 1 : i64, threads = 128 : i64}}

// CHECK-DAG: llvm.func @pl_meet_warps(i32, i32) attributes {convergent}
// CHECK-DAG: llvm.func @pl_meet_warp() attributes {convergent}
// CHECK: llvm.func @k
// CHECK: llvm.call @_ZN1x4many3run8pl_enterEiPv
// CHECK: cp.async.wait_all;
// CHECK: cp.async.bulk.wait_group.read 0;
// CHECK: fence.proxy.async.shared::cta;
// CHECK: llvm.call @pl_meet_warps
// CHECK: llvm.cond_br %{{.*}}, ^[[INSIDE:bb[0-9]+]], ^[[AFTER:bb[0-9]+]]
// CHECK: ^[[INSIDE]]:
// CHECK: llvm.call @_ZN1x3one3run8pl_enterEiPv
// CHECK-NEXT: llvm.br ^[[AFTER]]
// CHECK: llvm.call @pl_meet_warps
// CHECK: llvm.mlir.constant(64 : i32)
// CHECK-NEXT: llvm.icmp "ult"
// CHECK: llvm.call @_ZN1x3two3run8pl_enterEiPv
// CHECK: %[[E:[0-9]+]] = llvm.mlir.constant(4 : i32)
// CHECK-NEXT: llvm.call @_ZN1x3one3run8pl_enterEiPv(%[[E]]
// CHECK: llvm.call @pl_meet_warp()
// CHECK: %[[D:[0-9]+]] = llvm.mlir.constant(3 : i32)
// CHECK-NEXT: llvm.call @_ZN1x3one3run8pl_enterEiPv(%[[D]]
