// KIND: GPUs that wait for each other, whose CTAs are not all running
// DECIDED: check, prove
// A CTA that waits for another GPU holds its place; one of the grid that finds no place signals nobody.  What GPUs owe
// each other beside that, no contract shows: it is said that it is assumed.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Nothing keeps the CTAs on the device
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "signal", scope = "system", owner = "peer", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "signal", scope = "system", owner = "peer", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.tensor"() {name = "flags", element = "i32", shape = ["9", "32"], access = "readwrite"} : () -> ()
  "pipelink.peer"() {name = "flags_peers", tensor = "flags", count = 2} : () -> ()
  "pipelink.protocol"() {text = "o.signal; i.await;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{'@a::@i' waits for CTAs of other GPUs, but nothing keeps them resident [not-resident]}}
  "pipelink.connect"() {source = @a::@o, target = @a::@i} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// Declared, and what is then assumed
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "signal", scope = "system", owner = "peer", workspace = "flags", reset = "epoch"} : () -> ()
  // expected-warning @below {{that signal '@a::@i' comes is not proved; nor that all GPUs launch equally often, and that each awaits, in a launch, a signal of every GPU that it signals [unproven]}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "signal", scope = "system", owner = "peer", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.tensor"() {name = "flags", element = "i32", shape = ["9", "32"], access = "readwrite"} : () -> ()
  "pipelink.peer"() {name = "flags_peers", tensor = "flags", count = 2} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "o.signal; i.await;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}
