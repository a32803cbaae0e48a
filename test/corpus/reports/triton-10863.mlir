// KIND: one CTA of a cluster waits for the readers of its slot, the other does not
// DECIDED: prove
// REPORT: https://github.com/triton-lang/triton/pull/10863
// WRONG: The scheduler of a cluster of two keeps the next tile's number in each CTA. Inside warp-specialised code only
// the leading CTA waited until it had been read, the other one wrote over it.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// CTA 0 alone waits for its readers.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.clc attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "schedule", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "work", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 16, align = 16} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 160} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 160} : () -> ()
  // expected-error @below {{'@clc::@schedule, CTA 1': write tile, while '@clc::@work, CTA 1' may still read tile [slot-race]}}
  "pipelink.protocol"() {of = "schedule", text = "repeat tiles { tile.write; full.sync; rank 0 { empty.sync; } }"} : () -> ()
  "pipelink.protocol"() {of = "work", text = "repeat tiles { full.sync; tile.read; rank 0 { empty.sync; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.instance"() {sym_name = "clc", component = @lib.clc} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// Each CTA waits for its own readers.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.clc attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "schedule", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "work", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 16, align = 16} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 160} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 160} : () -> ()
  "pipelink.protocol"() {of = "schedule", text = "repeat tiles { tile.write; full.sync; empty.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "work", text = "repeat tiles { full.sync; tile.read; empty.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.instance"() {sym_name = "clc", component = @lib.clc} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// CTA 0 alone schedules, for itself.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.clc attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "schedule", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "work", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 16, align = 16} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 160} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 160} : () -> ()
  "pipelink.protocol"() {of = "schedule", text = "rank 0 { repeat tiles { tile.write; full.sync; empty.sync; } }"} : () -> ()
  "pipelink.protocol"() {of = "work", text = "rank 0 { repeat tiles { full.sync; tile.read; empty.arrive; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.instance"() {sym_name = "clc", component = @lib.clc} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @math::@ab, transfer = "cluster", shared = [1]} : () -> ()
}
