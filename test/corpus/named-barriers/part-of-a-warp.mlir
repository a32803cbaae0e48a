// KIND: aligned form reached from different code sites or by part of a warp
// DECIDED: prove
// bar.sync counts warps: the elected thread that reaches it alone brings 32 threads with it, which are elsewhere.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// One thread
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@lib::@a, thread 0': sync meet is reached by part of a warp, and the barrier is aligned [barrier-participation]}}
  "pipelink.protocol"() {text = "repeat n { meet.sync by 1 thread; }", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync; }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}

// -----

// The role
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync; }", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync; }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}

// -----

// A whole warp of it, which the count allows for
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 160} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync by 1 warp; }", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync; }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}
