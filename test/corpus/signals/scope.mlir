// KIND: a release of narrower scope than who waits is in
// DECIDED: check
// An addition that releases for this GPU alone is no release for another GPU, or the host, that acquires it.
// RUN: pl-opt --pipeline=check -split-input-file -verify-diagnostics %s

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "once"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "done.signal;", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "system", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "once"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "ready.await;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@done' and '@b::@ready' disagree on the signal's scope: gpu and system [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@done, target = @b::@ready} : () -> ()
}

// -----

// Both are of the system
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "system", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "once"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "done.signal;", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "system", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "1152", init = "once"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "ready.await;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@done, target = @b::@ready} : () -> ()
}
