// KIND: generic read then async refill
// DECIDED: prove
// REPORT: https://github.com/NVIDIA/TransformerEngine/pull/2695
// WRONG: Threads read a stage with ordinary loads, and TMA filled it again for the next. The barrier between them did
// not order the two proxies: the copy could overtake the loads.
// The fault: threads read what TMA fills next, and no proxy fence stands between.
// RUN: pl-opt --pipeline=check,place %s | sed 's/consumer_fence = true/consumer_fence = false/' | not pl-opt --pipeline=prove 2>&1 | FileCheck %s
// CHECK: error: threads read the slots of '@math::@a' and TMA fills them again, without a fence.proxy.async between [missing-fence]
// The fix: what place puts there, and transfer makes of it.
// RUN: pl-opt --pipeline=check,place,prove,transfer %s | FileCheck %s --check-prefix=FENCE
// FENCE-LABEL: llvm.func @_ZN3lib4load1a10pl_acquireEiPv
// FENCE: llvm.call @pl_ring_acquire
// FENCE-NEXT: "fence.proxy.async.shared::cta;"
// Near miss: wgmma reads through the proxy that TMA writes through; place puts no fence there.
// RUN: sed 's/"threads", stages/"wgmma", stages/' %s | pl-opt --pipeline=check,place,prove | FileCheck %s --check-prefix=WGMMA
// WGMMA: consumer_fence = false

module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}
