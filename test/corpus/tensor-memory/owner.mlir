// KIND: used without an owner
// DECIDED: prove
// Tensor memory is there only when a warp of the CTA has allocated it.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/, tmem_columns = [0-9]* : i64//' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: sed -e 's/tmem_columns = 32 /tmem_columns = 24 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=FEW
// NOBODY: error: '@a::@s' is in columns 4 to 9 of tensor memory, which nobody allocates [tensor-memory-order]
// FEW: error: {{.*}}a power of two from 32 to 512 [tensor-memory-order]

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "s", columns = 6} : () -> ()
  "pipelink.tmem"() {sym_name = "o", columns = 4} : () -> ()
  "pipelink.protocol"() {text = "s.write; s.read; o.write; o.read;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
