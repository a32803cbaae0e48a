// Warpgroups of one role that take turns.
// RUN: pl-opt --pipeline=check,place,prove -verify-diagnostics -split-input-file %s -o -

// Every turn is taken, and passed on
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 12} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { turn.take; turn.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// In a choice with a name all warpgroups go the same way
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { choose same { turn.take; turn.pass; } or { } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// What one leaves in its turn, the others find in the next
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 16} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { turn.take; part.write; turn.pass; turn.take; part.read; turn.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// A ring that all warpgroups read, each in its turn; the loader waits for all of them
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 2],
    tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat n { ab.acquire; ab.copy; }"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "mma", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 8],
    tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "store", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "mma", text = "repeat n { ab.wait; turn.take; turn.pass; ab.release keep 1; } ab.release keep 0; store;"} : () -> ()
}
// Its threads have divided the buffer among them, so the warpgroups need not know of each other
module @finish attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "store", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.smem"() {sym_name = "staging", bytes = 512, align = 16} : () -> ()
  "pipelink.protocol"() {of = "store", text = "staging.write; staging.read;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "l", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "m", component = @mma} : () -> ()
  "pipelink.instance"() {sym_name = "f", component = @finish} : () -> ()
  "pipelink.connect"() {source = @l::@ab, target = @m::@ab} : () -> ()
  "pipelink.connect"() {source = @m::@store, target = @f::@store} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// Nobody passes
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 12} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  // expected-error @below {{'@a::@run, threads 128-255' waits for ever at named barrier 2 (@a::@turn), where 128 of 256 threads are, and no others come [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { turn.take; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// Nobody takes
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 12} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-127': pass turn arrives twice in one round of the barrier [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { turn.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// A turn is passed twice
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-127': pass turn arrives at named barrier 2 and the round before may not be over [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "turn.take; turn.pass; turn.pass;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// A turn is taken twice
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  // expected-error @below {{roles wait for each other for ever: '@a::@run, threads 0-127' waits at named barrier 1 (@a::@turn), where 128 of 256 threads are and '@a::@run, threads 128-255' waits at named barrier 2 (@a::@turn), where 128 of 256 threads are [deadlock]}}
  "pipelink.protocol"() {of = "run", text = "turn.take; turn.take; turn.pass;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// A turn is passed before it is taken
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  // expected-error @below {{'@a::@run, threads 128-255': pass turn arrives at named barrier 1 and the round before may not be over [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "turn.pass; turn.take;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// The last turn is kept
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  // expected-error @below {{roles wait for each other for ever: '@a::@run, threads 0-127' waits at named barrier 1 (@a::@turn), where 128 of 256 threads are and '@a::@run, threads 128-255' waits at named barrier 2 (@a::@turn), where 128 of 256 threads are [deadlock]}}
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { turn.take; turn.pass; } turn.take;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// A turn is passed on some ways only
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  // expected-error @below {{roles wait for each other for ever: '@a::@run, threads 0-127' waits at named barrier 1 (@a::@turn), where 128 of 256 threads are and '@a::@run, threads 128-255' waits at named barrier 2 (@a::@turn), where 128 of 256 threads are [deadlock]}}
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { turn.take; choose { turn.pass; } or { } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// In a choice without a name each warpgroup goes its own way
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-127' waits for ever at named barrier 1 (@a::@turn), where 128 of 256 threads are: '@a::@run, threads 128-255' has finished [barrier-participation]}}
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { choose { turn.take; turn.pass; } or { } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// One warpgroup takes turns by itself
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-127' waits for ever at named barrier 1 (@a::@turn), where 128 of 256 threads are: '@a::@run, threads 128-255' has finished [barrier-participation]}}
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "turn.take by 1 warpgroup; turn.pass by 1 warpgroup;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// One thread takes a turn for its warpgroup
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  // expected-error @below {{'@a::@run, thread 0': take turn is reached by part of a warp, and the barrier is aligned [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "turn.take by 1 thread; turn.pass;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// The warps of a warpgroup run apart: what one wrote in its turn, the others know of in the next
module @run attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{'@a::@run, threads 0-127' is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-127': read part, while other warps of the role may still write part [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { turn.take; part.write; part.read; turn.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// What is written out of turn
module @run attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{'@a::@run, threads 128-255' is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-127': read part, while '@a::@run, threads 128-255' may still write part [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { turn.take; turn.pass; part.write; turn.take; part.read; turn.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// Who holds a turn and all slots
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 2],
    tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  // expected-error @below {{roles wait for each other for ever: '@l::@load' waits for slot '@l::@ab'[0] to be given back and '@m::@mma, threads 0-127' waits for slot '@m::@ab'[0] to be filled [deadlock]}}
  "pipelink.protocol"() {of = "load", text = "repeat n { ab.acquire; ab.copy; }"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "mma", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 8],
    tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "store", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "mma", text = "repeat n { turn.take; ab.wait; ab.release keep 2; turn.pass; } ab.release keep 0; store;"} : () -> ()
}
// Its threads have divided the buffer among them, so the warpgroups need not know of each other
module @finish attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "store", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.smem"() {sym_name = "staging", bytes = 512, align = 16} : () -> ()
  "pipelink.protocol"() {of = "store", text = "staging.write; staging.read;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "l", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "m", component = @mma} : () -> ()
  "pipelink.instance"() {sym_name = "f", component = @finish} : () -> ()
  "pipelink.connect"() {source = @l::@ab, target = @m::@ab} : () -> ()
  "pipelink.connect"() {source = @m::@store, target = @f::@store} : () -> ()
  "pipelink.grid"() {value = ["N", "1", "1"]} : () -> ()
}

// -----

// A role of another component that comes to the turns of one, through an answer
module @worker attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  // expected-error @below {{'@b::@run' takes turns by '@a::@turn', which are those of '@a::@run' [barrier-participation]}}
  "pipelink.turns"() {sym_name = "turn", role = "run"} : () -> ()
  "pipelink.protocol"() {of = "work", text = "turn.take; turn.pass;"} : () -> ()
}
module @caller attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{the role is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "work;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @worker} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @caller} : () -> ()
  "pipelink.connect"() {source = @b::@work, target = @a::@work} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}
