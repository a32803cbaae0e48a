// KIND: pool overcommitted: a raise with nobody lowering, so .inc never returns
// DECIDED: prove
// setmaxnreg.inc waits until the CTA's pool has the registers; the warpgroup that should lower keeps what it has.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/{registers = 40 /{registers = 168 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=KEPT
// KEPT: error: the 3 warpgroups start with 168 registers a thread each, 504 together; placed are 168 + 232 + 232 = 632: warpgroup 1 to 232, warpgroup 2 to 232 waits for ever for registers, no other gives any back [register-pool]

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
