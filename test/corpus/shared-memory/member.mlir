// KIND: alignment of an aggregate but not of its member
// DECIDED: check
// A slot of two tiles: 512 bytes of scales put the matrix behind them off the boundary that the whole slot has.
// Every tile states its own alignment and has a ring of its own, so the first tile's size does not move the second.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// The member follows the aggregate's alignment
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  // expected-error @below {{tile 1 of port 'x' of component 'load' is aligned to 128 bytes, swizzle128 repeats from 1024 bytes [bad-alignment]}}
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "f32", shape = [128], layout = "row_major", align = 128},
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 128}]} : () -> ()
}
module @use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [128], layout = "row_major", align = 128},
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @use} : () -> ()
  "pipelink.connect"() {source = @load::@x, target = @use::@x} : () -> ()
}

// -----

// The member's own
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [128], layout = "row_major", align = 128},
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @use attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [128], layout = "row_major", align = 128},
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "use", component = @use} : () -> ()
  "pipelink.connect"() {source = @load::@x, target = @use::@x} : () -> ()
}
