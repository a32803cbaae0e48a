// KIND: participants ≠ count
// DECIDED: check
// A barrier waits for a number of threads; with fewer in the role, everybody waits for ever.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Half of them exist
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  // expected-error @below {{barrier 'meet' of component 'a' waits for 128 threads, role 'run' has 64 [barrier-mismatch]}}
  "pipelink.barrier"() {sym_name = "meet", threads = 128, role = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// All of them
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 128, role = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// No multiple of a warp
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{barrier 'meet' has 100 threads, not a multiple of 32 up to 1024 [wrong-attribute]}}
  "pipelink.barrier"() {sym_name = "meet", threads = 100, role = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
