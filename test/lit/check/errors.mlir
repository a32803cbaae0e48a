// RUN: pl-opt --pipeline=check -split-input-file -verify-diagnostics %s -o -

// An unknown target
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-error @below {{unknown target 'sm_91'}}
module @k attributes {pipelink.kernel = {target = "sm_91"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Nothing in the kernel
// expected-error @below {{kernel 'k' has no instance [empty-kernel]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
}

// -----

// Nothing that runs
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "f", direction = "calls", kind = "call", signature = "void()"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "g", direction = "answers", kind = "call", signature = "void()"} : () -> ()
}
// expected-error @below {{no instance of kernel 'k' has a role, so nothing would run [no-role]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@f, target = @b::@g} : () -> ()
}

// -----

// No code for the target
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a"}, {arch = "sm_100a"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_103a"}} {
  // expected-error @below {{component 'a' has no code that links for sm_103a, only for sm_90a, sm_100a [missing-arch]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Code newer than the target
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_100a"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{component 'a' is compiled for sm_100a, newer than sm_90a [arch-mismatch]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Code without LTO-IR
module @a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", kind = "cubin"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{component 'a' has no LTO-IR, only cubin [no-ltoir]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A requirement that nothing promises
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.require"() {name = "k_tiles_even", value = true} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{instance 'a' requires k_tiles_even = true, nothing promises it [unmet-requirement]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A requirement that is promised otherwise
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.require"() {name = "tile", value = 64} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  // expected-note @below {{instance 'b' promises tile = 128}}
  "pipelink.promise"() {name = "tile", value = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{instance 'a' requires tile = 64, instance 'b' promises 128 [unmet-requirement]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A port without another end
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-note @below {{the port is declared here}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{port '@b::@i' (stream, in) of component 'b' is not connected [unconnected-port]}}
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @c::@i} : () -> ()
}

// -----

// An unconnected call
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "f", direction = "calls", kind = "call", signature = "void()"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{port '@a::@f' (call, calls) of component 'a' is not connected [unconnected-port]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Source and target swapped
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@b::@i' is the source of a connection, but its direction is 'in' [wrong-direction]}}
  "pipelink.connect"() {source = @b::@i, target = @a::@o} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @b} : () -> ()
  "pipelink.connect"() {source = @c::@o, target = @b::@i} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @d::@i} : () -> ()
}

// -----

// Two producers on one port
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-note @below {{first connected here}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
  // expected-error @below {{port '@b::@i' has two producers: '@a::@o' and '@c::@o' [two-producers]}}
  "pipelink.connect"() {source = @c::@o, target = @b::@i} : () -> ()
}

// -----

// A call with two answers
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "f", direction = "calls", kind = "call", signature = "void()"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "g", direction = "answers", kind = "call", signature = "void()"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @b} : () -> ()
  // expected-note @below {{first connected here}}
  "pipelink.connect"() {source = @a::@f, target = @b::@g} : () -> ()
  // expected-error @below {{port '@a::@f' (call, calls) is connected 2 times, it has one other end [connected-twice]}}
  "pipelink.connect"() {source = @a::@f, target = @c::@g} : () -> ()
}

// -----

// Components that call each other
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "f", direction = "calls", kind = "call", signature = "void()"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "g", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.port"() {sym_name = "h", direction = "calls", kind = "call", signature = "void()"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{instances call each other in a circle: b -> c -> b [call-cycle]}}
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@f, target = @b::@g} : () -> ()
  "pipelink.connect"() {source = @b::@h, target = @c::@g} : () -> ()
  "pipelink.connect"() {source = @c::@h, target = @b::@g} : () -> ()
}

// -----

// A port that names none of several roles
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "other", warps = 4} : () -> ()
  // expected-error @below {{port 'o' of component 'a' names no role, the component has run, other [role-unstated]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Ports of two kinds
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "token"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@o' is a stream port and '@b::@i' a token port [kind-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Another number of tiles
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@o' and '@b::@i' do not fit: 1 tiles are written, 2 are read [tile-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Tiles that differ
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-note @below {{port 'i' is declared here}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{do not fit: tile 0 is written as bf16, read as f16 [element-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Tiles that differ
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-note @below {{port 'i' is declared here}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{do not fit: tile 0 is written as 128×64, read as 64×64 [shape-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Tiles that differ
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-note @below {{port 'i' is declared here}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "row_major", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{do not fit: tile 0 is written as swizzle128, read as row_major, and nothing converts it [layout-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Tiles that differ
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-note @below {{port 'i' is declared here}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024, space = "registers"}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{do not fit: tile 0 is written as smem, read from registers [space-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Signatures that differ
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "f", direction = "calls", kind = "call", signature = "void(f32[128]&, i32)"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "g", direction = "answers", kind = "call", signature = "void(f32[64]&, i32)"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@f' and '@b::@g' do not fit: 'void(f32[128]&, i32)' is called, 'void(f32[64]&, i32)' answers [signature-mismatch]}}
  "pipelink.connect"() {source = @a::@f, target = @b::@g} : () -> ()
}

// -----

// Nothing that carries it
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "tcgen05", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @+2 {{'@a::@o' and '@b::@i' do not fit: no transfer carries one to the other [no-transfer]}}
  // expected-note @below {{ring.tma: the slots are filled by tcgen05, not by tma}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A transfer that does not apply
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{transfer 'ring.tma' cannot carry '@a::@o' to '@b::@i': the slots are filled by threads, not by tma; legal are ring.threads [transfer-refused]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i, transfer = "ring.tma"} : () -> ()
}

// -----

// Ring ranges without a common depth
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [6, 8], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@o' accepts rings of 2 … 4 stages, '@b::@i' of 6 … 8 [ring-range-disjoint]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Two consumers without a common depth
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 8], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [6, 8], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
  // expected-error @below {{'@a::@o' and its other consumers accept rings of 2 … 4 stages, '@c::@i' of 6 … 8 [ring-range-disjoint]}}
  "pipelink.connect"() {source = @a::@o, target = @c::@i} : () -> ()
}

// -----

// A depth outside of the range
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{5 stages are asked of '@a::@o' to '@b::@i', the ports accept 2 … 4 [stages-refused]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i, stages = 5} : () -> ()
}

// -----

// A touch that an input cannot have
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{port 'i' of component 'b' is read by tma_multicast, not by tma, threads, wgmma, tcgen05 [bad-touch]}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "tma_multicast", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Wgmma on a target without it
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{port 'i' of component 'b' needs wgmma, which sm_90 does not have [unsupported-by-target]}}
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Tensor memory between roles that cannot use it
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{the role is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  // expected-error @below {{port 'o' of component 'a' is touched by tcgen05, which arrives for the thread that issues it; role 'run' runs in all of its threads [bad-touch]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "tcgen05", stages = [1, 2], tiles = [{element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{the role is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  // expected-error @below {{port 'i' of component 'b' is read by tcgen05.ld, a warp a quarter of the lanes; role 'run' has 2 warps aligned to 1 [unaligned-warpgroup]}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "tcgen05", stages = [1, 2], tiles = [{element = "f32", shape = [128, 64], layout = "tmem", space = "tmem", columns = 64}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Wgmma in half a warpgroup
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{the role is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 6} : () -> ()
  // expected-error @below {{port 'i' of component 'b' is read by wgmma, which whole warpgroups issue; role 'run' has 6 warps aligned to 1 [unaligned-warpgroup]}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A transfer that the target is too old for
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-note @below {{port 'o' is declared here}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-note @below {{port 'i' is declared here}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{sm_80 has no transfer from '@a::@o' to '@b::@i': ring.threads needs sm_90 or newer [unsupported-by-target]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Threads give back warp by warp what they read, in any case
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{port 'i' of component 'b' is given back warp by warp, which is said of ports that wgmma reads [bad-touch]}}
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", per_warp = true, stages = [2, 4], tiles = [{element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Cache policies of tiles that there are not, and of slots that threads fill
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  // expected-error @below {{port 'o' of component 'a' has cache policies evict_first, evict_last: each of its 1 tiles takes one of normal, evict_first, evict_last, where copies fill it [bad-touch]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], cache = ["evict_first", "evict_last"], tiles = [{element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{port 'o' of component 'b' has cache policies evict_first: each of its 1 tiles takes one of normal, evict_first, evict_last, where copies fill it [bad-touch]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], cache = ["evict_first"], tiles = [{element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "j", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @c::@i} : () -> ()
  "pipelink.connect"() {source = @b::@o, target = @c::@j} : () -> ()
}

// -----

// A programmatic launch of a kernel whose CTAs all run at once
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.resident"() : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{kernel 'k' is to begin before the one in front of it has ended (programmatic), and needs all its CTAs to run at once (resident), for which the device has to be free [launch-conflict]}}
  "pipelink.programmatic"() : () -> ()
}

// -----

// A programmatic launch on what has none
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, early = true} : () -> ()
  // expected-error @below {{kernel 'k' is to begin before the one in front of it has ended (programmatic), which sm_80 cannot [unsupported-by-target]}}
  "pipelink.programmatic"() : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// A promise of an instance that is connected to nobody of those that it is about
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "token"} : () -> ()
  "pipelink.require"() {name = "columns", value = "plain"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "token"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.promise"() {name = "columns", value = "plain"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{instance 'a' requires columns = "plain", nothing promises it [unmet-requirement]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A promise of who is beyond another port than the requirement is about
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "first", direction = "out", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "second", direction = "out", kind = "token"} : () -> ()
  "pipelink.require"() {name = "columns", value = "plain", port = "first"} : () -> ()
  "pipelink.require"() {name = "rows", value = 2, port = "second"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "token"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "token"} : () -> ()
  "pipelink.promise"() {name = "columns", value = "plain"} : () -> ()
  "pipelink.promise"() {name = "rows", value = 2} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{instance 'a' requires columns = "plain" of those beyond port 'first', nothing promises it [unmet-requirement]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.connect"() {source = @a::@first, target = @b::@i} : () -> ()
  "pipelink.connect"() {source = @a::@second, target = @c::@i} : () -> ()
}
