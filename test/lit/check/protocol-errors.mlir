// RUN: pl-opt --pipeline=check -split-input-file -verify-diagnostics %s -o -

// A swizzle off its boundary
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{tile 0 of port 'o' of component 'a' is aligned to 128 bytes, swizzle128 repeats from 1024 bytes [bad-alignment]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 128}]} : () -> ()
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

// TMA into an unaligned buffer
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{tile 0 of port 'o' of component 'a' is aligned to 64 bytes, TMA needs 128 [bad-alignment]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "row_major", align = 64}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "row_major", align = 16}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// TMA rows beyond the swizzle
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{tile 0 of port 'o' of component 'a' has rows of 256 bytes, TMA copies 128 at once into swizzle128 [bad-touch]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 128], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 128], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A TMA box that is too large
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{tile 0 of port 'o' of component 'a' is 512×64, TMA copies at most 256 elements along a dimension [bad-touch]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [512, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [512, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// TMA rows that are no multiple of 16 bytes
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{tile 0 of port 'o' of component 'a' has rows of 24 bytes, TMA copies multiples of 16 [bad-touch]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 12], layout = "row_major", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [64, 12], layout = "row_major", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A stream that ends and a consumer that does not ask
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}], ends = true} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@o' ends, but '@b::@i' never tests for the end [ends-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// An end that never comes
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}], ends = true} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-warning @below {{'@b::@i' tests for an end, but '@a::@o' never ends [ends-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Empty without an end
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{port 'o' of component 'a' may be empty but does not end [ends-mismatch]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}], may_be_empty = true} : () -> ()
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

// An empty stream and a consumer that expects an item
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}], ends = true, may_be_empty = true} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}], ends = true} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@o' may end before its first item, but '@b::@i' expects at least one [empty-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Credit that differs
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "token", credit = 1} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "token", credit = 0} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@o' and '@b::@i' disagree on the token's credit: 1 and 0 [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Credit on a stream
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
  // expected-error @below {{the connection of '@a::@o' has credit 1, tokens alone have it, 0 or 1 [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i, credit = 1} : () -> ()
}

// -----

// A token taken twice
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "token"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "token"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @b} : () -> ()
  // expected-note @below {{first connected here}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
  // expected-error @below {{token port '@a::@o' is connected 2 times, a token has one other end [connected-twice]}}
  "pipelink.connect"() {source = @a::@o, target = @c::@i} : () -> ()
}

// -----

// A signal that stays set
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "signal", scope = "system", owner = "caller"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "signal", scope = "system", owner = "caller"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{signal '@a::@o' says neither its epoch nor who resets it, so a second launch would find it set [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Signal scopes that differ
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "signal", scope = "cta", owner = "caller", reset = "launch"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "signal", scope = "system", owner = "caller", reset = "launch"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@o' and '@b::@i' disagree on the signal's scope: cta and system [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// CTAs that may not be resident
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "4096", init = "zero"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@b::@i' waits for other CTAs of the grid, but nothing keeps them resident [not-resident]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// CTAs of two GPUs that may not be resident
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "signal", scope = "system", owner = "peer", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "signal", scope = "system", owner = "peer", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.tensor"() {name = "flags", element = "i32", shape = ["9", "32"], access = "readwrite"} : () -> ()
  "pipelink.peer"() {name = "flags_peers", tensor = "flags", count = 2} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{'@a::@i' waits for CTAs of other GPUs, but nothing keeps them resident [not-resident]}}
  "pipelink.connect"() {source = @a::@o, target = @a::@i} : () -> ()
}

// -----

// Counters in a tensor that other GPUs do not have
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "signal", scope = "system", owner = "peer", workspace = "flag", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "signal", scope = "system", owner = "peer", workspace = "flag", reset = "epoch"} : () -> ()
  "pipelink.tensor"() {name = "flags", element = "i32", shape = ["9", "32"], access = "readwrite"} : () -> ()
  "pipelink.peer"() {name = "flags_peers", tensor = "flags", count = 2} : () -> ()
  "pipelink.resident"() : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{signal '@a::@o' lives in tensor 'flag', which no peers have [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @a::@i} : () -> ()
}

// -----

// A flag in a workspace that is not there
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
  "pipelink.resident"() {} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "launch"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{signal '@a::@o' lives in workspace 'flags', which nothing declares [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Multicast beyond the cluster
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "tma_multicast", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}], multicast = 2} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}], multicast = 2} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@a::@o' goes to 2 CTAs of the cluster, which has 1 [protocol-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Over 32 warps
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 20} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 16} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-error @below {{kernel 'k' needs 36 warps, a CTA has at most 32 [too-many-warps]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// More CTAs than an SM holds
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 16} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-error @below {{3 CTAs of kernel 'k' with 24 warps each are asked on one SM, sm_90a has 64 warps in at most 32 CTAs [too-many-warps]}}
module @k attributes {pipelink.kernel = {target = "sm_90a", min_ctas = 3}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// 16 barriers
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.barrier"() {sym_name = "s0", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s1", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s2", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s3", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s4", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s5", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s6", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s7", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s8", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s9", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s10", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s11", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s12", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s13", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s14", threads = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "s15", threads = 128} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-error @below {{kernel 'k' needs 16 named barriers, a CTA has 15 besides its own [too-many-barriers]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A barrier for more threads than its role has
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  // expected-error @below {{barrier 's' of component 'a' waits for 256 threads, role 'run' has 128 [barrier-mismatch]}}
  "pipelink.barrier"() {sym_name = "s", threads = 256, role = "run"} : () -> ()
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

// A register count that setmaxnreg does not take
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{role 'run' of component 'a' states 20 registers, setmaxnreg takes multiples of 8 from 24 to 256 [bad-registers]}}
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [20, 40]} : () -> ()
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

// More registers than the SM has
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, registers = [200, 240]} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, registers = [80, 96]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-error @below {{kernel 'k' needs at least 200 x 256 + 80 x 256 = 71680 registers, 6144 over the 65536 that sm_90a has [register-overcommit]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Tensor memory on a target without it
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.tmem"() {sym_name = "acc", columns = 256} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{'@a::@acc' needs 256 columns of tensor memory, sm_90a has none [unsupported-by-target]}}
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A cluster that is too large
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
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
  // expected-error @below {{a cluster of 32 CTAs is asked, the largest has 16 [cluster-too-large]}}
  "pipelink.cluster"() {value = [4, 8, 1]} : () -> ()
}

// -----

// A role twice in a group
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
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
  // expected-error @below {{exclusive 'g' lists a role twice [duplicate-name]}}
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @a::@run]} : () -> ()
}

// -----

// A role that is to run after two others, each time
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @a} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @b::@run]} : () -> ()
  // expected-error @below {{'@b::@run' is in exclusive group 'h' and in 'g'; a role is in one [duplicate-name]}}
  "pipelink.exclusive"() {name = "h", roles = [@c::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
