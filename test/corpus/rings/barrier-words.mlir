// KIND: barrier words reused as data without invalidation
// DECIDED: prove
// Mbarriers keep their state until the kernel ends, so nothing is placed on them; here another hand did.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/smem = {table = [0-9]* /smem = {table = 1024 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=WORDS
// WORDS: error: {{.*}}mbarriers{{.*}} [placement-overlap]

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
  "pipelink.smem"() {sym_name = "table", bytes = 256, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.wait; x.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
}
