// KIND: arrive twice in one generation
// DECIDED: prove
// bar.arrive does not wait: a role that comes around again before the others have been there arrives twice for one.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Nothing lets the first role wait
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@lib::@a': arrive full arrives at named barrier 1 and the round before may not be over [barrier-participation]}}
  "pipelink.protocol"() {text = "repeat n { full.arrive; }", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { full.sync; }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}

// -----

// The way back
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 256} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { full.arrive; empty.sync; }", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { full.sync; empty.arrive; }", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}

// -----

// Once
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 256} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "full.arrive;", of = "a"} : () -> ()
  "pipelink.protocol"() {text = "full.sync;", of = "b"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}
