// KIND: arrive twice in one generation
// DECIDED: prove
// REPORT: https://github.com/flashinfer-ai/flashinfer/pull/4732
// WRONG: 256 threads that compute arrive at a barrier of 384 without waiting, 128 that load wait at it. The loaders
// are a tile ahead, so the others could arrive for two tiles before the loaders came for the first: a generation was
// complete without them, and a later one never was.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The loaders run two tiles ahead, one barrier counts them.
module @lib.mla attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "io", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 384} : () -> ()
  "pipelink.param"() {sym_name = "pairs", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "bf16", shape = [64, 64], layout = "row_major", align = 128}], role = "io"} : () -> ()
  "pipelink.port"() {sym_name = "kv_in", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "bf16", shape = [64, 64], layout = "row_major", align = 128}], role = "math"} : () -> ()
  // expected-error @below {{'@mla::@math': arrive done arrives twice in one round of the barrier [barrier-participation]}}
  "pipelink.protocol"() {of = "math", text = "repeat pairs { kv_in.wait; kv_in.release; done.arrive; kv_in.wait; kv_in.release; done.arrive; } kv_in.wait; kv_in.release; kv_in.wait; kv_in.release;"} : () -> ()
  "pipelink.protocol"() {of = "io", text = "kv.acquire; kv.commit; kv.acquire; kv.commit; repeat pairs { done.sync; kv.acquire; kv.commit; done.sync; kv.acquire; kv.commit; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "mla", component = @lib.mla} : () -> ()
  "pipelink.connect"() {source = @mla::@kv, target = @mla::@kv_in} : () -> ()
}

// -----

// Two barriers in turn: the loaders wait for a tile before they bring the next but one.
module @lib.mla attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "io", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "even", threads = 384} : () -> ()
  "pipelink.barrier"() {sym_name = "odd", threads = 384} : () -> ()
  "pipelink.param"() {sym_name = "pairs", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "bf16", shape = [64, 64], layout = "row_major", align = 128}], role = "io"} : () -> ()
  "pipelink.port"() {sym_name = "kv_in", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "bf16", shape = [64, 64], layout = "row_major", align = 128}], role = "math"} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat pairs { kv_in.wait; kv_in.release; even.arrive; kv_in.wait; kv_in.release; odd.arrive; } kv_in.wait; kv_in.release; kv_in.wait; kv_in.release;"} : () -> ()
  "pipelink.protocol"() {of = "io", text = "kv.acquire; kv.commit; kv.acquire; kv.commit; repeat pairs { even.sync; kv.acquire; kv.commit; odd.sync; kv.acquire; kv.commit; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "mla", component = @lib.mla} : () -> ()
  "pipelink.connect"() {source = @mla::@kv, target = @mla::@kv_in} : () -> ()
}

// -----

// One barrier is enough for loaders that bring a tile only when the last one is done.
module @lib.mla attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "io", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 384} : () -> ()
  "pipelink.param"() {sym_name = "pairs", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "bf16", shape = [64, 64], layout = "row_major", align = 128}], role = "io"} : () -> ()
  "pipelink.port"() {sym_name = "kv_in", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "bf16", shape = [64, 64], layout = "row_major", align = 128}], role = "math"} : () -> ()
  "pipelink.protocol"() {of = "math", text = "repeat pairs { kv_in.wait; kv_in.release; done.arrive; kv_in.wait; kv_in.release; done.arrive; }"} : () -> ()
  "pipelink.protocol"() {of = "io", text = "repeat pairs { kv.acquire; kv.commit; done.sync; kv.acquire; kv.commit; done.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "mla", component = @lib.mla} : () -> ()
  "pipelink.connect"() {source = @mla::@kv, target = @mla::@kv_in} : () -> ()
}
