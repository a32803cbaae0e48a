// KIND: elected thread publishes what its sister lanes have not written
// DECIDED: prove
// REPORT: https://github.com/NVIDIA/cudnn-frontend/pull/426
// WRONG: All lanes of a warp store weights to shared memory, one of them arrives at the mbarrier. An arrival releases
// what the arriving thread has written, not what its neighbours have.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// 32 lanes write, one arrives.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "w", direction = "out", kind = "stream", touch = "threads", stages = [1, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { w.acquire; w.write; w.commit by 1 thread; }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "w", direction = "in", kind = "stream", touch = "threads", stages = [1, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{'@math::@math': wait w[0], while '@load::@load, threads 1-31' may still write w[0] [slot-race]}}
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { w.wait; w.read; w.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@w, target = @math::@w} : () -> ()
}

// -----

// All of them commit.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "w", direction = "out", kind = "stream", touch = "threads", stages = [1, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { w.acquire; w.write; w.commit; }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "w", direction = "in", kind = "stream", touch = "threads", stages = [1, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { w.wait; w.read; w.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@w, target = @math::@w} : () -> ()
}

// -----

// They meet before one does.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 32} : () -> ()
  "pipelink.port"() {sym_name = "w", direction = "out", kind = "stream", touch = "threads", stages = [1, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { w.acquire; w.write; met.sync; w.commit by 1 thread; }"} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "w", direction = "in", kind = "stream", touch = "threads", stages = [1, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat k_tiles { w.wait; w.read; w.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@w, target = @math::@w} : () -> ()
}
