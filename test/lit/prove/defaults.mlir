// Roles without a protocol do as often as the others want; that is no excuse for waiting in a circle, nor for an item
// that nobody takes or gives.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Each waits for the other's first item.
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{roles wait for each other for ever: '@a::@run' waits for slot '@a::@back'[0] to be filled and '@b::@run' waits for slot '@b::@there'[0] to be filled}}
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "back", direction = "in", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "there", direction = "out", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "there", direction = "in", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "back", direction = "out", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@there, target = @b::@there} : () -> ()
  "pipelink.connect"() {source = @b::@back, target = @a::@back} : () -> ()
}

// -----
// One of them begins.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "back", direction = "in", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "there", direction = "out", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { there.acquire; there.commit; back.wait; back.release; }"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "there", direction = "in", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "back", direction = "out", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@there, target = @b::@there} : () -> ()
  "pipelink.connect"() {source = @b::@back, target = @a::@back} : () -> ()
}

// -----
// A stream that its reader's protocol does not know of.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "x.acquire; x.commit;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  // expected-error @below {{'@a::@x' is filled, and nobody ever waits at '@b::@x'}}
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "in", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "t.take;"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "out", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "t.pass;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.connect"() {source = @c::@t, target = @b::@t} : () -> ()
}

// -----
// A token that a role waits for by default, and that the protocol at its other end does not know of.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  // expected-error @below {{'@b::@t' is waited for, and nobody ever gives '@a::@t'}}
  "pipelink.port"() {sym_name = "t", direction = "out", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "x.acquire; x.commit;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "in", kind = "token"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @c::@x} : () -> ()
  "pipelink.connect"() {source = @a::@t, target = @b::@t} : () -> ()
}

// -----
// Every thread of a role announces the bytes and copies, unless it says otherwise: the default is judged as its text.
module @loader attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{'@l::@load': acquire ab[0] arrives at ab[0] full, which gets 32 arrivals in a phase of 1}}
  "pipelink.role"() {sym_name = "load", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4],
    tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @reader attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4],
    tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "l", component = @loader} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @reader} : () -> ()
  "pipelink.connect"() {source = @l::@ab, target = @r::@ab} : () -> ()
}
