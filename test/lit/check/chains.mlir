// Chains of passive components: all instances of one have one function, which calls itself.
// RUN: pl-opt --pipeline=check -split-input-file -verify-diagnostics %s

// As long as they may be
module @head attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @scale attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @shift attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @tail attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "h", component = @head} : () -> ()
  "pipelink.instance"() {sym_name = "s0", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s1", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s2", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s3", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s4", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s5", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s6", component = @scale} : () -> ()
  "pipelink.connect"() {source = @h::@next, target = @s0::@apply} : () -> ()
  "pipelink.connect"() {source = @s0::@next, target = @s1::@apply} : () -> ()
  "pipelink.connect"() {source = @s1::@next, target = @s2::@apply} : () -> ()
  "pipelink.connect"() {source = @s2::@next, target = @s3::@apply} : () -> ()
  "pipelink.connect"() {source = @s3::@next, target = @s4::@apply} : () -> ()
  "pipelink.connect"() {source = @s4::@next, target = @s5::@apply} : () -> ()
  "pipelink.connect"() {source = @s5::@next, target = @s6::@apply} : () -> ()
  "pipelink.instance"() {sym_name = "e", component = @tail} : () -> ()
  "pipelink.connect"() {source = @s6::@next, target = @e::@apply} : () -> ()
}

// -----

// One more, and many more
module @head attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @scale attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @shift attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @tail attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "h", component = @head} : () -> ()
  "pipelink.instance"() {sym_name = "s0", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s1", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s2", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s3", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s4", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s5", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s6", component = @scale} : () -> ()
  // expected-error @below {{'scale' calls itself through 8 instances; the compiler dissolves calls of at most 7: all instances of a component have one function, which it has to inline into itself [call-chain]}}
  "pipelink.instance"() {sym_name = "s7", component = @scale} : () -> ()
  "pipelink.connect"() {source = @h::@next, target = @s0::@apply} : () -> ()
  "pipelink.connect"() {source = @s0::@next, target = @s1::@apply} : () -> ()
  "pipelink.connect"() {source = @s1::@next, target = @s2::@apply} : () -> ()
  "pipelink.connect"() {source = @s2::@next, target = @s3::@apply} : () -> ()
  "pipelink.connect"() {source = @s3::@next, target = @s4::@apply} : () -> ()
  "pipelink.connect"() {source = @s4::@next, target = @s5::@apply} : () -> ()
  "pipelink.connect"() {source = @s5::@next, target = @s6::@apply} : () -> ()
  "pipelink.connect"() {source = @s6::@next, target = @s7::@apply} : () -> ()
  "pipelink.instance"() {sym_name = "e", component = @tail} : () -> ()
  "pipelink.connect"() {source = @s7::@next, target = @e::@apply} : () -> ()
}

// -----

module @head attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @scale attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @shift attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @tail attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "h", component = @head} : () -> ()
  "pipelink.instance"() {sym_name = "s0", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s1", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s2", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s3", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s4", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s5", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s6", component = @scale} : () -> ()
  // expected-error @below {{'scale' calls itself through 20 instances; the compiler dissolves calls of at most 7: all instances of a component have one function, which it has to inline into itself [call-chain]}}
  "pipelink.instance"() {sym_name = "s7", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s8", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s9", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s10", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s11", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s12", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s13", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s14", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s15", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s16", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s17", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s18", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s19", component = @scale} : () -> ()
  "pipelink.connect"() {source = @h::@next, target = @s0::@apply} : () -> ()
  "pipelink.connect"() {source = @s0::@next, target = @s1::@apply} : () -> ()
  "pipelink.connect"() {source = @s1::@next, target = @s2::@apply} : () -> ()
  "pipelink.connect"() {source = @s2::@next, target = @s3::@apply} : () -> ()
  "pipelink.connect"() {source = @s3::@next, target = @s4::@apply} : () -> ()
  "pipelink.connect"() {source = @s4::@next, target = @s5::@apply} : () -> ()
  "pipelink.connect"() {source = @s5::@next, target = @s6::@apply} : () -> ()
  "pipelink.connect"() {source = @s6::@next, target = @s7::@apply} : () -> ()
  "pipelink.connect"() {source = @s7::@next, target = @s8::@apply} : () -> ()
  "pipelink.connect"() {source = @s8::@next, target = @s9::@apply} : () -> ()
  "pipelink.connect"() {source = @s9::@next, target = @s10::@apply} : () -> ()
  "pipelink.connect"() {source = @s10::@next, target = @s11::@apply} : () -> ()
  "pipelink.connect"() {source = @s11::@next, target = @s12::@apply} : () -> ()
  "pipelink.connect"() {source = @s12::@next, target = @s13::@apply} : () -> ()
  "pipelink.connect"() {source = @s13::@next, target = @s14::@apply} : () -> ()
  "pipelink.connect"() {source = @s14::@next, target = @s15::@apply} : () -> ()
  "pipelink.connect"() {source = @s15::@next, target = @s16::@apply} : () -> ()
  "pipelink.connect"() {source = @s16::@next, target = @s17::@apply} : () -> ()
  "pipelink.connect"() {source = @s17::@next, target = @s18::@apply} : () -> ()
  "pipelink.connect"() {source = @s18::@next, target = @s19::@apply} : () -> ()
  "pipelink.instance"() {sym_name = "e", component = @tail} : () -> ()
  "pipelink.connect"() {source = @s19::@next, target = @e::@apply} : () -> ()
}

// -----

// Two that alternate
module @head attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @scale attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @shift attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @tail attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "h", component = @head} : () -> ()
  "pipelink.instance"() {sym_name = "s0", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s1", component = @shift} : () -> ()
  "pipelink.instance"() {sym_name = "s2", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s3", component = @shift} : () -> ()
  "pipelink.instance"() {sym_name = "s4", component = @scale} : () -> ()
  "pipelink.connect"() {source = @h::@next, target = @s0::@apply} : () -> ()
  "pipelink.connect"() {source = @s0::@next, target = @s1::@apply} : () -> ()
  "pipelink.connect"() {source = @s1::@next, target = @s2::@apply} : () -> ()
  "pipelink.connect"() {source = @s2::@next, target = @s3::@apply} : () -> ()
  "pipelink.connect"() {source = @s3::@next, target = @s4::@apply} : () -> ()
  "pipelink.instance"() {sym_name = "e", component = @tail} : () -> ()
  "pipelink.connect"() {source = @s4::@next, target = @e::@apply} : () -> ()
}

// -----

module @head attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @scale attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @shift attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "calls", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @tail attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "apply", direction = "answers", kind = "call", signature = "f32(f32)"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "h", component = @head} : () -> ()
  "pipelink.instance"() {sym_name = "s0", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s1", component = @shift} : () -> ()
  "pipelink.instance"() {sym_name = "s2", component = @scale} : () -> ()
  "pipelink.instance"() {sym_name = "s3", component = @shift} : () -> ()
  "pipelink.instance"() {sym_name = "s4", component = @scale} : () -> ()
  // expected-error @below {{'scale', 'shift' call each other through 6 instances; the compiler dissolves calls of at most 5: all instances of a component have one function, which it has to inline into itself [call-chain]}}
  "pipelink.instance"() {sym_name = "s5", component = @shift} : () -> ()
  "pipelink.connect"() {source = @h::@next, target = @s0::@apply} : () -> ()
  "pipelink.connect"() {source = @s0::@next, target = @s1::@apply} : () -> ()
  "pipelink.connect"() {source = @s1::@next, target = @s2::@apply} : () -> ()
  "pipelink.connect"() {source = @s2::@next, target = @s3::@apply} : () -> ()
  "pipelink.connect"() {source = @s3::@next, target = @s4::@apply} : () -> ()
  "pipelink.connect"() {source = @s4::@next, target = @s5::@apply} : () -> ()
  "pipelink.instance"() {sym_name = "e", component = @tail} : () -> ()
  "pipelink.connect"() {source = @s5::@next, target = @e::@apply} : () -> ()
}
