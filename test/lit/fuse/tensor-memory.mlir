// Accumulators in tensor memory: who allocates, how a slot is addressed, who arrives.
// RUN: pl-opt --pipeline=check,place,fuse %s | FileCheck %s
// RUN: sed 's/touch = "tcgen05"/touch = "tcgen05", cta_group = 2/; s@^  // PAIR @  @' %s | pl-opt --pipeline=check,place,fuse | FileCheck %s --check-prefix=BOTH
// RUN: sed 's/touch = "tcgen05"/touch = "tcgen05", cta_group = 2/; s@^  // PAIR @  @' %s | pl-opt --pipeline=check,place | FileCheck %s --check-prefix=PLACED

module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  // PAIR "pipelink.protocol"() {of = "run", text = "rank 0 { repeat 5 { acc.acquire; acc.commit; } }"} : () -> ()
  "pipelink.port"() {sym_name = "acc", direction = "out", kind = "stream", touch = "tcgen05", stages = [2, 2], tiles = [{element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
}
module @read attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "acc", direction = "in", kind = "stream", touch = "tcgen05", stages = [2, 2], tiles = [{element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
}
// The readers of both CTAs release a slot.
// PLACED: consumer_arrivals = 8 : i64, {{.*}}transfer = "pair.tmem"
// The slot's address: the allocation's, and 64 columns a stage.
// CHECK-LABEL: llvm.func @_ZN3mma3acc10pl_addressEiPvji
// CHECK: %[[AT:.*]] = llvm.load {{.*}} : !llvm.ptr -> i32
// CHECK: llvm.mlir.constant(64 : i32)
// CHECK: llvm.add {{.*}}, %[[AT]] : i32
// The thread that multiplies waits, and is ordered behind the warps that read.
// CHECK-LABEL: llvm.func @_ZN3mma3acc10pl_acquireEiPv
// CHECK: llvm.call @pl_ring_acquire
// CHECK: llvm.call @pl_tmem_after
// CHECK-LABEL: llvm.func @_ZN3mma3acc9pl_commitEiPvj
// CHECK: llvm.call @pl_tmem_commit
// BOTH-LABEL: llvm.func @_ZN3mma3acc9pl_commitEiPvj
// BOTH: llvm.call @pl_pair_commit
// CHECK-LABEL: llvm.func @_ZN4read3acc7pl_waitEiPv
// CHECK: llvm.call @pl_ring_wait
// CHECK: llvm.call @pl_tmem_after
// CHECK-LABEL: llvm.func @_ZN4read3acc10pl_releaseEiPvj
// CHECK: llvm.call @pl_tmem_loaded
// CHECK: llvm.call @pl_ring_release
// BOTH-LABEL: llvm.func @_ZN4read3acc10pl_releaseEiPvj
// BOTH: llvm.call @pl_tmem_loaded
// BOTH: llvm.call @pl_pair_release
// Two stages of 64 columns; every thread reads where they are, and one warp frees them when all are done.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[COLUMNS:.*]] = llvm.mlir.constant(128 : i32)
// CHECK: llvm.call @pl_tmem_allocate({{.*}}, %[[COLUMNS]])
// CHECK: nvvm.barrier
// CHECK: %[[BASE:.*]] = llvm.call @pl_tmem_base
// CHECK: llvm.store %[[BASE]],
// CHECK: llvm.call @_ZN4read3run8pl_enterEiPv
// CHECK: llvm.call @pl_tmem_leave
// CHECK: llvm.call @pl_tmem_free(%[[BASE]],
// BOTH-LABEL: llvm.func @k(
// BOTH: llvm.call @pl_pair_allocate
// BOTH: llvm.call @pl_cluster_meet
// BOTH: llvm.call @pl_cluster_leave
// BOTH: llvm.call @pl_pair_free
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.instance"() {sym_name = "read", component = @read} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
  // PAIR "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  // PAIR "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @mma::@acc, target = @read::@acc} : () -> ()
}
