// Two CTAs bring a slot together: tile 1 half each, to both; tile 0 each for itself.
// RUN: pl-opt --pipeline=check,place -split-input-file %s | FileCheck %s --check-prefix=PLACE
// RUN: pl-opt --pipeline=check,place,transfer -split-input-file %s | FileCheck %s --check-prefix=TRANSFER
// RUN: pl-opt --pipeline=check,place,fuse -split-input-file %s | FileCheck %s --check-prefix=ENTRY

// The box of the shared tile has half its rows.  Each CTA's empty barriers count the readers of both, its full ones the
// bytes of a whole slot.
// PLACE-LABEL: module @k
// PLACE-SAME: cluster = [2, 1, 1]
// PLACE-SAME: box = [128, 64], {{.*}}tensor = "a"
// PLACE-SAME: box = [128, 64], {{.*}}tensor = "b"
// PLACE-SAME: pipelink.placement = {{{.*}}cluster = [2, 1, 1]
// PLACE-SAME: arrivals = 4 : i64{{.*}}name = "load::ab empty"
// PLACE: "pipelink.connect"
// PLACE-SAME: bytes = 49152 : i64, consumer_arrivals = 4 : i64
// PLACE-SAME: shared = [1]
// PLACE-SAME: transfer = "cluster"

// Rank 1's half begins 128 rows and 16384 bytes on.  Addresses are of the CTA's own window.
// TRANSFER-LABEL: module @k
// TRANSFER: llvm.func @_ZN4load2ab7pl_tma2EiPvjijPKvii
// TRANSFER: llvm.switch
// TRANSFER: llvm.call @pl_ring_tma2
// TRANSFER: llvm.or
// TRANSFER: llvm.mlir.constant(128 : i32)
// TRANSFER-NEXT: llvm.mlir.constant(16384 : i32)
// TRANSFER-NEXT: llvm.call @pl_cluster_tma2
// TRANSFER: llvm.func @_ZN3mma2ab10pl_releaseEiPvj
// TRANSFER: llvm.call @pl_cluster_release

// Both CTAs are there before either uses the other's barriers, and leave together.
// ENTRY-LABEL: llvm.func @k
// ENTRY: llvm.call @pl_cluster_window
// ENTRY: mbarrier.init
// ENTRY: llvm.call @pl_cluster_meet
// ENTRY-NOT: nvvm.barrier
// ENTRY: llvm.call @_ZN3mma3run8pl_enterEiPv
// ENTRY: llvm.call @pl_cluster_leave
// ENTRY-NEXT: llvm.return

module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// A tile that takes several copies keeps its box; each CTA makes the copies into its half.
// PLACE-LABEL: module @k
// PLACE-SAME: box = [32, 64], {{.*}}tensor = "b"
// TRANSFER-LABEL: module @k
// TRANSFER: llvm.func @_ZN4load2ab7pl_tma2EiPvjijPKvii
// TRANSFER: llvm.or
// TRANSFER: llvm.mlir.constant(0 : i32)
// TRANSFER-NEXT: llvm.mlir.constant(16384 : i32)
// TRANSFER-NEXT: llvm.call @pl_cluster_tma2
// ENTRY-LABEL: llvm.func @k
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1, box = [32, 64]} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// A cluster whose CTAs share nothing: addresses in the window, but an ordinary ring, and nobody waits.
// TRANSFER-LABEL: module @k
// TRANSFER: llvm.or
// TRANSFER: llvm.call @pl_ring_acquire
// ENTRY-LABEL: llvm.func @k
// ENTRY: llvm.call @pl_cluster_window
// ENTRY: nvvm.barrier
// ENTRY-NOT: pl_cluster_leave
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
}
