// KIND: capacity of the family instead of the device
// DECIDED: place
// sm_80 gives one CTA 163 KiB, sm_89 and sm_120a 99: what fits on the largest of a family fits not on all of them.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// 160 KiB on sm_89
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{it needs 163840 bytes, 62464 over 101376 of sm_89 [smem-overflow]}}
  "pipelink.smem"() {sym_name = "table", bytes = 163840, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_89"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// On sm_120a, beside an H200's
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{it needs 163840 bytes, 62464 over 101376 of sm_120a [smem-overflow]}}
  "pipelink.smem"() {sym_name = "table", bytes = 163840, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_120a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// On sm_80
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "table", bytes = 163840, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// What sm_89 has
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "table", bytes = 101376, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_89"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
