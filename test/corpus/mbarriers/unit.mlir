// KIND: arrival count of the wrong unit (thread, warp, warpgroup) or rounded to 0
// DECIDED: prove
// Four warps read a slot, one thread of each arrives: 4.  Counted in threads nobody is ever done, in warpgroups three
// warps are overtaken, and 32 threads divided by 128 are none.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/consumer_arrivals = 4 /consumer_arrivals = 128 /; s/{address = 1040 : i64, arrivals = 4 /{address = 1040 : i64, arrivals = 128 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: sed -e 's/consumer_arrivals = 4 /consumer_arrivals = 1 /; s/{address = 1040 : i64, arrivals = 4 /{address = 1040 : i64, arrivals = 1 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: sed -e 's/consumer_arrivals = 4 /consumer_arrivals = 1 /; s/consumer_unit = "warp"/consumer_unit = "warpgroup"/; s/{address = 1040 : i64, arrivals = 4 /{address = 1040 : i64, arrivals = 1 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=ELECTED
// RUN: sed -e 's/consumer_arrivals = 4 /consumer_arrivals = 0 /; s/{address = 1040 : i64, arrivals = 4 /{address = 1040 : i64, arrivals = 0 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=NONE
// THREADS: error: {{.*}} [arrival-count]
// GROUP: error: {{.*}} [arrival-count]
// ELECTED: error: one thread of a warpgroup arrives for '@b::@x', whose slots every thread reads: the other warps may not be done [slot-race]
// NONE: error: {{.*}} [arrival-count]

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.acquire; x.commit; }", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.wait; x.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
}
