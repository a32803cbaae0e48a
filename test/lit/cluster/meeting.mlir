// A role that meets that of the other CTAs: an mbarrier in each CTA, a warp's lanes arrive at those of all.
// RUN: pl-opt --pipeline=check,place -split-input-file %s | FileCheck %s --check-prefix=PLACE
// RUN: pl-opt --pipeline=check,place,transfer -split-input-file %s | FileCheck %s --check-prefix=TRANSFER
// RUN: pl-opt --pipeline=check,place,fuse -split-input-file %s | FileCheck %s --check-prefix=ENTRY
// RUN: pl-opt --pipeline=check,place{arrivals=every-thread} -split-input-file %s | FileCheck %s --check-prefix=THREADS

// Four warps in each of two CTAs.
// PLACE-LABEL: module @pair
// PLACE-SAME: mbarriers = [{address = [[AT:[0-9]+]] : i64, arrivals = 8 : i64, count = 1 : i64, name = "a::met"}]
// PLACE: cluster_barriers = {met = {address = [[AT]] : i64, cursor = 0 : i64, unit = "warp"}}
// THREADS-LABEL: module @pair
// THREADS-SAME: arrivals = 256 : i64, count = 1 : i64, name = "a::met"
// THREADS: unit = "thread"

// TRANSFER-LABEL: module @pair
// TRANSFER: llvm.func @_ZN3run3met7pl_syncEiPv
// TRANSFER: llvm.mlir.constant(2 : i32)
// TRANSFER-NEXT: llvm.mlir.constant(1 : i32)
// TRANSFER-NEXT: llvm.call @pl_cluster_barrier_sync
// TRANSFER: llvm.func @pl_cluster_barrier_sync{{.*}}convergent

// The mbarriers of all CTAs are set up before anybody arrives, and no CTA ends while others may still arrive or read.
// ENTRY-LABEL: llvm.func @pair
// ENTRY: mbarrier.init
// ENTRY: fence.mbarrier_init.release.cluster
// ENTRY: llvm.call @pl_cluster_meet
// ENTRY-NOT: nvvm.barrier
// ENTRY: llvm.call @_ZN3run3run8pl_enterEiPv
// ENTRY: llvm.call @pl_cluster_leave
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "met.sync;"} : () -> ()
}
module @pair attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// Without a cluster a CTA is all that there is; one thread arrives for itself.
// PLACE-LABEL: module @alone
// PLACE-SAME: arrivals = 1 : i64, count = 1 : i64, name = "a::met"
// PLACE: unit = "thread"
// ENTRY-LABEL: llvm.func @alone
// ENTRY: nvvm.barrier
// ENTRY-NOT: pl_cluster_leave
// ENTRY: llvm.return
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "met.sync;"} : () -> ()
}
module @alone attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}
