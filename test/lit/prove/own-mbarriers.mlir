// Mbarriers of a component's own are called what they are.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir
// RUN: not pl-opt --pipeline=prove %t.mlir 2>&1 | FileCheck %s --implicit-check-not=token --implicit-check-not=credit
// RUN: sed 's/done.wait; done.arrive;/done.arrive; done.wait;/' %t.mlir | pl-opt --pipeline=prove -o %t.right.mlir
// RUN: sed 's/repeat 3 { done.wait; done.arrive; }/repeat 2 { done.arrive; done.wait; } done.wait;/' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=FEW --implicit-check-not=token
// CHECK: error: '@a::@run' waits for ever for a phase of mbarrier '@a::@done'[0], which it must give itself [deadlock]
// CHECK: hint: nobody arrives first: a wait for the phase before the first, which is over at once, is no step
// FEW: error: '@a::@run' waits for ever for a phase of mbarrier '@a::@done'[0], which it must give itself [deadlock]
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.mbarrier"() {sym_name = "done", arrivals = 32, count = 2} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { done.wait; done.arrive; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
