// KIND: base aligned to 128 under a 1024 B swizzle
// DECIDED: check
// REPORT: https://github.com/tile-ai/tilelang/issues/2379
// WRONG: On one architecture the compiler aligned all TMA destinations to 128 bytes. The 128-byte swizzle is a
// function of the absolute address and repeats from 1024: a tile at 128 mod 1024 came back permuted.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// A swizzled tile at any multiple of 128.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  // expected-error @below {{tile 0 of port 'a' of component 'lib.load' is aligned to 128 bytes, swizzle128 repeats from 1024 bytes [bad-alignment]}}
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 128}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  // expected-error @below {{tile 0 of port 'a' of component 'lib.math' is aligned to 128 bytes, swizzle128 repeats from 1024 bytes [bad-alignment]}}
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_120a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// Aligned to the period of its swizzle.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_120a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}

// -----

// Without a swizzle 128 is enough, and 32-byte swizzle needs 256.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "row_major", align = 128}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_120a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
}
