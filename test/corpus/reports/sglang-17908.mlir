// KIND: capacity of the family instead of the device
// DECIDED: place
// REPORT: https://github.com/sgl-project/sglang/pull/17908
// WRONG: Everything from capability 9 on got the block sizes of a datacenter part with 227 KiB of shared memory. A
// workstation part of the newer family has 99, and the kernel, which needed 104, did not start.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Blocks of 128 and 64 rows, two deep.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  // expected-error @below {{shared memory of kernel 'k' overflows: '@load::@kv' and '@math::@rows' collide; it needs 106624 bytes, 5248 over 101376 of sm_120a [smem-overflow]}}
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [{element = "bf16", shape = [128, 128], layout = "row_major", align = 128}, {element = "bf16", shape = [64, 128], layout = "row_major", align = 128}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "in", kind = "stream", touch = "threads", stages = [1, 2], tiles = [{element = "bf16", shape = [128, 128], layout = "row_major", align = 128}, {element = "bf16", shape = [64, 128], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "rows", bytes = 8192, align = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_120a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@kv, target = @math::@kv} : () -> ()
}

// -----

// 64 and 64 rows.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [{element = "bf16", shape = [64, 128], layout = "row_major", align = 128}, {element = "bf16", shape = [64, 128], layout = "row_major", align = 128}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "in", kind = "stream", touch = "threads", stages = [1, 2], tiles = [{element = "bf16", shape = [64, 128], layout = "row_major", align = 128}, {element = "bf16", shape = [64, 128], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "rows", bytes = 8192, align = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_120a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@kv, target = @math::@kv} : () -> ()
}

// -----

// The first blocks, on the part they were made for.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [{element = "bf16", shape = [128, 128], layout = "row_major", align = 128}, {element = "bf16", shape = [64, 128], layout = "row_major", align = 128}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "kv", direction = "in", kind = "stream", touch = "threads", stages = [1, 2], tiles = [{element = "bf16", shape = [128, 128], layout = "row_major", align = 128}, {element = "bf16", shape = [64, 128], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "rows", bytes = 8192, align = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.connect"() {source = @load::@kv, target = @math::@kv} : () -> ()
}
