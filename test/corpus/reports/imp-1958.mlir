// KIND: peers counted by who is known instead of by who delivers
// DECIDED: check
// REPORT: https://github.com/kekzl/imp/pull/1958
// WRONG: The weights of the first stages were fetched by a warp of the consumers instead of the producer, with an
// arrival that the barrier's count did not include. When the producer's came first, the stage was read without them.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Two fill one slot, its barrier counts one.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.early attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "early", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "early", component = @lib.early} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@x, target = @math::@x} : () -> ()
  // expected-error @below {{port '@math::@x' has two producers: '@load::@x' and '@early::@x' [two-producers]}}
  "pipelink.connect"() {source = @early::@x, target = @math::@x} : () -> ()
}

// -----

// Each has a ring, with a barrier of its own.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.early attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "early", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "w", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "w", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "early", component = @lib.early} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@x, target = @math::@x} : () -> ()
  "pipelink.connect"() {source = @early::@w, target = @math::@w} : () -> ()
}

// -----

// One brings both: a phase is complete when the bytes of both tiles are there.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "xw", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "xw", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@xw, target = @math::@xw} : () -> ()
}
