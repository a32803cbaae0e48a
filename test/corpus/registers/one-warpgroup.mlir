// KIND: different values in one warpgroup
// DECIDED: place
// setmaxnreg is one instruction of all four warps: roles in one warpgroup, or on the same warps, have one count.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Two alternatives on the same warps
module @few attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [24, 64]} : () -> ()
}
module @many attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [128, 200]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @few} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @many} : () -> ()
  // expected-error @below {{roles of 'ops' share warps but no register count: '@a::@run' wants 24 to 64, '@b::@run' wants 128 to 200 [register-disagreement]}}
  "pipelink.exclusive"() {name = "ops", roles = [@a::@run, @b::@run]} : () -> ()
}

// -----

// Ranges that meet
module @few attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [24, 144]} : () -> ()
}
module @many attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [128, 200]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @few} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @many} : () -> ()
  "pipelink.exclusive"() {name = "ops", roles = [@a::@run, @b::@run]} : () -> ()
}

// -----

// Single warps that want different counts lie in different warpgroups
module @few attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, registers = [24, 24]} : () -> ()
}
module @many attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, registers = [200, 200]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @few} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @many} : () -> ()
}
