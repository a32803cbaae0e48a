// KIND: two toolkit majors in one link
// DECIDED: check
// REPORT: https://github.com/NVIDIA/cuda-python/issues/712
// WRONG: LTO-IR of two major versions of the toolkit does not mix, and no linker reads a newer one than its own. The
// maintainers wanted that to be an error of its own, but could not ask an object for its version.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// 12.9 and 13.0.
module @lib.a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "12.9"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @lib.b attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @lib.a} : () -> ()
  // expected-error @below {{component 'lib.b' was compiled by toolkit 13.0, component 'lib.a' by 12.9: their LTO-IR does not mix [mixed-toolkits]}}
  "pipelink.instance"() {sym_name = "b", component = @lib.b} : () -> ()
}

// -----

// Both of 13.0.
module @lib.a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @lib.b attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @lib.a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @lib.b} : () -> ()
}

// -----

// Two minor versions of one major.
module @lib.a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @lib.b attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.1"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @lib.a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @lib.b} : () -> ()
}
