// A component that multicasts by itself can be checked and placed; the linker has no functions for its port, and says
// what there is instead.
// RUN: pl-opt --pipeline=check,place %s -o /dev/null
// RUN: not pl-opt --pipeline=check,place,transfer,fold,entry %s 2>&1 | FileCheck %s

module @x.loader attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  // CHECK-DAG: multicast.mlir:[[@LINE+1]]:{{.*}}note: @load::@ab is declared here
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma_multicast", stages = [2, 4], multicast = 2, tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @x.mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "mma", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], multicast = 2, tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @x.loader} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @x.mma} : () -> ()
  // CHECK-DAG: multicast.mlir:[[@LINE+1]]:{{.*}}error: transfer 'cluster' of @load::@ab to @mma::@ab has no device code yet [transfer-without-code]
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}
// CHECK-DAG: hint: let the linker multicast: fill the port by tma, and say on the connection which tiles both CTAs need, shared = [0, …]
