// KIND: LTO-IR newer than the linker or the target
// DECIDED: check
// nvJitLink reads LTO-IR of its own toolkit and of older ones, and links it for the same architecture or a later one.
// RUN: pl-opt --pipeline=check{linker=13.0},place -split-input-file -verify-diagnostics %s

// Of a newer architecture
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_100a"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{component 'a' is compiled for sm_100a, newer than sm_90a [arch-mismatch]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Of a newer toolkit
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.2"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{component 'a' was compiled by toolkit 13.2, newer than nvJitLink 13.0 [outdated-linker]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Of an older architecture
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// One of each
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_100a"}, {arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
