// KIND: address read before it is published
// DECIDED: prevented
// tcgen05.alloc writes the address to shared memory.  The entry reads it, once for all roles, behind the barrier at which
// all threads of the CTA meet; components get it from their ports.
// RUN: pl-opt --pipeline=check,place,fuse %s | FileCheck %s
// CHECK-LABEL: llvm.func @k(
// CHECK: llvm.call @pl_tmem_allocate(
// CHECK-NOT: pl_tmem_base
// CHECK: nvvm.barrier
// CHECK: llvm.call @pl_tmem_base(
// CHECK: pl_enterEiPv

module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "acc", direction = "out", kind = "stream", touch = "tcgen05", stages = [2, 2], tiles = [
      {element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
}
module @read attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "acc", direction = "in", kind = "stream", touch = "tcgen05", stages = [2, 2], tiles = [
      {element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.instance"() {sym_name = "read", component = @read} : () -> ()
  "pipelink.connect"() {source = @mma::@acc, target = @read::@acc} : () -> ()
}
