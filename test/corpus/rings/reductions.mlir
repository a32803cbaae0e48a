// KIND: scratch of two fused reductions shared without a barrier
// DECIDED: prove
// Two reductions were one after the other and share their scratch; fused, a fast warp is in the second while a slow one
// still reads the first.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// No barrier between
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "sum", bytes = 2048, align = 16} : () -> ()
  "pipelink.smem"() {sym_name = "most", bytes = 2048, align = 16} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@lib::@run' touches '@lib::@most' (most) while '@lib::@run' may still read '@lib::@sum' (sum), which shares its memory [slot-race]}}
  "pipelink.protocol"() {text = "repeat n { sum.write; meet.sync; sum.read; most.write; meet.sync; most.read; meet.sync; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
  "pipelink.overlay"() {buffers = [@lib::@sum, @lib::@most], because = "one reduction follows the other"} : () -> ()
}

// -----

// One
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "sum", bytes = 2048, align = 16} : () -> ()
  "pipelink.smem"() {sym_name = "most", bytes = 2048, align = 16} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { sum.write; meet.sync; sum.read; meet.sync; most.write; meet.sync; most.read; meet.sync; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
  "pipelink.overlay"() {buffers = [@lib::@sum, @lib::@most], because = "one reduction follows the other"} : () -> ()
}

// -----

// Each its own scratch
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "sum", bytes = 2048, align = 16} : () -> ()
  "pipelink.smem"() {sym_name = "most", bytes = 2048, align = 16} : () -> ()
  "pipelink.barrier"() {sym_name = "meet", threads = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { sum.write; meet.sync; sum.read; most.write; meet.sync; most.read; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
}
