// KIND: a barrier in loops of different lengths
// DECIDED: prove
// REPORT: https://github.com/intel/sycl-tla/pull/830
// WRONG: Under a causal mask each group of rows has its own number of blocks, and a barrier of the whole workgroup
// stood in the loop over them: those with more blocks waited for those that were done.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The rows below the diagonal have more blocks.
module @lib.fmha attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "upper", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "lower", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "blocks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "blocks_below", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "step", threads = 256} : () -> ()
  "pipelink.protocol"() {of = "upper", text = "repeat blocks { step.sync; }"} : () -> ()
  // expected-error @below {{'@fmha::@lower' waits for ever at named barrier 1 (@fmha::@step), where 128 of 256 threads are: '@fmha::@upper' has finished [barrier-participation]}}
  "pipelink.protocol"() {of = "lower", text = "repeat blocks_below { step.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fmha", component = @lib.fmha} : () -> ()
}

// -----

// All go over as many blocks as the longest needs.
module @lib.fmha attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "upper", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "lower", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "blocks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "blocks_below", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "step", threads = 256} : () -> ()
  "pipelink.protocol"() {of = "upper", text = "repeat blocks_below { step.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "lower", text = "repeat blocks_below { step.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fmha", component = @lib.fmha} : () -> ()
}

// -----

// A barrier for each group of rows.
module @lib.fmha attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "upper", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "lower", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "blocks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "blocks_below", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "above", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "below", threads = 128} : () -> ()
  "pipelink.protocol"() {of = "upper", text = "repeat blocks { above.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "lower", text = "repeat blocks_below { below.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fmha", component = @lib.fmha} : () -> ()
}
