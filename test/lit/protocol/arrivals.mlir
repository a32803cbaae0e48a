// How many arrivals complete a phase follows from who takes the step: `by` in the protocol, else every thread.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s | FileCheck %s

module @acme.fill attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 8 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64}], stages = [2, 2], touch = "threads"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 4 { x.acquire by 2 warps; x.commit by 2 warps; } done.pass by 1 thread;"} : () -> ()
}
module @acme.product attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 8 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64}], stages = [2, 2], touch = "wgmma"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "in", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 4 { x.wait by 1 warpgroup; x.release by 1 warpgroup; } done.take;"} : () -> ()
}
// The answer is run by two of its caller's eight warps, and of these one releases.
module @acme.look attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 8 : i64} : () -> ()
  "pipelink.port"() {sym_name = "look", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 4 { look by 2 warps; }"} : () -> ()
}
module @acme.looked attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.port"() {sym_name = "look", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64}], stages = [2, 2], touch = "threads"} : () -> ()
  "pipelink.protocol"() {of = "look", text = "x.wait; x.release;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @acme.fill} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @acme.product} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @acme.look} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @acme.looked} : () -> ()
  // One warpgroup and two warps release, two warps commit.
  // CHECK: consumer_arrivals = 3 : i64
  // CHECK-SAME: consumer_unit = "warpgroup"
  // CHECK-SAME: producer_arrivals = 2 : i64
  // CHECK-SAME: producer_unit = "warp"
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  // CHECK: consumer_unit = "warp"
  "pipelink.connect"() {source = @a::@x, target = @d::@x} : () -> ()
  "pipelink.connect"() {source = @c::@look, target = @d::@look} : () -> ()
  // Part of a warp cannot meet: each of its threads arrives.
  // CHECK: producer_arrivals = 1 : i64, producer_unit = "thread", transfer = "token"
  "pipelink.connect"() {source = @a::@done, target = @b::@done} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

module @acme.fill attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128 : i64, align = 128 : i64}], stages = [2, 2], touch = "threads"} : () -> ()
}
module @acme.drain attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128 : i64, align = 128 : i64}], stages = [2, 2], touch = "threads"} : () -> ()
  // expected-error @+1 {{steps on port '@b::@x' are taken by 1 warp here, by every thread there [arrival-disagreement]}}
  "pipelink.protocol"() {of = "run", text = "x.wait; x.release; repeat 3 { x.wait; x.release by 1 warp; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @acme.fill} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @acme.drain} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
