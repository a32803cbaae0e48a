// KIND: LTO and non-LTO inputs mixed
// DECIDED: check
// Machine code among LTO-IR links as calls, without a word, and takes setmaxnreg with it.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// A cubin
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", kind = "cubin"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{component 'a' has no LTO-IR, only cubin [no-ltoir]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
}

// -----

// PTX
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", kind = "ptx"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{component 'a' has no LTO-IR, only ptx [no-ltoir]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// LTO-IR
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
}

// -----

// LTO-IR beside a cubin in one object, as plain nvcc makes it
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a"}, {arch = "sm_90a", kind = "cubin"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
