// KIND: start not a multiple of 4
// DECIDED: prove
// tcgen05 addresses columns in fours.  Six columns are followed by two that nobody has.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/ s = 4 : i64}/ s = 6 : i64}/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: error: '@a::@s' is placed at 6, it must start at a multiple of 4 columns [bad-alignment]

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "s", columns = 6} : () -> ()
  "pipelink.tmem"() {sym_name = "o", columns = 4} : () -> ()
  "pipelink.protocol"() {text = "s.write; s.read; o.write; o.read;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
