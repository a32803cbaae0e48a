// KIND: scratch of two fused reductions shared without a barrier
// DECIDED: prove
// REPORT: https://github.com/pytorch/pytorch/pull/5276
// WRONG: Two sums over the block follow each other and use the same scratch. The barrier inside each stands between
// its writes and its reads; nothing stood between the reads of the first sum and the writes of the second.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The first warp adds up while the others begin the next sum.
module @lib.loss attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "first", direction = "calls", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.port"() {sym_name = "second", direction = "calls", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat rows { first; second; }"} : () -> ()
}
module @lib.sum attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 128, align = 16} : () -> ()
  // expected-error @below {{'@loss::@run, threads 0-31' touches '@sum::@scratch' (scratch) while '@loss::@run, threads 32-127' may still write '@weight::@scratch' (scratch), which shares its memory [slot-race]}}
  "pipelink.protocol"() {of = "sum", text = "scratch.write; met.sync; scratch.read by 1 warp;"} : () -> ()
}
module @lib.weight attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 128, align = 16} : () -> ()
  "pipelink.protocol"() {of = "sum", text = "scratch.write; met.sync; scratch.read by 1 warp;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "loss", component = @lib.loss} : () -> ()
  "pipelink.instance"() {sym_name = "sum", component = @lib.sum} : () -> ()
  "pipelink.instance"() {sym_name = "weight", component = @lib.weight} : () -> ()
  "pipelink.connect"() {source = @loss::@first, target = @sum::@sum} : () -> ()
  "pipelink.connect"() {source = @loss::@second, target = @weight::@sum} : () -> ()
  "pipelink.overlay"() {buffers = [@sum::@scratch, @weight::@scratch], because = "one sum is done before the next"} : () -> ()
}

// -----

// Everybody waits until the sum has been read.
module @lib.loss attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "first", direction = "calls", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.port"() {sym_name = "second", direction = "calls", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat rows { first; second; }"} : () -> ()
}
module @lib.sum attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "left", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 128, align = 16} : () -> ()
  "pipelink.protocol"() {of = "sum", text = "scratch.write; met.sync; scratch.read by 1 warp; left.sync;"} : () -> ()
}
module @lib.weight attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "left", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 128, align = 16} : () -> ()
  "pipelink.protocol"() {of = "sum", text = "scratch.write; met.sync; scratch.read by 1 warp; left.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "loss", component = @lib.loss} : () -> ()
  "pipelink.instance"() {sym_name = "sum", component = @lib.sum} : () -> ()
  "pipelink.instance"() {sym_name = "weight", component = @lib.weight} : () -> ()
  "pipelink.connect"() {source = @loss::@first, target = @sum::@sum} : () -> ()
  "pipelink.connect"() {source = @loss::@second, target = @weight::@sum} : () -> ()
  "pipelink.overlay"() {buffers = [@sum::@scratch, @weight::@scratch], because = "one sum is done before the next"} : () -> ()
}

// -----

// Scratch of its own for each sum: the barrier of the other one stands between.
module @lib.loss attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "first", direction = "calls", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.port"() {sym_name = "second", direction = "calls", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat rows { first; second; }"} : () -> ()
}
module @lib.sum attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 128, align = 16} : () -> ()
  "pipelink.protocol"() {of = "sum", text = "scratch.write; met.sync; scratch.read by 1 warp;"} : () -> ()
}
module @lib.weight attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 128, align = 16} : () -> ()
  "pipelink.protocol"() {of = "sum", text = "scratch.write; met.sync; scratch.read by 1 warp;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "loss", component = @lib.loss} : () -> ()
  "pipelink.instance"() {sym_name = "sum", component = @lib.sum} : () -> ()
  "pipelink.instance"() {sym_name = "weight", component = @lib.weight} : () -> ()
  "pipelink.connect"() {source = @loss::@first, target = @sum::@sum} : () -> ()
  "pipelink.connect"() {source = @loss::@second, target = @weight::@sum} : () -> ()
}
