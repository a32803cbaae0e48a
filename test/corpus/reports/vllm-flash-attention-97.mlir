// KIND: arrival count of the wrong unit, rounded to 0
// DECIDED: check
// REPORT: https://github.com/vllm-project/flash-attention/pull/97
// WRONG: A pipeline counted its consumers in warpgroups of 128 threads and was told 32: the division left 0, and
// barriers were initialised to wait for nobody.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// One warp consumes what whole warpgroups release.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 1, align = 1} : () -> ()
  // expected-error @below {{port 'a' of component 'lib.math' is read by wgmma, which whole warpgroups issue; role 'math' has 1 warps aligned to 1 [unaligned-warpgroup]}}
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// A warpgroup.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// Two of them: two arrivals.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}
