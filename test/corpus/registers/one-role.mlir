// KIND: different values in one warpgroup
// DECIDED: prove
// The two warpgroups of a role run one setmaxnreg; the placement of another hand has two.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/{registers = 232 : i64}]/{registers = 224 : i64}]/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: sed -e 's/{registers = 40 /{registers = 44 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=VALUE
// TWO: error: '@b::@run' has 232 in warpgroup 1, 224 in warpgroup 2; its warps run one setmaxnreg [register-pool]
// VALUE: error: warpgroup 0 is placed with 44 registers, setmaxnreg takes multiples of 8 from 24 to 256 [register-pool]

module @light attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, registers = [32, 40]} : () -> ()
}
module @heavy attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [232, 232]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @light} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @heavy} : () -> ()
}
