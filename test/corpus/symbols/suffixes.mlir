// KIND: a and f variants confused (and cached under one key)
// DECIDED: check
// Code for sm_100a runs on that chip alone, code for sm_100f on its family, code for sm_100 on all later ones.
// That links for sm_90 and sm_90a have keys of their own in the cache is a test of test/unit/link/test_link.py.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// a: one chip
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_100a"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_103a"}} {
  // expected-error @below {{component 'a' has no code that links for sm_103a, only for sm_100a [missing-arch]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// f: its family
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_100f"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_103a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// f: not another family
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_100f"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_120a"}} {
  // expected-error @below {{component 'a' has no code that links for sm_120a, only for sm_100f [missing-arch]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// No suffix: every later one
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_120a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// a without the a
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90"}} {
  // expected-error @below {{component 'a' has no code that links for sm_90, only for sm_90a [missing-arch]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
