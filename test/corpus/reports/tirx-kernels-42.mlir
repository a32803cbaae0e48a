// KIND: a phase completes again before its waiters have seen it
// DECIDED: prove
// REPORT: https://github.com/mlc-ai/TIRx-kernels/pull/42
// WRONG: One thread announces each task at one mbarrier, and many warps wait for it. Nothing made it wait for them: a
// warp that was slow found the parity of the phase after the one it wanted.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Announced again without hearing back.
module @lib.publish attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "publish", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "token"} : () -> ()
  // expected-error @below {{'@publish::@publish': pass ready completes another phase of '@use::@ready', which '@use::@use' may not have taken yet [arrival-count]}}
  "pipelink.protocol"() {of = "publish", text = "repeat tasks { ready.pass; }"} : () -> ()
}
module @lib.use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "use", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "use", text = "repeat tasks { ready.take; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "publish", component = @lib.publish} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @lib.use} : () -> ()
  "pipelink.connect"() {source = @publish::@ready, target = @use::@ready} : () -> ()
}

// -----

// A second barrier says that all have seen it.
module @lib.publish attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "publish", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "read", direction = "in", kind = "token", credit = 1} : () -> ()
  "pipelink.protocol"() {of = "publish", text = "repeat tasks { read.take; ready.pass; }"} : () -> ()
}
module @lib.use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "use", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "read", direction = "out", kind = "token", credit = 1} : () -> ()
  "pipelink.protocol"() {of = "use", text = "repeat tasks { ready.take; read.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "publish", component = @lib.publish} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @lib.use} : () -> ()
  "pipelink.connect"() {source = @publish::@ready, target = @use::@ready} : () -> ()
  "pipelink.connect"() {source = @use::@read, target = @publish::@read} : () -> ()
}

// -----

// A ring of one slot between the same two holds the announcements back as well.
module @lib.publish attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "publish", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [1, 1], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "publish", text = "repeat tasks { x.acquire; x.commit; ready.pass; }"} : () -> ()
}
module @lib.use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "use", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 1], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "use", text = "repeat tasks { x.wait; ready.take; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "publish", component = @lib.publish} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @lib.use} : () -> ()
  "pipelink.connect"() {source = @publish::@ready, target = @use::@ready} : () -> ()
  "pipelink.connect"() {source = @publish::@x, target = @use::@x} : () -> ()
}
