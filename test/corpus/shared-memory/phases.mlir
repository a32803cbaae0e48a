// KIND: memory of the next phase written while a warp is still in the last one
// DECIDED: prove
// Two phases on the same warps, and their scratch memory at one place.  Between them the warps meet, at a barrier of the
// placement; an edit that drops it, or counts too few threads there, is refused.
// RUN: pl-opt --pipeline=check,place,prove %s -o %t.mlir
// RUN: sed -e 's/meetings = {phases = {id = 1 : i64, threads = 128 : i64}}, //' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed -e 's/meetings = {phases = {id = 1 : i64, threads = 128/meetings = {phases = {id = 1 : i64, threads = 64/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=FEW
// NONE: error: the placement of kernel 'k' has no barrier for exclusive group 'phases', {{.*}}[bad-placement]
// FEW: error: {{.*}}[barrier-mismatch]

module @four attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.protocol"() {text = "scratch.write; met.sync; scratch.read;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @four} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @four} : () -> ()
  "pipelink.exclusive"() {name = "phases", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
