// KIND: slot kept over the end of a phase, in a ring that the next phase reads on
// DECIDED: prove
// A mainloop gives its slots back one round late.  Behind the last round of its phase there is one left, and the phase
// that goes on in the ring has no name for it: nobody gives it back.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The last slot stays
module @out attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {text = "repeat 7 { x.acquire; x.commit; }", of = "run"} : () -> ()
}
module @first attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{'@a::@run' ends its turn and holds 1 slot of 'x', which who reads on there does not know of [rate-mismatch]}}
  "pipelink.protocol"() {text = "repeat 3 { x.wait; x.release keep 1; }", of = "run"} : () -> ()
}
module @second attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {text = "repeat 4 { x.wait; x.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @out} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @first} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @second} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "phases", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// It is given back at the end of the phase
module @out attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {text = "repeat 7 { x.acquire; x.commit; }", of = "run"} : () -> ()
}
module @first attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {text = "repeat 3 { x.wait; x.release keep 1; } x.release;", of = "run"} : () -> ()
}
module @second attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {text = "repeat 4 { x.wait; x.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @out} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @first} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @second} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "phases", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// Kept to the end of the last phase: nobody reads on
module @out attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {text = "repeat 7 { x.acquire; x.commit; }", of = "run"} : () -> ()
}
module @first attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {text = "repeat 3 { x.wait; x.release; }", of = "run"} : () -> ()
}
module @second attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {text = "repeat 4 { x.wait; x.release keep 1; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @out} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @first} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @second} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "phases", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
