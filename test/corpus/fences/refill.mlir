// KIND: generic read then async refill
// DECIDED: prove
// The thread that lets TMA fill a slot again passes a proxy fence when those who read it are done; the linker puts it
// there.
// Where threads fill it again, as in the second pair, none is needed.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/consumer_fence = true/consumer_fence = false/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: threads read the slots of '@b::@x' and TMA fills them again, without a fence.proxy.async between [missing-fence]

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.acquire; x.copy; }", of = "run"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
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
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.instance"() {sym_name = "b2", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.connect"() {source = @c::@x, target = @b2::@x} : () -> ()
}
