// KIND: columns summed instead of overlaid
// DECIDED: place
// 512 columns are there; two accumulators of 384 that are never alive together share theirs.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Alive at once
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{tensor memory of kernel 'k' overflows: '@a::@s' and '@a::@o' need 768 columns, 256 over 512 of sm_100a [tmem-overflow]}}
  "pipelink.tmem"() {sym_name = "s", columns = 384, live = [0, 2]} : () -> ()
  "pipelink.tmem"() {sym_name = "o", columns = 384, live = [1, 3]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// One after the other
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "s", columns = 384, live = [0, 1]} : () -> ()
  "pipelink.tmem"() {sym_name = "o", columns = 384, live = [1, 3]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Together, in all of it
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "s", columns = 256, live = [0, 2]} : () -> ()
  "pipelink.tmem"() {sym_name = "o", columns = 256, live = [1, 3]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
