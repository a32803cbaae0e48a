// KIND: peers counted by cluster size instead of by who delivers
// DECIDED: prove
// A slot of the pair is free when the two warpgroups of both CTAs have released it: 4 arrivals.  One for each CTA is too
// few, one for each warpgroup and each CTA of a cluster of four too many.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/consumer_arrivals = 4 /consumer_arrivals = 2 /; s/arrivals = 4 : i64, count/arrivals = 2 : i64, count/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=CTAS
// RUN: sed -e 's/consumer_arrivals = 4 /consumer_arrivals = 8 /; s/arrivals = 4 : i64, count/arrivals = 8 : i64, count/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=FOUR
// CTAS: error: {{.*}} [arrival-count]
// FOUR: error: {{.*}} [arrival-count]

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
