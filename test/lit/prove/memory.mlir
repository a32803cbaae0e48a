// Rings of cp.async, conversions, and buffers that share memory.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s -o -

// One slot less than the ring is deep goes ahead
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "local", kind = "stream", touch = "cp_async", stages = [3, 3], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat x.stages - 1 { x.acquire; x.commit; } repeat n { x.wait; x.acquire; x.commit; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
}

// -----

// Too little goes ahead
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "local", kind = "stream", touch = "cp_async", stages = [3, 3], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run': wait x[0] reads a slot whose copies may still be under way: 1 groups are committed from it on, 2 are needed [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat x.stages - 2 { x.acquire; x.commit; } repeat n { x.wait; x.acquire; x.commit; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
}

// -----

// Too much does
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "local", kind = "stream", touch = "cp_async", stages = [3, 3], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run': acquire x[0] overwrites a slot that was not released [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat x.stages { x.acquire; x.commit; } repeat n { x.wait; x.acquire; x.commit; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
}

// -----

// The next slot is filled before the warps have met
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "local", kind = "stream", touch = "cp_async", stages = [3, 3], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run': acquire x[0], while other warps of the role may still read x[0] [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat x.stages - 1 { x.acquire; x.commit; } repeat n { x.acquire; x.commit; x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
}

// -----

// One warp needs no meeting
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "local", kind = "stream", touch = "cp_async", stages = [3, 3], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat x.stages - 1 { x.acquire; x.commit; } repeat n { x.acquire; x.commit; x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
}

// -----

// Two buffers lie over each other, and a token says when
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 512, align = 16} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "out", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "s.write; s.read; go.pass;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 512, align = 16} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "in", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "go.take; s.write; s.read;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @a::@go, target = @b::@go} : () -> ()
  "pipelink.overlay"() {buffers = [@a::@s, @b::@s], because = "one comes after the other"} : () -> ()
}

// -----

// It comes too early
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 512, align = 16} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "out", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "s.write; go.pass; s.read;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 512, align = 16} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "in", kind = "token"} : () -> ()
  // expected-error @below {{'@b::@run' touches '@b::@s' (s) while '@a::@run' may still read '@a::@s' (s), which shares its memory [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "go.take; s.write; s.read;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @a::@go, target = @b::@go} : () -> ()
  "pipelink.overlay"() {buffers = [@a::@s, @b::@s], because = "one comes after the other"} : () -> ()
}
