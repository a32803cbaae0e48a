// KIND: tensor memory used without an owner
// DECIDED: prove
// REPORT: https://github.com/NVIDIA/cutlass/issues/2230
// WRONG: Examples multiplied into tensor memory that they had not allocated. With two CTAs on an SM both would have
// used the same columns.
// The fault: accumulators in columns that nobody allocates.
// RUN: pl-opt --pipeline=check,place %s | sed 's/tmem_columns = [0-9]* : i64, //' | not pl-opt --pipeline=prove 2>&1 | FileCheck %s
// CHECK: error: '@mma::@acc' is in columns 0 to 127 of tensor memory, which nobody allocates [tensor-memory-order]
// The fix: what place gives a kernel with accumulators, and entry allocates.
// RUN: pl-opt --pipeline=check,place,fuse %s | FileCheck %s --check-prefix=ENTRY
// ENTRY-LABEL: llvm.func @k(
// ENTRY: llvm.call @pl_tmem_allocate
// ENTRY: llvm.call @pl_tmem_free
// Near miss: two CTAs on an SM, for each of which there is room.
// RUN: sed 's/{target = "sm_100a"}/{target = "sm_100a", min_ctas = 2}/' %s | pl-opt --pipeline=check,place,prove

module @lib.mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "mma", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "acc", direction = "out", kind = "stream", touch = "tcgen05", stages = [2, 2], tiles = [{element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
}
module @lib.read attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "read", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "acc", direction = "in", kind = "stream", touch = "tcgen05", stages = [2, 2], tiles = [{element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "mma", component = @lib.mma} : () -> ()
  "pipelink.instance"() {sym_name = "read", component = @lib.read} : () -> ()
  "pipelink.connect"() {source = @mma::@acc, target = @read::@acc} : () -> ()
}
