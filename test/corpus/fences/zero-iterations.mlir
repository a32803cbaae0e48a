// KIND: the path with zero iterations skips the fence
// DECIDED: prove
// The fence stands in a loop: with zero iterations it is not reached.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// In the loop
module @flag attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "ready.signal;", of = "run"} : () -> ()
}
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  // expected-warning @below {{that signal '@load::@see' comes is not proved [unproven]}}
  "pipelink.port"() {sym_name = "see", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@load::@run' awaits 'see' and then fetches 'x' by TMA on a way without a fence.proxy.async between [missing-fence]}}
  "pipelink.protocol"() {text = "see.await; repeat n { fence async; } x.acquire; x.copy;", of = "run"} : () -> ()
}
module @use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "x.wait; x.release;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "flag", component = @flag} : () -> ()
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @use} : () -> ()
  "pipelink.connect"() {source = @flag::@ready, target = @load::@see} : () -> ()
  "pipelink.connect"() {source = @load::@x, target = @use::@x} : () -> ()
}

// -----

// Behind the poll
module @flag attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.protocol"() {text = "ready.signal;", of = "run"} : () -> ()
}
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  // expected-warning @below {{that signal '@load::@see' comes is not proved [unproven]}}
  "pipelink.port"() {sym_name = "see", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "see.await; fence async; x.acquire; x.copy;", of = "run"} : () -> ()
}
module @use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "x.wait; x.release;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "flag", component = @flag} : () -> ()
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @use} : () -> ()
  "pipelink.connect"() {source = @flag::@ready, target = @load::@see} : () -> ()
  "pipelink.connect"() {source = @load::@x, target = @use::@x} : () -> ()
}
