// Rings: deadlocks, rates, and slots that two roles touch at once.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s -o -

// A plain producer and consumer, any number of rounds: nothing to say
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// The loop-back is missing
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  // expected-error @below {{roles wait for each other for ever: '@w::@run' waits for slot '@w::@x'[0] to be given back and '@r::@run' waits for slot '@r::@x'[0] to be filled [deadlock]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// As many slots are kept as there are
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  // expected-error @below {{roles wait for each other for ever: '@w::@run' waits for slot '@w::@x'[0] to be given back and '@r::@run' waits for slot '@r::@x'[0] to be filled [deadlock]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; x.release keep 2; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// One more will do
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; x.release keep 2; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 3} : () -> ()
}

// -----

// More slots are acquired than there are
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  // expected-error @below {{'@w::@run' waits for slot '@w::@x'[0] to be given back and '@r::@run' waits for slot '@r::@x'[0] to be filled [deadlock]}}
  "pipelink.protocol"() {of = "run", text = "repeat 6 { x.acquire; x.acquire; x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 18 { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// Three are
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 6 { x.acquire; x.acquire; x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 18 { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 3} : () -> ()
}

// -----

// The consumer takes one more than there is
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 7 { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@r::@run' waits for ever for slot '@r::@x'[1] to be filled: '@w::@run' has finished [rate-mismatch]}}
  "pipelink.protocol"() {of = "run", text = "repeat 8 { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// It leaves one
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 7 { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@r::@run' has finished, and slot 0 of '@r::@x' is left that '@w::@run' gave [rate-mismatch]}}
  "pipelink.protocol"() {of = "run", text = "repeat 6 { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// Counts of two names need not be equal
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "m", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "m", value = "2 * occupancy"} : () -> ()
  // expected-error @below {{'@r::@run' waits for ever for slot '@r::@x'[0] to be filled: '@w::@run' has finished [rate-mismatch]}}
  "pipelink.protocol"() {of = "run", text = "repeat m { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// A choice by a name is made once for all
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { choose odd { x.acquire; x.commit; } or { } }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { choose odd { x.wait; x.release; } or { } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// One without a name is everybody's own
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { choose { x.acquire; x.commit; } or { } }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@r::@run' has finished, and slot 0 of '@r::@x' is left that '@w::@run' gave [rate-mismatch]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { choose { x.wait; x.release; } or { } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// A slot is read after it was given back
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@r::@run': read x without holding a slot [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; x.release; x.read; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// One warp gives a slot back while the others may still read
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  // expected-error @below {{'@w::@run': acquire x[0], while '@r::@run, threads 32-127' may still read x[0] [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; x.release by 1 warp; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// After they have met it may
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; met.sync; x.release by 1 warp; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// A stream ends
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], ends = true, tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; } x.end;"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], ends = true, tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "until x { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// It never does
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], ends = true, tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], ends = true, tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@r::@run' waits for ever for slot '@r::@x'[0] to be filled: '@w::@run' has finished [rate-mismatch]}}
  "pipelink.protocol"() {of = "run", text = "until x { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}

// -----

// The end mark is no data
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], ends = true, tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { x.acquire; x.commit; } x.end;"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], ends = true, tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@r::@run': wait x[1] finds the end mark, and takes it for data [rate-mismatch]}}
  "pipelink.protocol"() {of = "run", text = "repeat 4 { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x, stages = 2} : () -> ()
}
