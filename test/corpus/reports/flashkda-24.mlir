// KIND: generic write then async read
// DECIDED: prove
// REPORT: https://github.com/MoonshotAI/FlashKDA/issues/24
// WRONG: Threads wrote a state to shared memory and TMA stored it from there. A barrier between the two orders the
// threads, not the proxies. Where a sequence was empty, the loop with the only fence was not entered.
// The fault: threads write what tensor cores read, and pass no proxy fence before they arrive.
// RUN: pl-opt --pipeline=check,place %s | sed 's/producer_fence = true/producer_fence = false/' | not pl-opt --pipeline=prove 2>&1 | FileCheck %s
// CHECK: error: threads write the slots of '@fill::@a' and wgmma reads them, without a fence.proxy.async between [missing-fence]
// The fix: what place puts there.
// RUN: pl-opt --pipeline=check,place,prove %s
// Near miss: ordinary loads read what ordinary stores wrote; place puts no fence there.
// RUN: sed 's/"wgmma"/"threads"/' %s | pl-opt --pipeline=check,place,prove | FileCheck %s --check-prefix=THREADS
// THREADS: producer_fence = false

module @lib.fill attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fill", warps = 4} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fill", component = @lib.fill} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @fill::@a, target = @math::@a} : () -> ()
}
