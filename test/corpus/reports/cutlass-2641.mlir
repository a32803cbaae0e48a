// KIND: bytes expected without an arrival on one path
// DECIDED: prove
// REPORT: https://github.com/NVIDIA/cutlass/issues/2641
// WRONG: To acquire a slot announces the bytes that are to come. Somebody wanted to skip the copy of some tiles,
// acquired their slots and committed them empty; a commit does nothing there, and the bytes never came.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// A slot is acquired on both paths, filled on one.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { choose { a.acquire; a.copy; } or { a.acquire; } }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{'@math::@math' waits for ever for slot '@math::@a'[0] to be filled: a[0] full expects 16384 bytes more than are copied [arrival-count]}}
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { a.wait; a.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// What is skipped takes no slot, and an end mark says that nothing more comes.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], ends = true, may_be_empty = true} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { choose { a.acquire; a.copy; } or { } } a.end;"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], ends = true, may_be_empty = true} : () -> ()
  "pipelink.protocol"() {of = "math", text = "until a { a.wait; a.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// Both know which tiles are skipped.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { choose needed { a.acquire; a.copy; } or { } }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { choose needed { a.wait; a.release; } or { } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}
