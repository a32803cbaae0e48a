// KIND: participants ≠ count
// DECIDED: prove
// A barrier of 256 threads completes by any 256: where the two roles do not meet equally often, one of them waits alone.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// One role meets once more than the other
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@lib::@a' waits for ever at named barrier 1 (@lib::@meet), where 128 of 256 threads are: '@lib::@b' has finished [barrier-participation]}}
  "pipelink.protocol"() {text = "repeat n { meet.sync; } meet.sync;", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync; }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}

// -----

// Equally often
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync; } meet.sync;", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync; } meet.sync;", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}

// -----

// One arrives and goes on, the other waits
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 256} : () -> ()
  "pipelink.barrier"() {sym_name = "back", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.arrive; back.sync; }", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync; back.arrive; }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}
