// KIND: values below 24 or not multiples of 8
// DECIDED: check
// REPORT: https://github.com/triton-lang/triton/pull/11287
// WRONG: Idle partitions that only pad a warp group to its full width asked for 16 registers, and that number reached
// setmaxnreg, which takes multiples of 8 from 24 to 256.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// A role that only fills up a warpgroup asks for less than the hardware can set.
module @lib.pad attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{role 'run' of component 'lib.pad' states 16 registers, setmaxnreg takes multiples of 8 from 24 to 256 [bad-registers]}}
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4, registers = [16, 16]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "pad", component = @lib.pad} : () -> ()
}

// -----

// Clamped to what setmaxnreg takes.
module @lib.pad attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4, registers = [24, 24]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "pad", component = @lib.pad} : () -> ()
}

// -----

// The smallest value, next to the largest that a thread can use.
module @lib.pad attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4, registers = [24, 24]} : () -> ()
}
module @lib.work attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4, registers = [248, 248]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "pad", component = @lib.pad} : () -> ()
  "pipelink.instance"() {sym_name = "work", component = @lib.work} : () -> ()
}

// -----

// And more than that.
module @lib.work attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{role 'run' of component 'lib.work' needs at least 256 registers, a thread can use 248 [bad-registers]}}
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4, registers = [256, 256]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "work", component = @lib.work} : () -> ()
}
