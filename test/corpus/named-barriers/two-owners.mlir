// KIND: two owners on one id: a library's ids against a hard-coded one, or one that silently takes two consecutive ids
// DECIDED: prove
// Ids are numbers of the CTA that the placement deals out.  Here another hand gave two instances the same one, as two
// libraries do that both take 8; and the one that takes the next as well.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/meet = {id = 2 /meet = {id = 1 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: sed -e 's/meet = {id = 2 /meet = {id = 0 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: sed -e 's/meet = {id = 2 /meet = {id = 16 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=LARGE
// SAME: error: '@b::@meet' and '@a::@meet' are both placed on named barrier 1{{.*}} [barrier-shared]
// ENTRY: error: '@b::@meet' is placed on named barrier 0{{.*}} [barrier-shared]
// LARGE: error: '@b::@meet' is placed on named barrier 16{{.*}} [barrier-shared]

module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 128, role = "run"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { meet.sync; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @lib} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @lib} : () -> ()
}
