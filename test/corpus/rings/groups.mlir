// KIND: slot overwritten while read: drain one too weak
// DECIDED: prove
// wait_group lets the last groups be under way, two less than the ring is deep.  With fewer groups begun than that counts
// on, the slot that is read next is one of those; so an iteration that has nothing to fetch commits an empty group.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// One group too few
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "local", kind = "stream", touch = "cp_async", stages = [4, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run': wait ab[0] reads a slot whose copies may still be under way: 2 groups are committed from it on, 3 are needed [slot-race]}}
  "pipelink.protocol"() {text = "repeat ab.stages - 2 { ab.acquire; ab.commit; } repeat k { ab.wait; ab.acquire; ab.commit; ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Nothing committed where nothing is fetched
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "local", kind = "stream", touch = "cp_async", stages = [4, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run': wait ab[1] reads a slot whose copies may still be under way: 2 groups are committed from it on, 3 are needed [slot-race]}}
  "pipelink.protocol"() {text = "repeat ab.stages - 1 { ab.acquire; ab.commit; } repeat k { ab.wait; choose { ab.acquire; ab.commit; } or { } ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Enough, in every iteration
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
