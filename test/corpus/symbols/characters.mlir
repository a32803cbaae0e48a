// KIND: a symbol with characters the toolchain rejects
// DECIDED: check
// Names of components, roles and kernels become names of device functions; ptxas would refuse the whole link, by number.
// RUN: pl-opt --pipeline=check,place,fuse -split-input-file -verify-diagnostics %s

// A kernel named as files are
module @lib.scale attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
// expected-error @below {{the name of kernel 'scale-bf16' becomes part of a device symbol, which consists of letters, digits and '_' [bad-symbol]}}
module @"scale-bf16" attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @lib.scale} : () -> ()
}

// -----

// A component, and a role in it
// expected-error @below {{the name of component 'lib.scale<bf16>' becomes part of a device symbol, which consists of letters, digits and '_' [bad-symbol]}}
module @"lib.scale<bf16>" attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{the name of role 'run-it' becomes part of a device symbol, which consists of letters, digits and '_' [bad-symbol]}}
  "pipelink.role"() {sym_name = "run-it", warps = 4} : () -> ()
}
module @scale attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @"lib.scale<bf16>"} : () -> ()
}

// -----

// Letters, digits and underscores; dots are C++'s ::
module @lib.scale_bf16 attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run_it", warps = 4} : () -> ()
}
module @scale2 attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @lib.scale_bf16} : () -> ()
}
