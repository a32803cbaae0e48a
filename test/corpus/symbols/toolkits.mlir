// KIND: two toolkit majors in one link
// DECIDED: check
// LTO-IR of CUDA 12 and of CUDA 13 are different formats; within one major version old ones stay readable.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s
// RUN: not pl-opt --pipeline=check{linker=13.0} -split-input-file %s 2>&1 | FileCheck %s
// CHECK: error: component 'b' was compiled by toolkit 12.9, which nvJitLink 13.0 cannot mix with its own [mixed-toolkits]

// 12 and 13
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "12.9"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{component 'b' was compiled by toolkit 12.9, component 'a' by 13.0: their LTO-IR does not mix [mixed-toolkits]}}
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
}

// -----

// 13 alone
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
}

// -----

// Two minor versions
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.1"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
}
