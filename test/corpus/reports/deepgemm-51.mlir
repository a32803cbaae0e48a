// KIND: empty barrier counts the consumers of one CTA, two release
// DECIDED: prove
// REPORT: https://github.com/deepseek-ai/DeepGEMM/issues/51
// WRONG: A copy that fills a slot in two CTAs has to wait for the consumers of both. With the barrier set to those of
// one, as a reader tried, the kernel stands still.
// The fault: both warpgroups of both CTAs arrive, two arrivals are expected.
// RUN: pl-opt --pipeline=check,place %s | sed 's/arrivals = 4 : i64, count = 4 : i64, name = "load::ab empty"/arrivals = 2 : i64, count = 4 : i64, name = "load::ab empty"/; s/consumer_arrivals = 4/consumer_arrivals = 2/' | not pl-opt --pipeline=prove 2>&1 | FileCheck %s
// CHECK: error: '@math::@math, CTA 1': release ab[0] arrives at ab[0] empty of CTA 0, where the phase before may not be complete yet [arrival-count]
// CHECK: hint: it is initialised for 2, and its arrivers make 4
// The fix: what place counts.
// RUN: pl-opt --pipeline=check,place,prove %s
// Near miss: where each CTA fills its own slots, two are right.
// RUN: sed 's/, transfer = "cluster", shared = \[1\]//' %s | pl-opt --pipeline=check,place,prove | FileCheck %s --check-prefix=ALONE
// ALONE: arrivals = 2 : i64, count = 4 : i64, name = "load::ab empty"

module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab, transfer = "cluster", shared = [1]} : () -> ()
}
