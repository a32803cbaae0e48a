// KIND: flags that the next launch, or the replay of a graph, finds set
// DECIDED: check
// A flag that one launch sets is still set in the next one, unless somebody clears it or counts on from there.  A launch
// parameter that says which launch this is does not help: a captured graph keeps the first one's.
// RUN: pl-opt --pipeline=check -split-input-file -verify-diagnostics %s

// Nobody clears it
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "once"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "done.signal;", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "once"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "ready.await;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{signal '@a::@done' says neither its epoch nor who resets it, so a second launch would find it set [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@done, target = @b::@ready} : () -> ()
}

// -----

// The launch clears what holds the number of the epoch: every launch is the first one
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "zero"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "done.signal;", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "zero"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "ready.await;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{signal '@a::@done' counts by epochs in workspace 'flags', which is not cleared once [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@done, target = @b::@ready} : () -> ()
}

// -----

// The epoch lives in memory that is cleared once, and the kernel advances it
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "once"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "done.signal;", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "once"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "ready.await;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@done, target = @b::@ready} : () -> ()
}
