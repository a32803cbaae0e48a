// KIND: the reserved 1 KiB forgotten
// DECIDED: prove
// A placement of another hand, which begins at address 0, or ends where the SM's memory does.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/{table = 1024 /{table = 0 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: sed -e 's/smem_bytes = [0-9]*/smem_bytes = 233472/g' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=BEYOND
// BELOW: error: '@a::@table' is placed at 0, below the 1024 bytes that the driver reserves [placement-range]
// BEYOND: error: {{.*}} 1024 over the 232448 that sm_90a has [placement-range]

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "table", bytes = 4096, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
