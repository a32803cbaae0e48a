// KIND: output staging refilled while it is read (fine once, wrong when persistent)
// DECIDED: prove
// REPORT: https://github.com/tile-ai/TileOPs/pull/1550
// WRONG: A warpgroup stages its result in shared memory, and one thread has it copied from there. The thread waits for
// the copy, the others go on to the next tile and write into the buffer. With one tile for each CTA nothing happened.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Nobody waits for the thread that copies.
module @lib.epilogue attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "store", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "waves", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "c", bytes = 32768, align = 1024} : () -> ()
  // expected-error @below {{'@epilogue::@store, threads 1-127': write c, while '@epilogue::@store, thread 0' may still read c [slot-race]}}
  "pipelink.protocol"() {of = "store", text = "repeat waves { c.write; full.sync; c.read by 1 thread; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "epilogue", component = @lib.epilogue} : () -> ()
}

// -----

// All meet before the buffer is filled again.
module @lib.epilogue attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "store", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "waves", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "empty", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "c", bytes = 32768, align = 1024} : () -> ()
  "pipelink.protocol"() {of = "store", text = "repeat waves { empty.sync; c.write; full.sync; c.read by 1 thread; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "epilogue", component = @lib.epilogue} : () -> ()
}

// -----

// One barrier is enough for two buffers in turn.
module @lib.epilogue attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "store", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "waves", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "full", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "c", bytes = 32768, align = 1024} : () -> ()
  "pipelink.smem"() {sym_name = "d", bytes = 32768, align = 1024} : () -> ()
  "pipelink.protocol"() {of = "store", text = "repeat waves { c.write; full.sync; c.read by 1 thread; d.write; full.sync; d.read by 1 thread; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "epilogue", component = @lib.epilogue} : () -> ()
}
