// KIND: generic write then async read
// DECIDED: prove
// Threads write a slot that the tensor cores read: every writing thread passes a proxy fence before it arrives.  The
// linker puts it there; without it the placement is refused.  Threads that read, as the second pair's, need none.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/producer_fence = true/producer_fence = false/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: threads write the slots of '@a::@x' and wgmma reads them, without a fence.proxy.async between [missing-fence]

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.acquire; x.write; x.commit; }", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.wait; x.release; }", of = "run"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.wait; x.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "a2", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.connect"() {source = @a2::@x, target = @c::@x} : () -> ()
}
