// KIND: producer looks ahead further than the ring is deep
// DECIDED: prove
// cp.async fills the ring ahead of the loop: one slot less than it is deep, because the loop fills one before it gives
// one back.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// As many as there are
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "local", kind = "stream", touch = "cp_async", stages = [4, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run': acquire ab[0] overwrites a slot that was not released [slot-race]}}
  "pipelink.protocol"() {text = "repeat ab.stages { ab.acquire; ab.commit; } repeat k { ab.wait; ab.acquire; ab.commit; ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// One less
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "local", kind = "stream", touch = "cp_async", stages = [4, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat ab.stages - 1 { ab.acquire; ab.commit; } repeat k { ab.wait; ab.acquire; ab.commit; ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
