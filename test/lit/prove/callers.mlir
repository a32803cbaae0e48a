// Who takes a step: threads of one warp or warpgroup that go different ways, and calls by some of a role's threads.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s -o -

// One thread of a warpgroup writes; the warpgroup then reads and gives back together
module @p attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [1, 4],
    tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.copy; }"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "wgmma", stages = [1, 4],
    tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "s.write by 1 thread; repeat n { x.wait; x.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "p", component = @p} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @p::@x, target = @c::@x} : () -> ()
}

// -----

// The same with a warp that reads by its threads
module @p attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [1, 4],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "s.write by 4 threads; repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 4],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; x.release by 1 warp; } s.write by 1 thread;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "p", component = @p} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @p::@x, target = @c::@x} : () -> ()
}

// -----

// A thread that speaks for others without meeting them is still refused
module @p attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [1, 4],
    tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{acquire x[0], while '@c::@run, threads 32-127' may still read x[0] [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.copy; }"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 4],
    tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "s.write by 1 thread; repeat n { x.wait; x.release by 1 warp; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "p", component = @p} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @p::@x, target = @c::@x} : () -> ()
}

// -----

// A call by one warp: its answer meets with that warp alone
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "store", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { store by 1 warp; }"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "store", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 32} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128} : () -> ()
  "pipelink.protocol"() {of = "store", text = "s.write; met.sync; s.read; met.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @a::@store, target = @b::@store} : () -> ()
}

// -----

// With the whole role expected, nobody else comes
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "store", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { store by 1 warp; }"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "store", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-31' waits for ever at named barrier 1 (@b::@met), where 32 of 128 threads are, and no others come [barrier-participation]}}
  "pipelink.protocol"() {of = "store", text = "met.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @a::@store, target = @b::@store} : () -> ()
}

// -----

// Streams that end, one after the other, between warps of which some threads write by themselves: the parts of a warp
// meet before one thread gives on the slot of the end mark, as before it gives on any other
module @p attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [1, 1], ends = true,
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { s.write by 4 threads; repeat 2 { x.acquire; x.commit; } x.end; }"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 1], ends = true,
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { s.write by 1 thread; until x { x.wait; x.release; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "p", component = @p} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.tensor"() {name = "t", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = @p::@n, to = "N"} : () -> ()
  "pipelink.bind"() {param = @c::@n, to = "N"} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @p::@x, target = @c::@x} : () -> ()
}

// -----

// Some threads find the end, and the others do nothing until then, or touch what nobody else does
module @p attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [1, 4], ends = true,
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { repeat 2 { x.acquire; x.copy; } x.end; }"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 4], ends = true,
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { until x { x.wait by 1 thread; x.release by 1 thread; } }"} : () -> ()
}
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 4], ends = true,
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { until x { x.wait by 1 warp; s.write; x.release by 1 warp; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "p", component = @p} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.instance"() {sym_name = "q", component = @p} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.tensor"() {name = "t", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = @p::@n, to = "N"} : () -> ()
  "pipelink.bind"() {param = @c::@n, to = "N"} : () -> ()
  "pipelink.bind"() {param = @q::@n, to = "N"} : () -> ()
  "pipelink.bind"() {param = @d::@n, to = "N"} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @p::@x, target = @c::@x} : () -> ()
  "pipelink.connect"() {source = @q::@x, target = @d::@x} : () -> ()
}

// -----

// Warps that do not meet are where the others are not, at the end as before it
module @p attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [1, 1], ends = true, may_be_empty = true,
    tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@p::@run': end x[0], while '@c::@run, threads 32-127' may still read x[0] [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { x.end; }"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 1], ends = true, may_be_empty = true,
    tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { until x { x.wait; x.release by 1 warp; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "p", component = @p} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.tensor"() {name = "t", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = @p::@n, to = "N"} : () -> ()
  "pipelink.bind"() {param = @c::@n, to = "N"} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @p::@x, target = @c::@x} : () -> ()
}

// -----

// Two roles call one component by a warp each, of which both meet at its barrier; a third calls what has no barrier
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "sum", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { sum by 1 warp; }"} : () -> ()
}
module @t attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "look", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "look;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.port"() {sym_name = "look", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 64} : () -> ()
  "pipelink.protocol"() {of = "sum", text = "met.sync;"} : () -> ()
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128} : () -> ()
  "pipelink.protocol"() {of = "look", text = "s.write; fence async;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "t", component = @t} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @a::@sum, target = @b::@sum} : () -> ()
  "pipelink.connect"() {source = @c::@sum, target = @b::@sum} : () -> ()
  "pipelink.connect"() {source = @t::@look, target = @b::@look} : () -> ()
}

// -----

// The same where only a warp of each comes to the barrier, and calls are made by whole roles, through a third component
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "sum", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { sum; }"} : () -> ()
}
module @m attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "void()"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 64} : () -> ()
  "pipelink.protocol"() {of = "sum", text = "met.sync by 1 warp;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "m", component = @m} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @a::@sum, target = @m::@sum} : () -> ()
  "pipelink.connect"() {source = @c::@sum, target = @b::@sum} : () -> ()
  "pipelink.connect"() {source = @m::@next, target = @b::@sum} : () -> ()
}

// -----

// A warp of each comes, and the barrier is for one of them
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "sum", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { sum by 1 warp; }"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 32} : () -> ()
  // expected-error @below {{'@c::@run, threads 0-31': sync b.met arrives at named barrier 1 and the round before may not be over [barrier-participation]}}
  "pipelink.protocol"() {of = "sum", text = "met.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @a} : () -> ()
  // expected-error @below {{'@b::@met' waits for 32 threads, and is reached by those of '@a::@run', '@c::@run', 64 together: the arrivals of one count for the other [barrier-shared]}}
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @a::@sum, target = @b::@sum} : () -> ()
  "pipelink.connect"() {source = @c::@sum, target = @b::@sum} : () -> ()
}
