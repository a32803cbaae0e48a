// KIND: elected thread frees a slot while its sister warps still wait
// DECIDED: prove
// One warp releases the slot for the role; the others may not have read it, or not even have seen it.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The first warp releases when it is done itself
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run': acquire x[0], while '@b::@run, threads 32-127' may still read x[0] [slot-race]}}
  "pipelink.protocol"() {text = "repeat n { x.acquire; x.commit; }", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.wait; x.read; x.release by 1 warp; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
}

// -----

// When all have met
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.acquire; x.commit; }", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 128} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.wait; x.read; done.sync; x.release by 1 warp; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
}

// -----

// Every warp for itself
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.acquire; x.commit; }", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.wait; x.read; x.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
}
