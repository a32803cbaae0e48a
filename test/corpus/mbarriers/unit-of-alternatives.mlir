// KIND: arrival count of the wrong unit (thread, warp, warpgroup) or rounded to 0
// DECIDED: place
// One mbarrier counts for both alternatives of an exclusive group; roles of four and of two warps arrive differently.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Four arrivals of one alternative, two of the other
module @fill attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @four attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @two attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  // expected-error @below {{'@a::@x' with 4 arrivals, one a warp, '@b::@x' with 2 arrivals, one a warp [arrival-disagreement]}}
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fill", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @four} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @two} : () -> ()
  "pipelink.connect"() {source = @fill::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @fill::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "ops", roles = [@a::@run, @b::@run]} : () -> ()
}

// -----

// Four of each
module @fill attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @four attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fill", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @four} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @four} : () -> ()
  "pipelink.connect"() {source = @fill::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @fill::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "ops", roles = [@a::@run, @b::@run]} : () -> ()
}

// -----

// Both at once: six arrive
module @fill attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @four attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @two attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fill", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @four} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @two} : () -> ()
  "pipelink.connect"() {source = @fill::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @fill::@x, target = @b::@x} : () -> ()
}
