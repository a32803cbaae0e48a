// A kernel that stores tiles by TMA, or whose protocols say that they store, waits at its end until the copies have left
// shared memory; others do not.
// RUN: pl-opt --pipeline=check,place,fuse %s | FileCheck %s --implicit-check-not=wait_group
// CHECK-LABEL: llvm.func @stores(
// CHECK: cp.async.bulk.wait_group.read 0;
// CHECK-NEXT: llvm.return
// CHECK-LABEL: llvm.func @says(
// CHECK: cp.async.bulk.wait_group.read 0;
// CHECK-NEXT: llvm.return
// CHECK-LABEL: llvm.func @plain(

module @a.stores attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.param"() {sym_name = "map", type = "tensor_map", bytes = 128, align = 64, tile = {element = "bf16", shape = [16, 32], layout = "swizzle64", bytes = 1024, align = 512}} : () -> ()
  "pipelink.tensor"() {name = "out", element = "bf16", shape = ["M", "N"], access = "write"} : () -> ()
  "pipelink.bind"() {param = "map", to = "out"} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
module @a.says attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.protocol"() {of = "run", text = "tile.write; fence async; tile.store;"} : () -> ()
}
module @a.plain attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @stores attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a.stores} : () -> ()
}
module @says attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a.says} : () -> ()
}
module @plain attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a.plain} : () -> ()
}
