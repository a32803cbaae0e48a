// KIND: bytes expected without an arrival on one path
// DECIDED: prove
// To acquire a slot announces its bytes.  On the way where the tile is out of bounds nothing is copied, and nothing comes.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// A slot acquired, and nothing copied into it
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { ab.acquire; choose { ab.copy; } or { } }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@mma::@run' waits for ever for slot '@mma::@ab'[0] to be filled: ab[0] full expects 8192 bytes more than are copied [arrival-count]}}
  "pipelink.protocol"() {text = "repeat n { ab.wait; ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
}

// -----

// Copied on both ways: TMA fills what is out of bounds with zeros
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { ab.acquire; choose { ab.copy; } or { ab.copy; } }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { ab.wait; ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
}

// -----

// Both sides leave out the slot
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { choose inside { ab.acquire; ab.copy; } or { } }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { choose inside { ab.wait; ab.release; } or { } }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
}
