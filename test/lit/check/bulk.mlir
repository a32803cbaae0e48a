// Bulk copies bring bytes as they lie in memory: into tiles without a swizzle.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s | FileCheck %s

module @a.rows attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", tiles = [{element = "bf16", shape = [8, 1024], layout = "row_major", bytes = 16384, align = 16}], stages = [2, 4], touch = "bulk"} : () -> ()
}
module @a.use attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", tiles = [{element = "bf16", shape = [8, 1024], layout = "row_major", bytes = 16384, align = 16}], stages = [2, 4], touch = "threads"} : () -> ()
}
// CHECK: consumer_fence = true
// CHECK-SAME: producer_unit = "tx"
// CHECK-SAME: transfer = "ring.bulk"
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "rows", component = @a.rows} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @a.use} : () -> ()
  "pipelink.connect"() {source = @rows::@x, target = @use::@x} : () -> ()
}

// -----

module @a.rows attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192, align = 1024}], stages = [2, 4], touch = "bulk"} : () -> ()
}
module @a.use attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192, align = 1024}], stages = [2, 4], touch = "threads"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "rows", component = @a.rows} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @a.use} : () -> ()
  // expected-error @+2 {{'@rows::@x' and '@use::@x' do not fit: no transfer carries one to the other [no-transfer]}}
  // expected-note @below {{ring.bulk: bulk copies bring bytes as they lie in memory, which is not swizzle128}}
  "pipelink.connect"() {source = @rows::@x, target = @use::@x} : () -> ()
}
