// An item that is made by halves is waited for, also by a role that does as often as the others want.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=prove %t.mlir
// RUN: sed -e 's/x.commit;/x.commit by 1 warp;/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s
// CHECK: error: '@b::@run' waits for ever for slot '@b::@x'[0] to be filled: x[0] full gets 1 of 4 arrivals [arrival-count]

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 2 { x.acquire; x.commit; }"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
}
