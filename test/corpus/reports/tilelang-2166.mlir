// KIND: read before the wait that it needs
// DECIDED: prove
// REPORT: https://github.com/tile-ai/tilelang/pull/2166
// WRONG: A compiler put the wait for a stage before the first use of what TMA brings. What ordinary loads bring was
// used earlier in the body, and read before anybody had waited for it.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// b is read before it is awaited.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "tma", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "simt", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "tma"} : () -> ()
  "pipelink.port"() {sym_name = "b", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "simt"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "b", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{'@math::@math': read b without holding a slot [slot-race]}}
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { b.read; a.wait; b.wait; a.read; a.release; b.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
  "pipelink.connect"() {source = @load::@b, target = @math::@b} : () -> ()
}

// -----

// The wait stands before the first use of either.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "tma", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "simt", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "tma"} : () -> ()
  "pipelink.port"() {sym_name = "b", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "simt"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "b", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { a.wait; b.wait; b.read; a.read; a.release; b.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
  "pipelink.connect"() {source = @load::@b, target = @math::@b} : () -> ()
}

// -----

// What is used first is awaited first.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "tma", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "simt", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "tma"} : () -> ()
  "pipelink.port"() {sym_name = "b", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "simt"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "b", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { b.wait; b.read; a.wait; a.read; a.release; b.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
  "pipelink.connect"() {source = @load::@b, target = @math::@b} : () -> ()
}
