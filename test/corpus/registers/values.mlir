// KIND: values below 24 or not multiples of 8
// DECIDED: check
// setmaxnreg takes multiples of 8 from 24 to 256; another value is an error of ptxas, or silently nothing.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Sixteen
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{role 'run' of component 'a' states 16 registers, setmaxnreg takes multiples of 8 from 24 to 256 [bad-registers]}}
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [16, 40]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Not a multiple of 8
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{states 100 registers, setmaxnreg takes multiples of 8 from 24 to 256 [bad-registers]}}
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [24, 100]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// The least
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [24, 24]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [240, 240]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
}
