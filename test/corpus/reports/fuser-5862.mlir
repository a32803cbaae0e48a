// KIND: producer looks ahead further than the ring is deep
// DECIDED: prove
// REPORT: https://github.com/NVIDIA/Fuser/pull/5862
// WRONG: Each step brought eight rows, each with an mbarrier of its own, over a ring that was always made of six: the
// seventh and eighth met the barriers of the first two while those were in use.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Eight slots are held at once, six exist.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 16], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{roles wait for each other for ever: '@load::@load' waits for slot '@load::@x'[0] to be given back and '@norm::@norm' waits for slot '@norm::@x'[0] to be filled [deadlock]}}
  "pipelink.protocol"() {of = "load", text = "repeat rows { repeat 8 { x.acquire; x.copy; } }"} : () -> ()
}
module @lib.norm attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "norm", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 16], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "norm", text = "repeat rows { repeat 8 { x.wait; } x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "norm", component = @lib.norm} : () -> ()
  "pipelink.connect"() {source = @load::@x, target = @norm::@x, stages = 6} : () -> ()
}

// -----

// A ring of eight.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 16], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat rows { repeat 8 { x.acquire; x.copy; } }"} : () -> ()
}
module @lib.norm attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "norm", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 16], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "norm", text = "repeat rows { repeat 8 { x.wait; } x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "norm", component = @lib.norm} : () -> ()
  "pipelink.connect"() {source = @load::@x, target = @norm::@x, stages = 8} : () -> ()
}

// -----

// A ring of six for a consumer that holds five and waits for one.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 16], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat rows { repeat 8 { x.acquire; x.copy; } }"} : () -> ()
}
module @lib.norm attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "norm", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 16], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "norm", text = "repeat rows { repeat 8 { x.wait; x.release keep 5; } x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "norm", component = @lib.norm} : () -> ()
  "pipelink.connect"() {source = @load::@x, target = @norm::@x, stages = 6} : () -> ()
}
