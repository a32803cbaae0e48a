// KIND: an arrival is left over for the next round (fine once, wrong when persistent)
// DECIDED: prove
// REPORT: https://github.com/NVIDIA/cudnn-frontend/pull/892
// WRONG: Who computes arrives for every tile that it has read, who loads waits between two tiles: one time less. What
// was left over ended with the CTA, until CTAs took several ranges of tiles.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Four arrivals and three waits for each range.
module @lib.sdpa attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "compute", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "load", warps = 1} : () -> ()
  "pipelink.param"() {sym_name = "ranges", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "read", threads = 160} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "threads", stages = [1, 1], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "load"} : () -> ()
  "pipelink.port"() {sym_name = "kv_in", direction = "in", kind = "stream", touch = "threads", stages = [1, 1], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "compute"} : () -> ()
  // expected-error @below {{'@sdpa::@compute': arrive read arrives at named barrier 1 and the round before may not be over [barrier-participation]}}
  "pipelink.protocol"() {of = "compute", text = "repeat ranges { repeat 4 { kv_in.wait; kv_in.release; read.arrive; } }"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat ranges { kv.acquire; kv.commit; repeat 3 { read.sync; kv.acquire; kv.commit; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "sdpa", component = @lib.sdpa} : () -> ()
  "pipelink.connect"() {source = @sdpa::@kv, target = @sdpa::@kv_in} : () -> ()
}

// -----

// The last arrival of a range is waited for as well.
module @lib.sdpa attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "compute", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "load", warps = 1} : () -> ()
  "pipelink.param"() {sym_name = "ranges", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "read", threads = 160} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "threads", stages = [1, 1], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "load"} : () -> ()
  "pipelink.port"() {sym_name = "kv_in", direction = "in", kind = "stream", touch = "threads", stages = [1, 1], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "repeat ranges { repeat 4 { kv_in.wait; kv_in.release; read.arrive; } }"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat ranges { kv.acquire; kv.commit; repeat 3 { read.sync; kv.acquire; kv.commit; } read.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "sdpa", component = @lib.sdpa} : () -> ()
  "pipelink.connect"() {source = @sdpa::@kv, target = @sdpa::@kv_in} : () -> ()
}

// -----

// Nobody arrives for the last tile of a range.
module @lib.sdpa attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "compute", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "load", warps = 1} : () -> ()
  "pipelink.param"() {sym_name = "ranges", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "read", threads = 160} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "threads", stages = [1, 1], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "load"} : () -> ()
  "pipelink.port"() {sym_name = "kv_in", direction = "in", kind = "stream", touch = "threads", stages = [1, 1], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "repeat ranges { repeat 3 { kv_in.wait; kv_in.release; read.arrive; } kv_in.wait; kv_in.release; }"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat ranges { kv.acquire; kv.commit; repeat 3 { read.sync; kv.acquire; kv.commit; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "sdpa", component = @lib.sdpa} : () -> ()
  "pipelink.connect"() {source = @sdpa::@kv, target = @sdpa::@kv_in} : () -> ()
}
