// RUN: pl-opt --pipeline=check,place,prove -split-input-file %s | FileCheck %s
// Memory that fits to the byte: not where the mbarriers lie first, before a boundary of 1024 bytes, but behind.
// 98304 + 3008 + 64 = 101376, all of sm_120a.
module @full attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fill", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "drain", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [4, 4], role = "fill", tiles = [
      {element = "bf16", shape = [192, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "y", direction = "in", kind = "stream", touch = "threads", stages = [4, 4], role = "drain", tiles = [
      {element = "bf16", shape = [192, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.smem"() {sym_name = "table", bytes = 3008, align = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_120a"}} {
  "pipelink.instance"() {sym_name = "a", component = @full} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @a::@y} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
// CHECK: mbarriers = [{address = 102336 : i64
// CHECK-SAME: smem_bytes = 101376 : i64
// CHECK: smem = {table = 99328 : i64}
// CHECK: buffers = [{address = 1024 : i64
