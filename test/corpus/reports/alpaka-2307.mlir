// KIND: blocks wait for each other and do not all fit
// DECIDED: check
// REPORT: https://github.com/alpaka-group/alpaka/pull/2307
// WRONG: A barrier over the grid locked up as soon as there were more than two blocks for each multiprocessor: the
// ones that ran waited for ones that could not start.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Nothing says that all CTAs of the grid run at once.
module @lib.reduce attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "part", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "flag", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
}
module @lib.finish attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "last", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "flag", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "reduce", component = @lib.reduce} : () -> ()
  "pipelink.instance"() {sym_name = "finish", component = @lib.finish} : () -> ()
  "pipelink.grid"() {value = ["4 * sms", "1", "1"]} : () -> ()
  // expected-error @below {{'@finish::@flag' waits for other CTAs of the grid, but nothing keeps them resident [not-resident]}}
  "pipelink.connect"() {source = @reduce::@flag, target = @finish::@flag} : () -> ()
}

// -----

// It is said, and the grid is what fits; the launch compares the two.
module @lib.reduce attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "part", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "flag", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
}
module @lib.finish attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "last", warps = 4} : () -> ()
  // expected-warning @below {{that signal '@finish::@flag' comes is not proved [unproven]}}
  "pipelink.port"() {sym_name = "flag", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.resident"() {} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "reduce", component = @lib.reduce} : () -> ()
  "pipelink.instance"() {sym_name = "finish", component = @lib.finish} : () -> ()
  "pipelink.grid"() {value = ["sms * occupancy", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @reduce::@flag, target = @finish::@flag} : () -> ()
}

// -----

// A grid of another size: the launch refuses it where it does not fit.
module @lib.reduce attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "part", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "flag", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
}
module @lib.finish attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "last", warps = 4} : () -> ()
  // expected-warning @below {{that signal '@finish::@flag' comes is not proved [unproven]}}
  "pipelink.port"() {sym_name = "flag", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.resident"() {} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "reduce", component = @lib.reduce} : () -> ()
  "pipelink.instance"() {sym_name = "finish", component = @lib.finish} : () -> ()
  "pipelink.grid"() {value = ["4 * sms", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @reduce::@flag, target = @finish::@flag} : () -> ()
}
