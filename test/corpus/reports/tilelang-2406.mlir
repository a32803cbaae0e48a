// KIND: pool overcommitted, so setmaxnreg.inc never returns
// DECIDED: check
// REPORT: https://github.com/tile-ai/tilelang/pull/2406
// WRONG: A compiler always set 24 registers for producers and 240 for consumers. That fits one warpgroup of the first
// and two of the second; with two of each the consumers' increase waits for registers that nobody has.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Two warpgroups load, two multiply.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{'@load::@load' needs 24 in 256 threads}}
  "pipelink.role"() {sym_name = "load", warps = 8, align = 4, registers = [24, 24]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{'@math::@math' needs 240 in 256 threads}}
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4, registers = [240, 240]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-error @below {{kernel 'k' needs at least 24 x 256 + 240 x 256 = 67584 registers, 2048 over the 65536 that sm_90a has [register-overcommit]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// 224 for the consumers is what two and two have.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 8, align = 4, registers = [24, 24]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4, registers = [224, 224]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// The values of the report, in the layout they were made for.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 4, align = 4, registers = [24, 24]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4, registers = [240, 240]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}
