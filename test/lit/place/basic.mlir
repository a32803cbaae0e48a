// RUN: pl-opt --pipeline=check,place %root/test/unit/place/gemm.mlir | FileCheck %s --check-prefix=GEMM
// RUN: pl-opt --pipeline=check,place %root/test/unit/place/gemm.mlir > %t.once
// RUN: pl-opt --pipeline=check,place %t.once | diff %t.once -
// RUN: pl-opt --pipeline=check,place -split-input-file %s | FileCheck %s
// RUN: pl-opt --pipeline=place -split-input-file %S/Inputs/second-choice.mlir | FileCheck %s --check-prefix=SECOND

// Four stages fit; mbarriers are low, buffers aligned to their swizzle; the pool gives the loader what it can use.
// GEMM: optimal = true, reasons = ["'@load::@ab': stepped down to 4 stages of 2 to 8: one more takes 49168 bytes, 34816 of 232448 are free"
// GEMM-SAME: smem_bytes = 197632
// GEMM-SAME: warpgroups = [{registers = 40 : i64}, {registers = 232 : i64}, {registers = 232 : i64}]
// GEMM: roles = {load = {first_warp = 0 : i64, warps = 1 : i64}}
// GEMM: roles = {mma = {first_warp = 4 : i64, warps = 8 : i64}}
// GEMM: buffers = [{address = 2048 : i64, bytes = 16384 : i64, stride = 16384 : i64}
// GEMM-SAME: consumer_arrivals = 2 : i64, {{.*}}consumer_unit = "warpgroup"
// GEMM-SAME: empty = 1056 : i64, full = 1024 : i64
// GEMM-SAME: producer_unit = "tx"

// The preferred transfer stages every tile, which does not fit beside four stages; the next legal one does.
// SECOND: reasons = [{{.*}}"did not fit, so the next legal transfer was taken: ring.threads.convert for @fill::@t -> @read::@t"]
// SECOND: transfer = "ring.threads"}

// Threads write what wgmma reads: a warp arrives at a time, behind a proxy fence; the tile is converted, so the producer
// gets a buffer for staging and a barrier; the stream ends, so every slot has a flag.

module @x.fill attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 2 : i64} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "out", kind = "stream", touch = "threads", stages = [2, 3], ends = true, tiles = [
      {element = "bf16", shape = [64, 64], layout = "row_major", bytes = 8192 : i64, align = 128 : i64}]} : () -> ()
}
module @x.read attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "in", kind = "stream", touch = "wgmma", stages = [1, 8], ends = true, tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192 : i64, align = 1024 : i64}]} : () -> ()
}
// CHECK-LABEL: module @convert
// CHECK-SAME: words = [{address = [[END:[0-9]+]] : i64, count = 3 : i64, name = "fill::t", value = 0 : i64}]
module @convert attributes {pipelink.kernel = {target = "sm_90a"}} {
  // CHECK: roles = {run = {first_warp = 4 : i64, warps = 2 : i64}}
  "pipelink.instance"() {sym_name = "fill", component = @x.fill} : () -> ()
  // CHECK: roles = {run = {first_warp = 0 : i64, warps = 4 : i64}}
  "pipelink.instance"() {sym_name = "read", component = @x.read} : () -> ()
  // CHECK: barrier = {id = 1 : i64, threads = 64 : i64}
  // CHECK-SAME: end = [[END]] : i64
  // CHECK-SAME: producer_arrivals = 2 : i64, {{.*}}producer_fence = true, producer_unit = "warp"
  // CHECK-SAME: staging = [{address = {{[0-9]+}} : i64, bytes = 8192 : i64}]
  // CHECK-SAME: transfer = "ring.threads.convert"
  "pipelink.connect"() {source = @fill::@t, target = @read::@t} : () -> ()
}

// -----

// Scratch of exclusive roles lies on the same bytes and their barriers have the same ids; two buffers of one instance
// that are apart in its timeline overlap; an overlay joins buffers of roles that run at once.

module @x.op attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
  "pipelink.smem"() {sym_name = "early", bytes = 4096 : i64, align = 128 : i64, live = [0, 1]} : () -> ()
  "pipelink.smem"() {sym_name = "late", bytes = 2048 : i64, align = 128 : i64, live = [1, 2]} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 128 : i64} : () -> ()
}
module @x.side attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
  "pipelink.smem"() {sym_name = "in", bytes = 1024 : i64, align = 128 : i64} : () -> ()
  "pipelink.smem"() {sym_name = "out", bytes = 512 : i64, align = 128 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 128 : i64} : () -> ()
}
// CHECK-LABEL: module @share
// CHECK-SAME: optimal = true
// CHECK-SAME: smem_bytes = 5120 : i64
module @share attributes {pipelink.kernel = {target = "sm_90a"}} {
  // CHECK: done = {id = [[ID:[0-9]+]] : i64{{.*}}first_warp = [[WARP:[0-9]+]] : i64{{.*}}smem = {early = [[AT:[0-9]+]] : i64, late = [[AT]] : i64}
  "pipelink.instance"() {sym_name = "a", component = @x.op} : () -> ()
  // CHECK: done = {id = [[ID]] : i64{{.*}}first_warp = [[WARP]] : i64{{.*}}smem = {early = [[AT]] : i64, late = [[AT]] : i64}
  "pipelink.instance"() {sym_name = "b", component = @x.op} : () -> ()
  // CHECK: done = {id = 1 : i64{{.*}}smem = {in = [[SIDE:[0-9]+]] : i64, out = [[SIDE]] : i64}
  "pipelink.instance"() {sym_name = "c", component = @x.side} : () -> ()
  "pipelink.exclusive"() {name = "ops", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.overlay"() {buffers = [@c::@in, @c::@out], because = "out is written after in was read"} : () -> ()
}
