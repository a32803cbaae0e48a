// KIND: a peer CTA not started, or already gone, at a remote access
// DECIDED: prevented
// What the entry does where tiles are shared: the CTAs of the cluster meet behind the set-up of the mbarriers, and again
// before they end.
// RUN: pl-opt --pipeline=check,place,fuse %s | FileCheck %s
// CHECK-LABEL: llvm.func @k(
// CHECK: mbarrier.init
// CHECK: llvm.call @pl_cluster_meet()
// CHECK: pl_enterEiPv
// CHECK: llvm.call @pl_cluster_leave()
// CHECK-NEXT: llvm.return

module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat tiles { ab.acquire; ab.copy; }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat tiles { ab.wait; ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1]} : () -> ()
}
