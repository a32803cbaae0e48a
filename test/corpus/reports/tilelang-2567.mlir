// KIND: two rings waited for in opposite orders
// DECIDED: prove
// REPORT: https://github.com/tile-ai/tilelang/issues/2567
// WRONG: For some lengths the statistics of a tile were loaded another way, and the release of the tile's buffer moved
// behind the wait for them. They came after the next tile, which waited for that buffer: a circle.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The second tile waits for the buffer of the first, whose reader waits for what comes behind the second.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "q", direction = "out", kind = "stream", touch = "tma", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "out", kind = "stream", touch = "tma", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{roles wait for each other for ever: '@load::@load' waits for slot '@load::@q'[0] to be given back and '@math::@math' waits for slot '@math::@s'[0] to be filled [deadlock]}}
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { q.acquire; q.copy; q.acquire; q.copy; s.acquire; s.copy; }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "q", direction = "in", kind = "stream", touch = "threads", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "in", kind = "stream", touch = "threads", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { q.wait; s.wait; q.release; q.wait; q.release; s.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@q, target = @math::@q, stages = 1} : () -> ()
  "pipelink.connect"() {source = @load::@s, target = @math::@s, stages = 1} : () -> ()
}

// -----

// The buffer is released before the statistics are awaited.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "q", direction = "out", kind = "stream", touch = "tma", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "out", kind = "stream", touch = "tma", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { q.acquire; q.copy; q.acquire; q.copy; s.acquire; s.copy; }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "q", direction = "in", kind = "stream", touch = "threads", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "in", kind = "stream", touch = "threads", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { q.wait; q.release; q.wait; q.release; s.wait; s.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@q, target = @math::@q, stages = 1} : () -> ()
  "pipelink.connect"() {source = @load::@s, target = @math::@s, stages = 1} : () -> ()
}

// -----

// With two buffers the late release does no harm.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "q", direction = "out", kind = "stream", touch = "tma", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "out", kind = "stream", touch = "tma", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { q.acquire; q.copy; q.acquire; q.copy; s.acquire; s.copy; }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "q", direction = "in", kind = "stream", touch = "threads", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "in", kind = "stream", touch = "threads", stages = [1, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { q.wait; s.wait; q.release; q.wait; q.release; s.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@q, target = @math::@q, stages = 2} : () -> ()
  "pipelink.connect"() {source = @load::@s, target = @math::@s, stages = 1} : () -> ()
}
