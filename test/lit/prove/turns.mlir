// Roles of an exclusive group run one after the other: their memory may be one, and who waits for a later one hangs.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Scratch memory at one place, of four warps, of one thread, and of a warp that divides its own
module @four attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.protocol"() {of = "run", text = "scratch.write; met.sync; scratch.read;"} : () -> ()
}
module @thread attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 128} : () -> ()
  "pipelink.protocol"() {of = "run", text = "scratch.write; scratch.read;"} : () -> ()
}
module @warp attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 128} : () -> ()
  "pipelink.protocol"() {of = "run", text = "scratch.write; scratch.read;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @four} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @thread} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @warp} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @four} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @b::@run, @c::@run, @d::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// One role fills a ring as deep as it is, and the next reads it
module @out attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat x.stages { x.acquire; x.commit; }"} : () -> ()
}
module @in attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat x.stages { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @out} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @in} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// One slot more than there are
module @out attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  // expected-error @below {{[deadlock]}}
  "pipelink.protocol"() {of = "run", text = "repeat x.stages + 1 { x.acquire; x.commit; }"} : () -> ()
}
module @in attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat x.stages + 1 { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @out} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @in} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// Two readers of one ring, the second of which goes on where the first one was
module @out attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 7 { x.acquire; x.commit; }"} : () -> ()
}
module @in attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @out} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @in} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @in} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.bind"() {param = @a::@n, value = 3} : () -> ()
  "pipelink.bind"() {param = @b::@n, value = 4} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// They take one slot too few
module @out attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 7 { x.acquire; x.commit; }"} : () -> ()
}
module @in attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  // expected-error @below {{[rate-mismatch]}}
  "pipelink.protocol"() {of = "run", text = "repeat 3 { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @out} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @in} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @in} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// The first one ends its turn and holds a slot, which the second one would take for its own to give back
module @out attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 7 { x.acquire; x.commit; }"} : () -> ()
}
module @in attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  // expected-error @below {{'@a::@run' ends its turn and holds 1 slot of 'x', which who reads on there does not know of [rate-mismatch]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; x.release keep 1; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @out} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @in} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @in} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.bind"() {param = @a::@n, value = 3} : () -> ()
  "pipelink.bind"() {param = @b::@n, value = 4} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// A role hands its buffer to a copy, and ends its turn without having waited for it
module @copies attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.smem"() {sym_name = "page", bytes = 512, align = 128} : () -> ()
  // expected-error @+2 {{'@a::@full' is arrived at, and nobody ever waits there [rate-mismatch]}}
  // expected-error @below {{'@b::@full' is arrived at, and nobody ever waits there [rate-mismatch]}}
  "pipelink.mbarrier"() {sym_name = "full", arrivals = 1} : () -> ()
  "pipelink.protocol"() {of = "run", text = "page.write; full.arrive;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @copies} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @copies} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
