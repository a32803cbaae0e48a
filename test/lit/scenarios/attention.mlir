// Ping-pong attention: two instances of one consumer, each a warpgroup, take turns by tokens; a sparse list of tiles is
// a stream of work items that may be empty and ends.
//
// RUN: pl-opt --pipeline=check,place %s | FileCheck %s
//
// A consumer that expects at least one item would hang on an empty list.
// RUN: sed 's/ends = true, may_be_empty = true, touch = "threads", role = "consume"/ends = true, touch = "threads", role = "consume"/' %s \
// RUN:   | not pl-opt --pipeline=check,place 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: '@tiles::@list' may end before its first item, but '@first::@list' expects at least one [empty-mismatch]

module @attn.tile_list attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "walk", warps = 1 : i64, registers = [24, 40]} : () -> ()
  "pipelink.port"() {sym_name = "list", direction = "out", kind = "stream", stages = [2, 4], ends = true, may_be_empty = true, touch = "threads", tiles = [
      {element = "attn.tile", shape = [1], layout = "item", bytes = 16 : i64, align = 16 : i64}]} : () -> ()
  "pipelink.param"() {sym_name = "tile_list", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "tile_list", element = "i32", shape = ["tiles", "4"], access = "read"} : () -> ()
  "pipelink.grid"() {value = ["min(tiles, sms * occupancy)", "1", "1"]} : () -> ()
}
module @attn.loader attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "list", direction = "in", kind = "stream", stages = [2, 4], ends = true, may_be_empty = true, touch = "threads", tiles = [
      {element = "attn.tile", shape = [1], layout = "item", bytes = 16 : i64, align = 16 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "q0", direction = "out", kind = "stream", stages = [1, 2], touch = "tma", tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64},
      {element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "q1", direction = "out", kind = "stream", stages = [1, 2], touch = "tma", tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64},
      {element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", stages = [2, 8], touch = "tma", tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.param"() {sym_name = "map_q", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "q0"} : () -> ()
  "pipelink.param"() {sym_name = "map_kv", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "kv"} : () -> ()
  "pipelink.tensor"() {name = "q", element = "bf16", shape = ["queries", "depth"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "kv", element = "bf16", shape = ["keys", "depth"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_q", to = "q"} : () -> ()
  "pipelink.bind"() {param = "map_kv", to = "kv"} : () -> ()
  "pipelink.param"() {sym_name = "blocks", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.bind"() {param = "blocks", to = "ceildiv(keys, 128)"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "until list { list.wait; list.release; q0.acquire; q0.copy; q1.acquire; q1.copy; repeat blocks { kv.acquire; kv.copy; } }"} : () -> ()
}
module @attn.softmax attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "consume", warps = 4 : i64, align = 4 : i64, registers = [184, 240]} : () -> ()
  "pipelink.port"() {sym_name = "list", direction = "in", kind = "stream", stages = [2, 8], ends = true, may_be_empty = true, touch = "threads", role = "consume", tiles = [
      {element = "attn.tile", shape = [1], layout = "item", bytes = 16 : i64, align = 16 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "q", direction = "in", kind = "stream", stages = [1, 2], touch = "wgmma", tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64},
      {element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "in", kind = "stream", stages = [2, 8], touch = "wgmma", tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "my_turn", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "your_turn", direction = "out", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "mask", direction = "calls", kind = "call", signature = "void(f32[64]&, i32)"} : () -> ()
  "pipelink.state"() {sym_name = "rows", bytes = 16 : i64, align = 4 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "stored", threads = 128 : i64} : () -> ()
  "pipelink.param"() {sym_name = "out", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.param"() {sym_name = "scale", type = "f32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.tensor"() {name = "out", element = "bf16", shape = ["queries", "depth"], access = "write"} : () -> ()
  "pipelink.param"() {sym_name = "blocks", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.bind"() {param = "blocks", to = "ceildiv(keys, 128)"} : () -> ()
  "pipelink.protocol"() {of = "consume", text = "until list { list.wait; list.release; q.wait; repeat blocks { kv.wait; my_turn.take; mask; your_turn.pass; kv.release; } q.release; stored.sync; }"} : () -> ()
}
module @attn.causal attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.port"() {sym_name = "mask", direction = "answers", kind = "call", signature = "void(f32[64]&, i32)"} : () -> ()
}
// The list, Q, K and V fit six deep; the two consumers have the registers that the loaders' warpgroup leaves.
// CHECK-LABEL: module @attention
// CHECK-SAME: optimal = true
// CHECK-SAME: warpgroups = [{registers = 40 : i64}, {registers = 232 : i64}, {registers = 232 : i64}]
module @attention attributes {pipelink.kernel = {target = "sm_90a"}} {
  // CHECK: roles = {walk = {first_warp = 0 : i64
  "pipelink.instance"() {sym_name = "tiles", component = @attn.tile_list} : () -> ()
  // CHECK: roles = {load = {first_warp = 1 : i64
  "pipelink.instance"() {sym_name = "load", component = @attn.loader} : () -> ()
  // CHECK: stored = {id = 1 : i64
  // CHECK-SAME: first_warp = 4 : i64
  "pipelink.instance"() {sym_name = "first", component = @attn.softmax} : () -> ()
  // CHECK: stored = {id = 2 : i64
  // CHECK-SAME: first_warp = 8 : i64
  "pipelink.instance"() {sym_name = "second", component = @attn.softmax} : () -> ()
  "pipelink.instance"() {sym_name = "causal", component = @attn.causal} : () -> ()
  // One item is released by the loader's thread and by four warps of each consumer.
  // CHECK: consumer_arrivals = 9 : i64, {{.*}}consumer_unit = "thread"
  "pipelink.connect"() {source = @tiles::@list, target = @load::@list} : () -> ()
  // CHECK: consumer_arrivals = 9 : i64, {{.*}}consumer_unit = "warp"
  "pipelink.connect"() {source = @tiles::@list, target = @first::@list} : () -> ()
  "pipelink.connect"() {source = @tiles::@list, target = @second::@list} : () -> ()
  "pipelink.connect"() {source = @load::@q0, target = @first::@q} : () -> ()
  "pipelink.connect"() {source = @load::@q1, target = @second::@q} : () -> ()
  // CHECK: consumer_arrivals = 2 : i64, {{.*}}stages = [[DEPTH:[3-8]]] : i64
  "pipelink.connect"() {source = @load::@kv, target = @first::@kv, weight = 4 : i64} : () -> ()
  "pipelink.connect"() {source = @load::@kv, target = @second::@kv, weight = 4 : i64} : () -> ()
  // The first starts: its turn was passed before anybody took one.
  // CHECK: initial = 0 : i64, {{.*}}transfer = "token"}, source = @first::@your_turn
  "pipelink.connect"() {source = @first::@your_turn, target = @second::@my_turn} : () -> ()
  // CHECK: initial = 1 : i64, {{.*}}transfer = "token"}, source = @second::@your_turn
  "pipelink.connect"() {source = @second::@your_turn, target = @first::@my_turn, credit = 1 : i64} : () -> ()
  "pipelink.connect"() {source = @first::@mask, target = @causal::@mask} : () -> ()
  "pipelink.connect"() {source = @second::@mask, target = @causal::@mask} : () -> ()
}
