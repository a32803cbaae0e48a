// KIND: ordering barriers left out of the budget
// DECIDED: place
// A ring of one stage has two mbarriers of eight bytes: a slot that fills all of shared memory leaves no room for them.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// The slot alone fits
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  // expected-error @below {{'@a::@x' does not fit; it needs 232464 bytes, 16 over 232448 of sm_90a [smem-overflow]}}
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [1, 1], tiles = [
      {element = "u8", shape = [232448], layout = "row_major", align = 16}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 1], tiles = [
      {element = "u8", shape = [232448], layout = "row_major", align = 16}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
}

// -----

// Sixteen bytes less
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [1, 1], tiles = [
      {element = "u8", shape = [232432], layout = "row_major", align = 16}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 1], tiles = [
      {element = "u8", shape = [232432], layout = "row_major", align = 16}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
}
