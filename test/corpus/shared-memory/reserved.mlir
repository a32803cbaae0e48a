// KIND: the reserved 1 KiB forgotten
// DECIDED: place
// An SM of sm_90a has 228 KiB, one CTA may use 227 of them: the first KiB is the driver's.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// All 228 KiB
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{shared memory of kernel 'k' overflows: '@a::@table' does not fit; it needs 233472 bytes, 1024 over 232448 of sm_90a [smem-overflow]}}
  "pipelink.smem"() {sym_name = "table", bytes = 233472, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// 227 KiB: placed behind the first
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "table", bytes = 232448, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Two CTAs on an SM: each has its own KiB
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "table", bytes = 115712, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a", min_ctas = 2}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// One byte more, and two CTAs do not fit
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{1 over 115712 of sm_90a with 2 CTAs on an SM [smem-overflow]}}
  "pipelink.smem"() {sym_name = "table", bytes = 115713, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a", min_ctas = 2}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
