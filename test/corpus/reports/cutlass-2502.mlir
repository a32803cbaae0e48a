// KIND: a wait that leaves out more copies than are on their way
// DECIDED: prove
// REPORT: https://github.com/NVIDIA/cutlass/pull/2502
// WRONG: A producer waited until all but a fixed number of its cp.async groups had landed, and announced a slot. With
// fewer stages than the number was made for, fewer groups were on their way than it left out: nothing was waited for.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// One copy less is on its way than the wait leaves out.
module @lib.mainloop attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "local", kind = "stream", touch = "cp_async", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{'@mainloop::@run': wait ab[0] reads a slot whose copies may still be under way: 2 groups are committed from it on, 3 are needed [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat ab.stages - 2 { ab.acquire; ab.commit; } repeat k_tiles { ab.wait; ab.read; ab.acquire; ab.commit; ab.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "mainloop", component = @lib.mainloop} : () -> ()
}

// -----

// As many as the wait is made for.
module @lib.mainloop attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "local", kind = "stream", touch = "cp_async", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat ab.stages - 1 { ab.acquire; ab.commit; } repeat k_tiles { ab.wait; ab.read; ab.acquire; ab.commit; ab.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "mainloop", component = @lib.mainloop} : () -> ()
}

// -----

// The slot before is given back first.
module @lib.mainloop attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "local", kind = "stream", touch = "cp_async", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat ab.stages - 1 { ab.acquire; ab.commit; } repeat k_tiles { ab.wait; ab.read; ab.release; ab.acquire; ab.commit; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "mainloop", component = @lib.mainloop} : () -> ()
}
