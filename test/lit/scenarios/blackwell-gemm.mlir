// A Blackwell GEMM: a cluster of two CTAs, operands multicast to both, accumulators double-buffered in tensor memory.
//
// RUN: pl-opt --pipeline=check,place %s | FileCheck %s
//
// Three accumulators of 256 columns are more than an SM has.
// RUN: sed 's/stages = \[1, 2\]/stages = [3, 4]/' %s | not pl-opt --pipeline=check,place 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: tensor memory of kernel 'gemm2' overflows: '@mma::@accumulators' need 768 columns, 256 over 512 of sm_100a [tmem-overflow]

module @sm100.loader attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma_multicast", multicast = 2 : i64, scope = "cluster", stages = [2, 8], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", bytes = 32768 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "ab"} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "ab", part = 1 : i64} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["ceildiv(M, 128)", "ceildiv(N, 256)", "1"]} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.derive"() {name = "k_tiles", value = "ceildiv(K, 64)"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles+ { ab.acquire; ab.copy; }"} : () -> ()
}
module @sm100.mma attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "mma", warps = 1 : i64, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "tcgen05", multicast = 2 : i64, scope = "cluster", stages = [2, 8], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", bytes = 32768 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "accumulators", direction = "out", kind = "stream", touch = "tcgen05", stages = [1, 2], tiles = [
      {element = "f32", shape = [128, 256], layout = "tmem", space = "tmem", bytes = 131072 : i64, columns = 256 : i64}]} : () -> ()
  "pipelink.mbarrier"() {sym_name = "allocated", arrivals = 1 : i64, count = 1 : i64} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.protocol"() {of = "mma", text = "accumulators.acquire; repeat k_tiles+ { ab.wait; ab.release; } accumulators.commit;"} : () -> ()
}
module @sm100.store attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "store", warps = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "accumulators", direction = "in", kind = "stream", touch = "threads", stages = [1, 2], tiles = [
      {element = "f32", shape = [128, 256], layout = "tmem", space = "tmem", bytes = 131072 : i64, columns = 256 : i64}]} : () -> ()
  "pipelink.param"() {sym_name = "out", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "out", element = "bf16", shape = ["M", "N"], access = "write"} : () -> ()
  "pipelink.protocol"() {of = "store", text = "accumulators.wait; accumulators.release;"} : () -> ()
}
// CHECK-LABEL: module @gemm2
// CHECK-SAME: cluster = [2, 1, 1]
// CHECK-SAME: {address = {{[0-9]+}} : i64, arrivals = 1 : i64, count = 1 : i64, name = "mma::allocated"}
// CHECK-SAME: optimal = true
// CHECK-SAME: tmem_columns = 512 : i64
module @gemm2 attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "load", component = @sm100.loader} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @sm100.mma} : () -> ()
  "pipelink.instance"() {sym_name = "store", component = @sm100.store} : () -> ()
  // The consumers of both CTAs free a slot.
  // CHECK: consumer_arrivals = 2 : i64, {{.*}}consumer_unit = "commit"
  // CHECK-SAME: multicast = 2 : i64
  // CHECK-SAME: transfer = "cluster"
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
  // CHECK: columns = [{column = 0 : i64, stride = 256 : i64}]
  // CHECK-SAME: stages = 2 : i64, transfer = "tmem"
  "pipelink.connect"() {source = @mma::@accumulators, target = @store::@accumulators} : () -> ()
}
