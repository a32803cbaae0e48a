// KIND: barrier words reused as data without invalidation
// DECIDED: prove
// REPORT: https://github.com/triton-lang/triton/pull/10657
// WRONG: A kernel with another scheduler kept its output where the first scheduler's mbarriers were. They were set up
// all the same, and never invalidated before the epilogue wrote over them.
// The fault: a buffer begins at the first mbarrier.
// RUN: pl-opt --pipeline=check,place %s | sed 's/smem = {staging = [0-9]* : i64}/smem = {staging = 1024 : i64}/' | not pl-opt --pipeline=prove 2>&1 | FileCheck %s
// CHECK: error: '@math::@staging' is placed on 1024 to 1055 together with the mbarriers 'load::a full', and nothing keeps the two apart in time [placement-overlap]
// The fix: place keeps them apart.
// RUN: pl-opt --pipeline=check,place,prove %s
// Near miss: the buffer begins at the byte behind the last mbarrier.
// RUN: pl-opt --pipeline=check,place %s | sed 's/smem = {staging = [0-9]* : i64}/smem = {staging = 1088 : i64}/' | pl-opt --pipeline=prove

module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.smem"() {sym_name = "staging", bytes = 96, align = 16} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a, stages = 4} : () -> ()
}
