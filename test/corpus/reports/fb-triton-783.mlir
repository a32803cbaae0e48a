// KIND: peers counted by cluster size instead of by who delivers
// DECIDED: check
// REPORT: https://github.com/facebookexperimental/triton/pull/783
// WRONG: Code for pairs of CTAs always signalled CTAs 0 and 1. In a cluster of four, 2 and 3 never heard of their own
// slots, and all four hung.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// A pair's transfer in a cluster of four.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.grid"() {value = ["4 * sms", "1", "1"]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.cluster"() {value = [4, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{transfer 'cluster' of '@load::@ab' to '@math::@ab' is for clusters of 2 CTAs, kernel 'k' has clusters of 4 CTAs [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// Clusters of two.
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

// A pair along another dimension.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.grid"() {value = ["1 * sms", "2", "1"]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.cluster"() {value = [1, 2, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab, transfer = "cluster", shared = [1]} : () -> ()
}
