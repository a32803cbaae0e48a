// KIND: a buffer of one's own overwritten before its mbarrier says that it was read
// DECIDED: prove
// A component's own pipeline, as authors bring it: one warp says for both that the page was read.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The first warp arrives when it has read
module @pages attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fill", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "use", warps = 2} : () -> ()
  "pipelink.smem"() {sym_name = "page", bytes = 1024, align = 128} : () -> ()
  "pipelink.mbarrier"() {sym_name = "full", arrivals = 32} : () -> ()
  "pipelink.mbarrier"() {sym_name = "free", arrivals = 1} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 64} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@p::@fill': write page, while '@p::@use, threads 32-63' may still read page [slot-race]}}
  "pipelink.protocol"() {text = "page.write; full.arrive; repeat n { free.wait; page.write; full.arrive; } free.wait;", of = "fill"} : () -> ()
  "pipelink.protocol"() {text = "full.wait; page.read; free.arrive by 1 warp; repeat n { full.wait; page.read; free.arrive by 1 warp; }", of = "use"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "p", component = @pages} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// Both have met before
module @pages attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fill", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "use", warps = 2} : () -> ()
  "pipelink.smem"() {sym_name = "page", bytes = 1024, align = 128} : () -> ()
  "pipelink.mbarrier"() {sym_name = "full", arrivals = 32} : () -> ()
  "pipelink.mbarrier"() {sym_name = "free", arrivals = 1} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 64} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "page.write; full.arrive; repeat n { free.wait; page.write; full.arrive; } free.wait;", of = "fill"} : () -> ()
  "pipelink.protocol"() {text = "full.wait; page.read; met.sync; free.arrive by 1 warp; repeat n { full.wait; page.read; met.sync; free.arrive by 1 warp; }", of = "use"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "p", component = @pages} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// Or each arrives for itself
module @pages attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fill", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "use", warps = 2} : () -> ()
  "pipelink.smem"() {sym_name = "page", bytes = 1024, align = 128} : () -> ()
  "pipelink.mbarrier"() {sym_name = "full", arrivals = 32} : () -> ()
  "pipelink.mbarrier"() {sym_name = "free", arrivals = 2} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 64} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "page.write; full.arrive; repeat n { free.wait; page.write; full.arrive; } free.wait;", of = "fill"} : () -> ()
  "pipelink.protocol"() {text = "full.wait; page.read; free.arrive by 2 warps; repeat n { full.wait; page.read; free.arrive by 2 warps; }", of = "use"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "p", component = @pages} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
