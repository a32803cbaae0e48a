// KIND: more than 16
// DECIDED: check
// A CTA has 16 barriers; 0 is the entry's.  Two steps of eight each ask for one more than the rest; at exactly 15 it fits.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Sixteen of components
module @steps attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b4", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b5", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b6", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b7", threads = 128} : () -> ()
}
// expected-error @below {{kernel 'k' needs 16 named barriers, a CTA has 15 besides its own [too-many-barriers]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @steps} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @steps} : () -> ()
}

// -----

// Steps that never run at once share their ids
module @steps attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b4", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b5", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b6", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b7", threads = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @steps} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @steps} : () -> ()
  "pipelink.exclusive"() {name = "steps", roles = [@a::@run, @b::@run]} : () -> ()
}

// -----

// Fifteen
module @steps attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b4", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b5", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b6", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b7", threads = 128} : () -> ()
}
module @less attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b4", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b5", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b6", threads = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @steps} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @less} : () -> ()
}
