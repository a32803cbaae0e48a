// Who may go first is what the ends of a token say, not what a placement says.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=prove %t.mlir
// RUN: sed -e 's/initial = 0/initial = 2/; s/initial = 1/initial = 0/; s/initial = 2/initial = 1/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s
// CHECK-DAG: error: token @a::@other to @b::@mine has credit 0, and is placed with initial parity 1 [bad-placement]
// CHECK-DAG: error: token @b::@other to @a::@mine has credit 1, and is placed with initial parity 0 [bad-placement]

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "mine", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "other", direction = "out", kind = "token"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { mine.take; other.pass; }"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "mine", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "other", direction = "out", kind = "token"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { mine.take; other.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@other, target = @b::@mine, credit = 0} : () -> ()
  "pipelink.connect"() {source = @b::@other, target = @a::@mine, credit = 1} : () -> ()
}
