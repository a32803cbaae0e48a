// A file whose only content is one kernel or component is a whole input.
// RUN: pl-opt %s | FileCheck %s

// CHECK: module {
// CHECK-NEXT: module @only attributes {pipelink.component
module @only attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
}
