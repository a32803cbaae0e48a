// Who arrives where threads write and read a slot: one thread a warp, or every thread.
// RUN: pl-opt --pipeline=check,place %s | FileCheck %s --check-prefix=ELECTED
// RUN: pl-opt --pipeline=check,place{arrivals=every-thread} %s | FileCheck %s --check-prefix=EVERY

module @acme.fill attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 2 : i64, align = 1 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", tiles = [{element = "f32", shape = [32, 32], layout = "row_major", bytes = 4096 : i64, align = 128 : i64}], stages = [2, 2], touch = "threads"} : () -> ()
}
module @acme.drain attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", tiles = [{element = "f32", shape = [32, 32], layout = "row_major", bytes = 4096 : i64, align = 128 : i64}], stages = [2, 2], touch = "threads"} : () -> ()
}
// ELECTED: consumer_arrivals = 4 : i64
// ELECTED-SAME: consumer_unit = "warp"
// ELECTED-SAME: producer_arrivals = 2 : i64
// ELECTED-SAME: producer_unit = "warp"
// EVERY: consumer_arrivals = 128 : i64
// EVERY-SAME: consumer_unit = "thread"
// EVERY-SAME: producer_arrivals = 64 : i64
// EVERY-SAME: producer_unit = "thread"
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @acme.fill} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @acme.drain} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
