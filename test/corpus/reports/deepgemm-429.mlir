// KIND: peers of a cluster that go different ways
// DECIDED: check
// REPORT: https://github.com/deepseek-ai/DeepGEMM/pull/429
// WRONG: 121 tiles for each group and clusters of two: one pair of CTAs got tiles of two groups, whose loops over K
// have different lengths. Each waited at the other's barriers for slots that were never filled.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Nothing says that both CTAs take equally many slots.
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
  // expected-error @below {{'@load::@ab' to '@math::@ab' shares tiles between the CTAs of a cluster, but nothing promises cluster_lockstep = 2: that both take equally many slots, with the same shared tiles [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// A scheduler deals out work in pairs, and promises it.
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

// -----

// CTAs of a cluster that share nothing may go their own ways.
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
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab} : () -> ()
}
