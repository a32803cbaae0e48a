// KIND: an empty tile arrives where nobody waits
// DECIDED: prove
// REPORT: https://github.com/Dao-AILab/flash-attention/pull/2258
// WRONG: Where a row of a sparse mask is empty, one role still arrived at barriers that the other does not wait at for
// such a row. After an odd number of empty rows the parities differed, and the kernel hung.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The empty row passes what nobody takes.
module @lib.publish attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "publish", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "read", direction = "in", kind = "token", credit = 1} : () -> ()
  "pipelink.protocol"() {of = "publish", text = "repeat tasks { choose row { read.take; ready.pass; } or { ready.pass; } }"} : () -> ()
}
module @lib.use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "use", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "read", direction = "out", kind = "token", credit = 1} : () -> ()
  // expected-error @below {{'@use::@use' has finished, and a token of '@use::@ready' is left that '@publish::@publish' gave [rate-mismatch]}}
  "pipelink.protocol"() {of = "use", text = "repeat tasks { choose row { ready.take; read.pass; } or { } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "publish", component = @lib.publish} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @lib.use} : () -> ()
  "pipelink.connect"() {source = @publish::@ready, target = @use::@ready} : () -> ()
  "pipelink.connect"() {source = @use::@read, target = @publish::@read} : () -> ()
}

// -----

// It passes nothing.
module @lib.publish attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "publish", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "read", direction = "in", kind = "token", credit = 1} : () -> ()
  "pipelink.protocol"() {of = "publish", text = "repeat tasks { choose row { read.take; ready.pass; } or { } }"} : () -> ()
}
module @lib.use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "use", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "read", direction = "out", kind = "token", credit = 1} : () -> ()
  "pipelink.protocol"() {of = "use", text = "repeat tasks { choose row { ready.take; read.pass; } or { } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "publish", component = @lib.publish} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @lib.use} : () -> ()
  "pipelink.connect"() {source = @publish::@ready, target = @use::@ready} : () -> ()
  "pipelink.connect"() {source = @use::@read, target = @publish::@read} : () -> ()
}

// -----

// Both do for an empty row what they do for others.
module @lib.publish attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "publish", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "read", direction = "in", kind = "token", credit = 1} : () -> ()
  "pipelink.protocol"() {of = "publish", text = "repeat tasks { choose row { read.take; ready.pass; } or { read.take; ready.pass; } }"} : () -> ()
}
module @lib.use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "use", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tasks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "read", direction = "out", kind = "token", credit = 1} : () -> ()
  "pipelink.protocol"() {of = "use", text = "repeat tasks { choose row { ready.take; read.pass; } or { ready.take; read.pass; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "publish", component = @lib.publish} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @lib.use} : () -> ()
  "pipelink.connect"() {source = @publish::@ready, target = @use::@ready} : () -> ()
  "pipelink.connect"() {source = @use::@read, target = @publish::@read} : () -> ()
}
