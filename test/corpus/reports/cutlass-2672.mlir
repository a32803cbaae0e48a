// KIND: more than 16 named barriers
// DECIDED: check
// REPORT: https://github.com/NVIDIA/cutlass/issues/2672
// WRONG: Some warps of a kernel waited at barrier 1, others arrived at barrier 17. There are 16, of which the library
// keeps the first for itself; the author asked what happens then.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Twelve of one library and four of another.
module @lib.attention attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b4", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b5", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b6", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b7", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b8", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b9", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b10", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b11", threads = 128} : () -> ()
}
module @lib.epilogue attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128} : () -> ()
}
// expected-error @below {{kernel 'k' needs 16 named barriers, a CTA has 15 besides its own [too-many-barriers]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "attention", component = @lib.attention} : () -> ()
  "pipelink.instance"() {sym_name = "epilogue", component = @lib.epilogue} : () -> ()
}

// -----

// One fewer.
module @lib.attention attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b4", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b5", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b6", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b7", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b8", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b9", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b10", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b11", threads = 128} : () -> ()
}
module @lib.epilogue attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "attention", component = @lib.attention} : () -> ()
  "pipelink.instance"() {sym_name = "epilogue", component = @lib.epilogue} : () -> ()
}

// -----

// Components that never run at once may use the same ones.
module @lib.attention attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b4", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b5", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b6", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b7", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b8", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b9", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b10", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b11", threads = 128} : () -> ()
}
module @lib.epilogue attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "b0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "attention", component = @lib.attention} : () -> ()
  "pipelink.instance"() {sym_name = "epilogue", component = @lib.epilogue} : () -> ()
  "pipelink.exclusive"() {name = "phases", roles = [@attention::@run, @epilogue::@run]} : () -> ()
}
