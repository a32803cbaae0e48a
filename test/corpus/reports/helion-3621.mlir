// KIND: the last iteration's wait does not advance the phase (fine once, wrong when persistent)
// DECIDED: prove
// REPORT: https://github.com/pytorch/helion/pull/3621
// WRONG: Each tile waited as often as it has steps, but advanced the phase one time less. From the second tile on the
// parity was the wrong one. Elsewhere in that kernel the wait after the loop was left out for tiles of one step.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// A slot for each step, taken for each but the last.
module @lib.compute attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "compute", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "steps", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ds", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "repeat tiles { repeat steps+ { ds.acquire; ds.commit; } }"} : () -> ()
}
module @lib.mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "mma", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "steps", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ds", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{'@mma::@mma' has finished, and slot 0 of '@mma::@ds' is left that '@compute::@compute' gave [rate-mismatch]}}
  "pipelink.protocol"() {of = "mma", text = "repeat tiles { repeat steps - 1 { ds.wait; ds.release; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "compute", component = @lib.compute} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @lib.mma} : () -> ()
  "pipelink.connect"() {source = @compute::@ds, target = @mma::@ds} : () -> ()
}

// -----

// As often as steps.
module @lib.compute attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "compute", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "steps", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ds", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "repeat tiles { repeat steps+ { ds.acquire; ds.commit; } }"} : () -> ()
}
module @lib.mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "mma", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "steps", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ds", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "mma", text = "repeat tiles { repeat steps+ { ds.wait; ds.release; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "compute", component = @lib.compute} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @lib.mma} : () -> ()
  "pipelink.connect"() {source = @compute::@ds, target = @mma::@ds} : () -> ()
}

// -----

// The last one is released behind the loop.
module @lib.compute attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "compute", warps = 8, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "steps", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ds", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "repeat tiles { repeat steps+ { ds.acquire; ds.commit; } }"} : () -> ()
}
module @lib.mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "mma", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "steps", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ds", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "mma", text = "repeat tiles { repeat steps+ { ds.wait; ds.release keep 1; } ds.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "compute", component = @lib.compute} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @lib.mma} : () -> ()
  "pipelink.connect"() {source = @compute::@ds, target = @mma::@ds} : () -> ()
}
