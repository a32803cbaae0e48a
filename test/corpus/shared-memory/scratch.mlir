// KIND: sum of all scratch instead of what lives at once
// DECIDED: place
// Buffers of one component whose intervals are apart share their bytes; summed up, the kernel would not fit.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Alive at once
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{overflows: '@a::@first' and '@a::@second' collide; it needs 262144 bytes, 29696 over 232448 of sm_90a [smem-overflow]}}
  "pipelink.smem"() {sym_name = "first", bytes = 131072, align = 16, live = [0, 2]} : () -> ()
  "pipelink.smem"() {sym_name = "second", bytes = 131072, align = 16, live = [1, 3]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// One after the other
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "first", bytes = 131072, align = 16, live = [0, 1]} : () -> ()
  "pipelink.smem"() {sym_name = "second", bytes = 131072, align = 16, live = [1, 3]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Of two components, which the kernel says are apart
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "first", bytes = 131072, align = 16} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "second", bytes = 131072, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.exclusive"() {name = "ops", roles = [@a::@run, @b::@run]} : () -> ()
}
