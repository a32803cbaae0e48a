// RUN: pl-opt --pipeline=check,place,fuse -split-input-file -verify-diagnostics %s

// A kernel has no name of a function that it is linked with: of a transfer, of a component, of the driver.
module @x.kept attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "first", columns = 64} : () -> ()
}
// expected-error @below {{kernel 'pl_tmem_allocate' has the name of a device function that it is linked with [reserved-name]}}
module @pl_tmem_allocate attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.kept} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

module @x.kept attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "first", columns = 64} : () -> ()
}
// expected-error @below {{kernel '_ZN1x4kept5first10pl_addressEiPv' has the name of a device function that it is linked with [reserved-name]}}
module @_ZN1x4kept5first10pl_addressEiPv attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.kept} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

module @x.one attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
// expected-error @below {{kernel 'vprintf' has the name of a device function that it is linked with [reserved-name]}}
module @vprintf attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.one} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
