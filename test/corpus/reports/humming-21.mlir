// KIND: alignment of an aggregate but not of its member
// DECIDED: check
// REPORT: https://github.com/inclusionAI/humming/pull/21
// WRONG: A union of buffers was aligned to 128 bytes, its members were not. Behind scales of a size that is no
// multiple of 128, the buffer that TMA fills began at 64 mod 128, and the copy trapped.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// A member that TMA fills states 64.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  // expected-error @below {{tile 1 of port 'ab' of component 'lib.load' is aligned to 64 bytes, TMA needs 128 [bad-alignment]}}
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}, {element = "f32", shape = [8, 4], layout = "row_major", align = 64}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.smem"() {sym_name = "scales", bytes = 1088, align = 64} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}, {element = "f32", shape = [8, 4], layout = "row_major", align = 16}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab} : () -> ()
}

// -----

// Each member states what TMA needs.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}, {element = "f32", shape = [8, 4], layout = "row_major", align = 128}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.smem"() {sym_name = "scales", bytes = 1088, align = 64} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}, {element = "f32", shape = [8, 4], layout = "row_major", align = 16}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab} : () -> ()
}

// -----

// Threads fill the slot: 64 is enough for the member without a swizzle.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}, {element = "f32", shape = [8, 4], layout = "row_major", align = 64}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.smem"() {sym_name = "scales", bytes = 1088, align = 64} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}, {element = "f32", shape = [8, 4], layout = "row_major", align = 16}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab} : () -> ()
}
