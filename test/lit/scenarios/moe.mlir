// MoE training, forward and backward, of four components: dispatch (tokens to the experts' buffers), loader, mainloop,
// combine (back to the tokens).  Stages of one kernel order each other across CTAs by signals in a workspace, whose epoch
// counts the steps, so that nothing has to be cleared between launches.
//
// RUN: pl-opt --pipeline=check,place %s | FileCheck %s
//
// Both ends of a signal must count by one epoch.
// RUN: sed 's/sym_name = "arrived", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "expert_flags", epoch = "step"/sym_name = "arrived", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "expert_flags", epoch = "micro_step"/' %s \
// RUN:   | not pl-opt --pipeline=check,place 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: '@dispatch::@sent' and '@load::@arrived' disagree on the signal's epoch: step and micro_step [protocol-mismatch]

module @moe.dispatch attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "send", warps = 2 : i64, registers = [24, 40]} : () -> ()
  "pipelink.port"() {sym_name = "sent", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "expert_flags", epoch = "step", reset = "epoch"} : () -> ()
  "pipelink.smem"() {sym_name = "counts", bytes = 1024 : i64, align = 16 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "counted", threads = 64 : i64} : () -> ()
  "pipelink.param"() {sym_name = "tokens", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.param"() {sym_name = "routing", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.param"() {sym_name = "grouped", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "tokens", element = "bf16", shape = ["T", "H"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "routing", element = "i32", shape = ["T", "top_k"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "grouped", element = "bf16", shape = ["rows", "H"], access = "readwrite"} : () -> ()
  "pipelink.param"() {sym_name = "step", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.workspace"() {name = "expert_flags", bytes = "4 * ceildiv(rows, 128)", init = "zero"} : () -> ()
  "pipelink.protocol"() {of = "send", text = "counts.write; counted.sync; counts.read; sent.signal;"} : () -> ()
}
module @moe.loader attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "arrived", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "expert_flags", epoch = "step", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 8], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.param"() {sym_name = "map_rows", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "ab"} : () -> ()
  "pipelink.param"() {sym_name = "map_weights", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "ab", part = 1 : i64} : () -> ()
  "pipelink.tensor"() {name = "weights", element = "bf16", shape = ["E", "F", "H"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "grouped", element = "bf16", shape = ["rows", "H"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_rows", to = "grouped"} : () -> ()
  "pipelink.bind"() {param = "map_weights", to = "weights"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.derive"() {name = "tiles", value = "ceildiv(rows, 128) * ceildiv(F, 128)"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "arrived.await; fence async; repeat tiles { repeat k_tiles+ { ab.acquire; ab.copy; } }"} : () -> ()
}
module @moe.mainloop attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "mma", warps = 8 : i64, align = 4 : i64, registers = [152, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 8], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "rows", direction = "out", kind = "stream", touch = "threads", stages = [1, 2], tiles = [
      {element = "bf16", shape = [128, 64], layout = "row_major", bytes = 16384 : i64, align = 128 : i64}]} : () -> ()
  "pipelink.derive"() {name = "k_tiles", value = "ceildiv(H, 64)"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.protocol"() {of = "mma", text = "repeat tiles { repeat k_tiles+ { ab.wait; ab.release keep 1; } ab.release; repeat 2 { rows.acquire; rows.commit; } }"} : () -> ()
}
module @moe.combine attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "store", warps = 1 : i64, registers = [24, 40]} : () -> ()
  "pipelink.port"() {sym_name = "rows", direction = "in", kind = "stream", touch = "tma", stages = [1, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "row_major", bytes = 16384 : i64, align = 128 : i64}]} : () -> ()
  "pipelink.param"() {sym_name = "map_out", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "rows"} : () -> ()
  "pipelink.tensor"() {name = "expert_out", element = "bf16", shape = ["rows", "F"], access = "write"} : () -> ()
  "pipelink.bind"() {param = "map_out", to = "expert_out"} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.protocol"() {of = "store", text = "repeat tiles { repeat 2 { rows.wait; rows.release; } }"} : () -> ()
}
// CHECK-LABEL: module @forward
// CHECK-SAME: workspaces = [{bytes = "4 * ceildiv(rows, 128)", init = "zero", name = "expert_flags"}]
// CHECK-SAME: optimal = true
module @forward attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.resident"() : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
  "pipelink.instance"() {sym_name = "dispatch", component = @moe.dispatch} : () -> ()
  "pipelink.instance"() {sym_name = "load", component = @moe.loader} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @moe.mainloop} : () -> ()
  "pipelink.instance"() {sym_name = "combine", component = @moe.combine} : () -> ()
  "pipelink.connect"() {source = @dispatch::@sent, target = @load::@arrived} : () -> ()
  // CHECK: stages = 6 : i64, transfer = "ring.tma"
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, weight = 4 : i64} : () -> ()
  // What threads write and TMA reads needs a proxy fence.
  // CHECK: producer_fence = true, producer_unit = "warp"
  "pipelink.connect"() {source = @mma::@rows, target = @combine::@rows} : () -> ()
}
// The backward pass sends the gradients through the same objects, under names of its own.
// CHECK-LABEL: module @backward
// CHECK-SAME: name = "d_tokens"
// CHECK-SAME: value = "ceildiv(F, 64)"
// CHECK-SAME: dimensions = ["T", "F", "top_k", "rows", "E", "H"]
module @backward attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.resident"() : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
  "pipelink.instance"() {sym_name = "dispatch", component = @moe.dispatch, rename = {tokens = "d_tokens", H = "F", grouped = "d_grouped"}} : () -> ()
  "pipelink.instance"() {sym_name = "load", component = @moe.loader, rename = {grouped = "d_grouped", weights = "weights_t", H = "F", F = "H"}} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @moe.mainloop, rename = {H = "F"}} : () -> ()
  "pipelink.instance"() {sym_name = "combine", component = @moe.combine, rename = {expert_out = "d_input", F = "H"}} : () -> ()
  "pipelink.connect"() {source = @dispatch::@sent, target = @load::@arrived} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, weight = 4 : i64} : () -> ()
  "pipelink.connect"() {source = @mma::@rows, target = @combine::@rows} : () -> ()
}
