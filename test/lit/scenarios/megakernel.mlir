// A decode megakernel: a controller hands instructions to three dispatchers (load, compute, store), each of which runs
// one operation at a time, but not all the same one; operations share a ring of pages; CTAs signal each other.
//
// RUN: pl-opt --pipeline=check,place %s | FileCheck %s
//
// CTAs that wait for each other must all be resident.
// RUN: sed '/pipelink.resident/d' %s | not pl-opt --pipeline=check,place 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: '@attend::@ready' waits for other CTAs of the grid, but nothing keeps them resident [not-resident]
//
// RUN: sed 's/pages = \[8, 16\]/pages = [14, 16]/' %s | not pl-opt --pipeline=check,place 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: shared memory of kernel 'decode' overflows: '@warps::@pages'{{.*}} [smem-overflow]
// FULL: 14 pages x 16384

module @mega.controller attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "fetch", warps = 1 : i64, registers = [24, 40]} : () -> ()
  "pipelink.port"() {sym_name = "instructions", direction = "out", kind = "stream", stages = [2, 4], ends = true, touch = "threads", tiles = [
      {element = "mega.instruction", shape = [1], layout = "item", bytes = 128 : i64, align = 16 : i64}]} : () -> ()
  "pipelink.param"() {sym_name = "program", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "program", element = "i32", shape = ["instructions", "32"], access = "read"} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
module @mega.dispatcher attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, registers = [24, 40]} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 8 : i64, align = 4 : i64, registers = [128, 232]} : () -> ()
  "pipelink.role"() {sym_name = "store", warps = 1 : i64, registers = [24, 40]} : () -> ()
  "pipelink.port"() {sym_name = "to_load", direction = "in", kind = "stream", stages = [2, 4], ends = true, touch = "threads", role = "load", tiles = [
      {element = "mega.instruction", shape = [1], layout = "item", bytes = 128 : i64, align = 16 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "to_compute", direction = "in", kind = "stream", stages = [2, 4], ends = true, touch = "threads", role = "compute", tiles = [
      {element = "mega.instruction", shape = [1], layout = "item", bytes = 128 : i64, align = 16 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "to_store", direction = "in", kind = "stream", stages = [2, 4], ends = true, touch = "threads", role = "store", tiles = [
      {element = "mega.instruction", shape = [1], layout = "item", bytes = 128 : i64, align = 16 : i64}]} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 112 : i64, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 112 : i64, role = "compute"} : () -> ()
  "pipelink.dispatch"() {sym_name = "stores", bytes = 112 : i64, role = "store"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 16384 : i64, pages = [8, 16], align = 1024 : i64} : () -> ()
}
module @mega.matvec attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, registers = [24, 40]} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 8 : i64, align = 4 : i64, registers = [128, 232]} : () -> ()
  "pipelink.role"() {sym_name = "store", warps = 1 : i64, registers = [24, 40]} : () -> ()
  "pipelink.port"() {sym_name = "filled", direction = "out", kind = "stream", stages = [2, 16], touch = "bulk", role = "load", tiles = [
      {element = "bf16", shape = [1, 8192], layout = "row_major", bytes = 16384 : i64, align = 128 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "in", kind = "stream", stages = [2, 16], touch = "threads", role = "compute", tiles = [
      {element = "bf16", shape = [1, 8192], layout = "row_major", bytes = 16384 : i64, align = 128 : i64}]} : () -> ()
  "pipelink.smem"() {sym_name = "partial", bytes = 8192 : i64, align = 128 : i64, role = "compute"} : () -> ()
  "pipelink.barrier"() {sym_name = "reduced", threads = 256 : i64, role = "compute"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", epoch = "step", reset = "epoch", role = "store"} : () -> ()
}
module @mega.attend attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, registers = [24, 40]} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 8 : i64, align = 4 : i64, registers = [152, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", epoch = "step", reset = "epoch", role = "load"} : () -> ()
  "pipelink.port"() {sym_name = "cache", direction = "out", kind = "stream", stages = [2, 16], touch = "bulk", role = "load", tiles = [
      {element = "bf16", shape = [1, 4096], layout = "row_major", bytes = 8192 : i64, align = 128 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "keys", direction = "in", kind = "stream", stages = [2, 16], touch = "threads", role = "compute", tiles = [
      {element = "bf16", shape = [1, 4096], layout = "row_major", bytes = 8192 : i64, align = 128 : i64}]} : () -> ()
  "pipelink.param"() {sym_name = "tile", type = "i32", bytes = 4 : i64, align = 4 : i64, operand = true} : () -> ()
  "pipelink.param"() {sym_name = "scale", type = "f32", bytes = 4 : i64, align = 4 : i64, operand = true} : () -> ()
  "pipelink.param"() {sym_name = "table", type = "const i32*", bytes = 8 : i64, align = 8 : i64, operand = true} : () -> ()
  "pipelink.smem"() {sym_name = "scores", bytes = 16384 : i64, align = 128 : i64, role = "compute"} : () -> ()
  "pipelink.barrier"() {sym_name = "scored", threads = 256 : i64, role = "compute"} : () -> ()
}
// The pool has all pages that fit.  Operations share warps, barrier ids and scratch; their rings do not, because the
// loader runs ahead.
// CHECK-LABEL: module @decode
// CHECK-SAME: cooperative = true
// CHECK-SAME: operations = [{bytes = 0 : i64, name = "layer_qkv", opcode = 0 : i64, operands = [], unstated = ["@qkv::@done"]},
// CHECK-SAME: {bytes = 16 : i64, name = "layer_attend", opcode = 1 : i64, operands = [{name = "tile", offset = 0 : i64, type = "i32"}, {name = "scale", offset = 4 : i64, type = "f32"}, {name = "table", offset = 8 : i64, type = "u64"}], unstated = ["@attend::@ready"]}
// CHECK-SAME: optimal = true
// CHECK-SAME: warps = 12 : i64
module @decode attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.resident"() : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4 * sms", init = "zero"} : () -> ()
  "pipelink.instance"() {sym_name = "control", component = @mega.controller} : () -> ()
  // CHECK: @mega.dispatcher, {{.*}}leases = {pages = {address = [[ADDRESS:[0-9]+]] : i64, pages = [[PAGES:1[0-3]]] : i64{{.*}}compute = {first_warp = [[COMPUTE:[0-9]+]] : i64
  "pipelink.instance"() {sym_name = "warps", component = @mega.dispatcher} : () -> ()
  // CHECK: reduced = {id = [[ID:[0-9]+]] : i64{{.*}}compute = {first_warp = [[COMPUTE]] : i64{{.*}}smem = {partial = [[SCRATCH:[0-9]+]] : i64}
  "pipelink.instance"() {sym_name = "qkv", component = @mega.matvec} : () -> ()
  // CHECK: scored = {id = [[ID]] : i64{{.*}}compute = {first_warp = [[COMPUTE]] : i64{{.*}}smem = {scores = [[SCRATCH]] : i64}
  "pipelink.instance"() {sym_name = "attend", component = @mega.attend} : () -> ()
  // CHECK: reduced = {id = [[ID]] : i64{{.*}}smem = {partial = [[SCRATCH]] : i64}
  "pipelink.instance"() {sym_name = "out", component = @mega.matvec} : () -> ()
  "pipelink.connect"() {source = @control::@instructions, target = @warps::@to_load} : () -> ()
  "pipelink.connect"() {source = @control::@instructions, target = @warps::@to_compute} : () -> ()
  "pipelink.connect"() {source = @control::@instructions, target = @warps::@to_store} : () -> ()
  // CHECK: buffers = [{address = [[ADDRESS]] : i64, bytes = 16384 : i64, stride = 16384 : i64}]{{.*}}lease = "warps::pages"{{.*}}stages = [[PAGES]] : i64
  "pipelink.connect"() {source = @qkv::@filled, target = @qkv::@work, lease = @warps::@pages} : () -> ()
  // CHECK: buffers = [{address = [[ADDRESS]] : i64, bytes = 16384 : i64, stride = 16384 : i64}]{{.*}}lease = "warps::pages"
  "pipelink.connect"() {source = @out::@filled, target = @out::@work, lease = @warps::@pages} : () -> ()
  // CHECK: buffers = [{address = [[ADDRESS]] : i64, bytes = 8192 : i64, stride = 16384 : i64}]{{.*}}lease = "warps::pages"
  "pipelink.connect"() {source = @attend::@cache, target = @attend::@keys, lease = @warps::@pages} : () -> ()
  // CHECK: dispatcher = @warps, instance = @qkv, {{.*}}placement = {bytes = 0 : i64, opcode = 0 : i64, operands = {}}
  "pipelink.operation"() {sym_name = "layer_qkv", dispatcher = @warps, instance = @qkv, opcode = 0 : i64} : () -> ()
  // CHECK: placement = {bytes = 16 : i64, opcode = 1 : i64, operands = {"attend::scale" = 4 : i64, "attend::table" = 8 : i64, "attend::tile" = 0 : i64}
  "pipelink.operation"() {sym_name = "layer_attend", dispatcher = @warps, instance = @attend} : () -> ()
  "pipelink.operation"() {sym_name = "layer_out", dispatcher = @warps, instance = @out, opcode = 2 : i64} : () -> ()
  // CHECK: epoch = "step", owner = "workspace", reset = "epoch", scope = "gpu", transfer = "signal", workspace = "flags"
  "pipelink.connect"() {source = @qkv::@done, target = @attend::@ready} : () -> ()
  "pipelink.connect"() {source = @out::@done, target = @attend::@ready} : () -> ()
}
