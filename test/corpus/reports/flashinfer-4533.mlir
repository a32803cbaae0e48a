// KIND: two groups of warps on one barrier number
// DECIDED: prove
// REPORT: https://github.com/flashinfer-ai/flashinfer/pull/4533
// WRONG: Two halves of a warpgroup each reduced over a barrier of 64 threads, and both used the same number. Once in
// about 25 requests one half's warps completed the other half's round, and a CTA stood still.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Both halves meet at one barrier of 64 threads.
module @lib.correct attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "low", warps = 2} : () -> ()
  "pipelink.role"() {sym_name = "high", warps = 2} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 64} : () -> ()
  "pipelink.protocol"() {of = "low", text = "repeat tiles { met.sync; }"} : () -> ()
  // expected-error @below {{'@correct::@high': sync met arrives at named barrier 1 and the round before may not be over [barrier-participation]}}
  "pipelink.protocol"() {of = "high", text = "repeat tiles { met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "correct", component = @lib.correct} : () -> ()
}

// -----

// A barrier for each half.
module @lib.correct attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "low", warps = 2} : () -> ()
  "pipelink.role"() {sym_name = "high", warps = 2} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "low_met", threads = 64} : () -> ()
  "pipelink.barrier"() {sym_name = "high_met", threads = 64} : () -> ()
  "pipelink.protocol"() {of = "low", text = "repeat tiles { low_met.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "high", text = "repeat tiles { high_met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "correct", component = @lib.correct} : () -> ()
}

// -----

// One barrier for both, of 128 threads.
module @lib.correct attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "low", warps = 2} : () -> ()
  "pipelink.role"() {sym_name = "high", warps = 2} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.protocol"() {of = "low", text = "repeat tiles { met.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "high", text = "repeat tiles { met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "correct", component = @lib.correct} : () -> ()
}
