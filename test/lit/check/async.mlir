// What cp.async brings between roles: by its own ring, to readers that fence where they read through another proxy.
// RUN: pl-opt --pipeline=check,place,prove %s | FileCheck %s

module @a.rows attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "fill", warps = 2 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192, align = 1024}], stages = [2, 4], touch = "cp_async"} : () -> ()
}
module @a.store attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192, align = 1024}], stages = [2, 4], touch = "tma"} : () -> ()
}
// CHECK: producer_arrivals = 64
// CHECK-SAME: producer_fence = true
// CHECK-SAME: producer_unit = "thread"
// CHECK-SAME: transfer = "ring.async"
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "rows", component = @a.rows} : () -> ()
  "pipelink.instance"() {sym_name = "store", component = @a.store} : () -> ()
  "pipelink.connect"() {source = @rows::@x, target = @store::@x} : () -> ()
}
