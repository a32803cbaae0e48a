// KIND: a peer CTA not started, or already gone, at a remote access
// DECIDED: prove
// REPORT: https://github.com/triton-lang/triton/issues/11730
// WRONG: A CTA read a value out of another one's shared memory. Nothing kept the other one from returning before, and
// the kernel failed at its end; what ran after it failed as well.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// One CTA fills both, and the entry does not let them meet.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@load::@load' does is not proved: '@load::@ab' is multicast by the component itself [unproven]}}
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}], touch = "tma_multicast", multicast = 2, scope = "cluster"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@math::@math' does is not proved: it meets '@load::@load', which is not followed [unproven]}}
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}], touch = "wgmma", multicast = 2, scope = "cluster"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{'@load::@ab' to '@math::@ab' writes into a peer CTA, which may not have set up its mbarriers yet, or have ended: the entry does not let the CTAs of the cluster meet [peer-lifetime]}}
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab} : () -> ()
}

// -----

// Both bring half of a tile: the entry lets them begin and end together.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}], touch = "tma"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}], touch = "wgmma"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// A cluster whose CTAs keep to themselves.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}], touch = "tma"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}], touch = "wgmma"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab} : () -> ()
}
