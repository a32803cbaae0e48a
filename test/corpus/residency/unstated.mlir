// KIND: a grid-synchronising component whose CTAs no longer all fit after a swap (shared memory, barriers, registers)
// DECIDED: check
// CTAs that wait for each other must all be on the device.  Nothing says so: refused at the link.  Said: the runtime
// compares the grid with what fits, after every swap anew (test_residency.py in this folder).
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Nothing keeps the CTAs resident
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@b::@s' waits for other CTAs of the grid, but nothing keeps them resident [not-resident]}}
  "pipelink.connect"() {source = @a::@s, target = @b::@s} : () -> ()
}

// -----

// Declared
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.resident"() : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@s, target = @b::@s} : () -> ()
}
