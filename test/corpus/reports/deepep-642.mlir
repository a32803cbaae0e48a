// KIND: flag polled generically, payload fetched by TMA
// DECIDED: prove
// REPORT: https://github.com/deepseek-ai/DeepEP/pull/642
// WRONG: A rank polls a flag with ordinary loads until another one's tokens are there, and fetches them by TMA.
// Between the two proxies nothing was ordered: TMA could bring what was there before.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Polled, then fetched.
module @lib.send attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "send", warps = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
  "pipelink.resident"() {} : () -> ()
  "pipelink.protocol"() {of = "send", text = "repeat chunks { ready.signal; }"} : () -> ()
}
module @lib.receive attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fetch", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-warning @below {{that signal '@receive::@ready' comes is not proved [unproven]}}
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  // expected-error @below {{'@receive::@fetch' awaits 'ready' and then fetches 'x' by TMA on a way without a fence.proxy.async between [missing-fence]}}
  "pipelink.protocol"() {of = "fetch", text = "repeat chunks { ready.await; x.acquire; x.copy; }"} : () -> ()
}
module @lib.use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "use", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.protocol"() {of = "use", text = "repeat chunks { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "send", component = @lib.send} : () -> ()
  "pipelink.instance"() {sym_name = "receive", component = @lib.receive} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @lib.use} : () -> ()
  "pipelink.connect"() {source = @send::@ready, target = @receive::@ready} : () -> ()
  "pipelink.connect"() {source = @receive::@x, target = @use::@x} : () -> ()
}

// -----

// A proxy fence between.
module @lib.send attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "send", warps = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
  "pipelink.resident"() {} : () -> ()
  "pipelink.protocol"() {of = "send", text = "repeat chunks { ready.signal; }"} : () -> ()
}
module @lib.receive attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fetch", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-warning @below {{that signal '@receive::@ready' comes is not proved [unproven]}}
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.protocol"() {of = "fetch", text = "repeat chunks { ready.await; fence async; x.acquire; x.copy; }"} : () -> ()
}
module @lib.use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "use", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.protocol"() {of = "use", text = "repeat chunks { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "send", component = @lib.send} : () -> ()
  "pipelink.instance"() {sym_name = "receive", component = @lib.receive} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @lib.use} : () -> ()
  "pipelink.connect"() {source = @send::@ready, target = @receive::@ready} : () -> ()
  "pipelink.connect"() {source = @receive::@x, target = @use::@x} : () -> ()
}

// -----

// Fetched by ordinary loads.
module @lib.send attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "send", warps = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4", init = "zero"} : () -> ()
  "pipelink.resident"() {} : () -> ()
  "pipelink.protocol"() {of = "send", text = "repeat chunks { ready.signal; }"} : () -> ()
}
module @lib.receive attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fetch", warps = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-warning @below {{that signal '@receive::@ready' comes is not proved [unproven]}}
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.protocol"() {of = "fetch", text = "repeat chunks { ready.await; x.acquire; x.commit; }"} : () -> ()
}
module @lib.use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "use", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.protocol"() {of = "use", text = "repeat chunks { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "send", component = @lib.send} : () -> ()
  "pipelink.instance"() {sym_name = "receive", component = @lib.receive} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @lib.use} : () -> ()
  "pipelink.connect"() {source = @send::@ready, target = @receive::@ready} : () -> ()
  "pipelink.connect"() {source = @receive::@x, target = @use::@x} : () -> ()
}
