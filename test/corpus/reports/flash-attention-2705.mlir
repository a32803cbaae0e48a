// KIND: one role takes a work item twice
// DECIDED: prove
// REPORT: https://github.com/Dao-AILab/flash-attention/pull/2705
// WRONG: A tile scheduler lost the note that its first tile was taken, in the code of some roles: they went over it
// once more and waited for slots that nobody filled.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The consumers take the first tile twice.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { a.acquire; a.copy; }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{'@math::@math' waits for ever for slot '@math::@a'[0] to be filled: '@load::@load' has finished [rate-mismatch]}}
  "pipelink.protocol"() {of = "math", text = "a.wait; a.release; repeat k_tiles { a.wait; a.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// All take each tile once.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { a.acquire; a.copy; }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { a.wait; a.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// All take one before the loop.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "a.acquire; a.copy; repeat k_tiles { a.acquire; a.copy; }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "a.wait; a.release; repeat k_tiles { a.wait; a.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}
