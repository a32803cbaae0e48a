// KIND: output staging aliases an input still in use (fine once, wrong when persistent)
// DECIDED: prove
// The epilogue stages its output where the inputs were.  With one tile a CTA they are all read by then; in a persistent
// kernel the loader is already at the next tile.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Persistent
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@load::@run' touches '@load::@ab' (ab[0]) while '@mma::@run' may still write '@mma::@staging' (staging), which shares its memory [slot-race]}}
  "pipelink.protocol"() {text = "repeat tiles { repeat k { ab.acquire; ab.copy; } }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.smem"() {sym_name = "staging", bytes = 8192, align = 1024} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 128} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat tiles { repeat k { ab.wait; ab.release; } done.sync; staging.write; done.sync; staging.read; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
  "pipelink.overlay"() {buffers = [@mma::@staging, @load::@ab], because = "the tile's inputs are read by then"} : () -> ()
}

// -----

// Persistent, in a place of its own
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat tiles { repeat k { ab.acquire; ab.copy; } }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.smem"() {sym_name = "staging", bytes = 8192, align = 1024} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 128} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat tiles { repeat k { ab.wait; ab.release; } done.sync; staging.write; done.sync; staging.read; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
}

// -----

// One tile
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat k { ab.acquire; ab.copy; }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.smem"() {sym_name = "staging", bytes = 8192, align = 1024} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 128} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "k", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat k { ab.wait; ab.release; } done.sync; staging.write; done.sync; staging.read;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
  "pipelink.overlay"() {buffers = [@mma::@staging, @load::@ab], because = "the tile's inputs are read by then"} : () -> ()
}
