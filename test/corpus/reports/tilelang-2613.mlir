// KIND: slot overwritten while read: missing loop-back
// DECIDED: prove
// REPORT: https://github.com/tile-ai/tilelang/issues/2613
// WRONG: Two groups of warps multiply from one tile in shared memory that others fill anew in every step. A barrier
// said that it was full, nothing said that both had read it: the slower one read the next step's values.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Full is announced, empty is not.
module @lib.gemm attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "first", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "second", warps = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 384} : () -> ()
  "pipelink.smem"() {sym_name = "a", bytes = 16384, align = 1024} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@gemm::@load': write a, while '@gemm::@first' may still read a [slot-race]}}
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { a.write; full.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "first", text = "repeat k_tiles { full.sync; a.read; }"} : () -> ()
  "pipelink.protocol"() {of = "second", text = "repeat k_tiles { full.sync; a.read; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "gemm", component = @lib.gemm} : () -> ()
}

// -----

// Everybody meets again after reading.
module @lib.gemm attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "first", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "second", warps = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 384} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 384} : () -> ()
  "pipelink.smem"() {sym_name = "a", bytes = 16384, align = 1024} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { a.write; full.sync; empty.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "first", text = "repeat k_tiles { full.sync; a.read; empty.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "second", text = "repeat k_tiles { full.sync; a.read; empty.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "gemm", component = @lib.gemm} : () -> ()
}

// -----

// Readers need not wait for each other.
module @lib.gemm attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "first", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "second", warps = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 384} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 384} : () -> ()
  "pipelink.smem"() {sym_name = "a", bytes = 16384, align = 1024} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { a.write; full.sync; empty.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "first", text = "repeat k_tiles { full.sync; a.read; empty.arrive; }"} : () -> ()
  "pipelink.protocol"() {of = "second", text = "repeat k_tiles { full.sync; a.read; empty.arrive; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "gemm", component = @lib.gemm} : () -> ()
}
