// KIND: one path of a role arrives and never waits (the empty work item)
// DECIDED: prove
// An empty work item takes the short way, which arrives and does not wait: two empty ones in a row arrive twice.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The short way goes on at once
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 256} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "items", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@lib::@a': arrive full arrives at named barrier 1 and the round before may not be over [barrier-participation]}}
  "pipelink.protocol"() {text = "repeat items { choose { full.arrive; empty.sync; } or { full.arrive; } }", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat items { full.sync; empty.arrive; }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}

// -----

// Both ways wait
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 256} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "items", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat items { choose { full.arrive; empty.sync; } or { full.arrive; empty.sync; } }", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat items { full.sync; empty.arrive; }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}

// -----

// Both roles know that the item is empty
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 256} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "items", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat items { choose item { full.arrive; empty.sync; } or { } }", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat items { choose item { full.sync; empty.arrive; } or { } }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}
