// Ring attention on two GPUs: while a step's attention runs, another role copies the K and V that arrived to the next
// GPU's buffer and raises a flag there, at system scope.
//
// RUN: pl-opt --pipeline=check,place %s | FileCheck %s
//
// A flag in a peer's buffer needs the buffer.
// RUN: sed '/"pipelink.peer"/d' %s | not pl-opt --pipeline=check,place 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: signal '@send::@sent' lives in a peer buffer, none is declared [protocol-mismatch]

module @ring.send attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "send", warps = 4 : i64, registers = [24, 40]} : () -> ()
  "pipelink.port"() {sym_name = "sent", direction = "out", kind = "signal", scope = "system", owner = "peer", epoch = "step", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "free", direction = "in", kind = "signal", scope = "system", owner = "peer", epoch = "step", reset = "epoch"} : () -> ()
  "pipelink.param"() {sym_name = "kv", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.param"() {sym_name = "peers", type = "pointer", bytes = 16 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "kv", element = "bf16", shape = ["steps", "keys", "depth"], access = "readwrite"} : () -> ()
  "pipelink.bind"() {param = "peers", to = "kv_peers"} : () -> ()
  "pipelink.param"() {sym_name = "steps", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.protocol"() {of = "send", text = "repeat steps { free.await; sent.signal; }"} : () -> ()
}
module @ring.load attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "arrived", direction = "in", kind = "signal", scope = "system", owner = "peer", epoch = "step", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "used", direction = "out", kind = "signal", scope = "system", owner = "peer", epoch = "step", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", stages = [2, 8], touch = "tma", tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.param"() {sym_name = "map_kv", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "kv"} : () -> ()
  "pipelink.tensor"() {name = "kv", element = "bf16", shape = ["steps", "keys", "depth"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_kv", to = "kv"} : () -> ()
  "pipelink.param"() {sym_name = "blocks", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.bind"() {param = "blocks", to = "ceildiv(keys, 128)"} : () -> ()
  "pipelink.param"() {sym_name = "steps", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat steps { arrived.await; fence async; repeat blocks { kv.acquire; kv.copy; } used.signal; }"} : () -> ()
}
module @ring.attend attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "consume", warps = 8 : i64, align = 4 : i64, registers = [184, 240]} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "in", kind = "stream", stages = [2, 8], touch = "wgmma", tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.smem"() {sym_name = "q", bytes = 32768 : i64, align = 1024 : i64, live = [0, 2]} : () -> ()
  "pipelink.smem"() {sym_name = "staging", bytes = 32768 : i64, align = 1024 : i64, live = [2, 3]} : () -> ()
  "pipelink.barrier"() {sym_name = "stored", threads = 256 : i64} : () -> ()
  "pipelink.param"() {sym_name = "out", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "out", element = "bf16", shape = ["queries", "depth"], access = "readwrite"} : () -> ()
  "pipelink.param"() {sym_name = "blocks", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.bind"() {param = "blocks", to = "ceildiv(keys, 128)"} : () -> ()
  "pipelink.param"() {sym_name = "steps", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.protocol"() {of = "consume", text = "q.write; stored.sync; repeat steps { repeat blocks { kv.wait; q.read; kv.release; } } stored.sync; staging.write; stored.sync; staging.read;"} : () -> ()
}
// The output is staged where Q was: the two are apart in the consumer's timeline.
// CHECK-LABEL: module @ring_attention
// CHECK-SAME: {count = 2 : i64, kind = "peers", name = "kv_peers", tensor = "kv"}
// CHECK-SAME: {bytes = 16 : i64, kind = "peers", name = "peers", {{.*}}peers = "kv_peers"}
// CHECK-SAME: optimal = true
// CHECK-SAME: warpgroups = [{registers = 40 : i64}, {registers = 40 : i64}, {registers = 216 : i64}, {registers = 216 : i64}]
module @ring_attention attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.peer"() {name = "kv_peers", tensor = "kv", count = 2 : i64} : () -> ()
  "pipelink.instance"() {sym_name = "send", component = @ring.send} : () -> ()
  "pipelink.instance"() {sym_name = "load", component = @ring.load} : () -> ()
  // CHECK: smem = {q = [[AT:[0-9]+]] : i64, staging = [[AT]] : i64}
  "pipelink.instance"() {sym_name = "attend", component = @ring.attend} : () -> ()
  // CHECK: owner = "peer", reset = "epoch", scope = "system", transfer = "signal"
  "pipelink.connect"() {source = @send::@sent, target = @load::@arrived} : () -> ()
  "pipelink.connect"() {source = @load::@used, target = @send::@free} : () -> ()
  // CHECK: stages = 6 : i64
  "pipelink.connect"() {source = @load::@kv, target = @attend::@kv} : () -> ()
}
