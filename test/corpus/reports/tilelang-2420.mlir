// KIND: slot released before it is read
// DECIDED: prove
// REPORT: https://github.com/tile-ai/tilelang/pull/2420
// WRONG: The consumers of a scheduler's ring signalled a slot as free and read the tile number afterwards. The
// scheduler, a stage ahead, wrote the next one in between: some warps saw the end and left, others did not.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Released, then read.
module @lib.scheduler attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "schedule", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "tile", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "i32", shape = [8], layout = "row_major", align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "schedule", text = "repeat tiles { tile.acquire; tile.write; tile.commit; }"} : () -> ()
}
module @lib.epilogue attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "store", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "tile", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "i32", shape = [8], layout = "row_major", align = 16}]} : () -> ()
  // expected-error @below {{'@epilogue::@store': read tile without holding a slot [slot-race]}}
  "pipelink.protocol"() {of = "store", text = "repeat tiles { tile.wait; tile.release; tile.read; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "scheduler", component = @lib.scheduler} : () -> ()
  "pipelink.instance"() {sym_name = "epilogue", component = @lib.epilogue} : () -> ()
  "pipelink.connect"() {source = @scheduler::@tile, target = @epilogue::@tile} : () -> ()
}

// -----

// Read, then released.
module @lib.scheduler attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "schedule", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "tile", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "i32", shape = [8], layout = "row_major", align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "schedule", text = "repeat tiles { tile.acquire; tile.write; tile.commit; }"} : () -> ()
}
module @lib.epilogue attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "store", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "tile", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "i32", shape = [8], layout = "row_major", align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "store", text = "repeat tiles { tile.wait; tile.read; tile.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "scheduler", component = @lib.scheduler} : () -> ()
  "pipelink.instance"() {sym_name = "epilogue", component = @lib.epilogue} : () -> ()
  "pipelink.connect"() {source = @scheduler::@tile, target = @epilogue::@tile} : () -> ()
}

// -----

// The last tile is still held, and read again, while the next one is awaited.
module @lib.scheduler attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "schedule", warps = 1, threads = "one"} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "tile", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "i32", shape = [8], layout = "row_major", align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "schedule", text = "repeat tiles { tile.acquire; tile.write; tile.commit; }"} : () -> ()
}
module @lib.epilogue attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "store", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "tile", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [{element = "i32", shape = [8], layout = "row_major", align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "store", text = "repeat tiles+ { tile.wait; tile.read; tile.release keep 1; tile.read; } tile.release;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "scheduler", component = @lib.scheduler} : () -> ()
  "pipelink.instance"() {sym_name = "epilogue", component = @lib.epilogue} : () -> ()
  "pipelink.connect"() {source = @scheduler::@tile, target = @epilogue::@tile} : () -> ()
}
