// KIND: participants are not the count
// DECIDED: check
// REPORT: https://github.com/facebookexperimental/triton/pull/183
// WRONG: A compiler took every warp-specialised region for one of four warps, and set up barriers for 128 threads in
// regions of one or two warps.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// A region of one warp, a barrier of four.
module @lib.task attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "task", warps = 1} : () -> ()
  // expected-error @below {{barrier 'done' of component 'lib.task' waits for 128 threads, role 'task' has 32 [barrier-mismatch]}}
  "pipelink.barrier"() {sym_name = "done", threads = 128, role = "task"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "task", component = @lib.task} : () -> ()
}

// -----

// The count of the region.
module @lib.task attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "task", warps = 1} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 32, role = "task"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "task", component = @lib.task} : () -> ()
}

// -----

// Two warps of a larger region.
module @lib.task attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "task", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 64, role = "task"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "task", component = @lib.task} : () -> ()
}
