// KIND: freed before the peer has allocated
// DECIDED: prevented
// A pair of CTAs allocates and frees together: each waits for the other before the first use, and before it frees.
// RUN: pl-opt --pipeline=check,place,fuse %s | FileCheck %s
// CHECK-LABEL: llvm.func @k(
// CHECK: llvm.call @pl_pair_allocate(
// CHECK: llvm.call @pl_cluster_meet()
// CHECK: pl_enterEiPv
// CHECK: llvm.call @pl_cluster_leave()
// CHECK: llvm.call @pl_pair_free(

module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "acc", direction = "out", kind = "stream", touch = "tcgen05", stages = [2, 2], cta_group = 2, tiles = [
      {element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "rank 0 { repeat n { acc.acquire; acc.commit; } }", of = "run"} : () -> ()
}
module @read attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "acc", direction = "in", kind = "stream", touch = "tcgen05", stages = [2, 2], cta_group = 2, tiles = [
      {element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { acc.wait; acc.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.instance"() {sym_name = "read", component = @read} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @mma::@acc, target = @read::@acc} : () -> ()
}
