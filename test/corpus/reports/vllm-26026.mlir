// KIND: one path of a role arrives and never waits (the empty work item)
// DECIDED: prove
// REPORT: https://github.com/vllm-project/vllm/pull/26026
// WRONG: A tile without work made the computing warps return early: they arrived at the barrier that the loading warps
// wait at and went on to the next tile. Two empty tiles in a row were two arrivals for one wait.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The path without work arrives and goes on.
module @lib.mla attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "compute", warps = 8, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "load", warps = 2} : () -> ()
  "pipelink.barrier"() {sym_name = "epilogue", threads = 320} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@mla::@compute': sync epilogue arrives at named barrier 1 and the round before may not be over [barrier-participation]}}
  "pipelink.protocol"() {of = "compute", text = "repeat tiles { choose { epilogue.sync; } or { epilogue.arrive; } }"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat tiles { epilogue.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "mla", component = @lib.mla} : () -> ()
}

// -----

// Both paths wait.
module @lib.mla attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "compute", warps = 8, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "load", warps = 2} : () -> ()
  "pipelink.barrier"() {sym_name = "epilogue", threads = 320} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "repeat tiles { choose { epilogue.sync; } or { epilogue.sync; } }"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat tiles { epilogue.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "mla", component = @lib.mla} : () -> ()
}

// -----

// Arriving is enough where the next tile waits for the loaders anyway.
module @lib.mla attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "compute", warps = 8, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "load", warps = 2} : () -> ()
  "pipelink.barrier"() {sym_name = "epilogue", threads = 320} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "load"} : () -> ()
  "pipelink.port"() {sym_name = "kv_in", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "repeat tiles { kv_in.wait; kv_in.release; epilogue.arrive; }"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat tiles { kv.acquire; kv.commit; epilogue.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "mla", component = @lib.mla} : () -> ()
  "pipelink.connect"() {source = @mla::@kv, target = @mla::@kv_in} : () -> ()
}
