// What a protocol may not say.
// RUN: pl-opt -split-input-file -verify-diagnostics %s

module @syntax attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "a", warps = 1 : i64} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 1 : i64} : () -> ()
  "pipelink.role"() {sym_name = "c", warps = 1 : i64} : () -> ()
  "pipelink.role"() {sym_name = "d", warps = 1 : i64} : () -> ()
  "pipelink.role"() {sym_name = "e", warps = 1 : i64} : () -> ()
  "pipelink.role"() {sym_name = "f", warps = 1 : i64} : () -> ()
  "pipelink.role"() {sym_name = "g", warps = 1 : i64} : () -> ()
  "pipelink.role"() {sym_name = "h", warps = 1 : i64} : () -> ()
  // expected-error @+1 {{protocol 'a', column 19: expected ';' after the action, found 'kep' [bad-protocol]}}
  "pipelink.protocol"() {of = "a", text = "x.wait; x.release kep 1;"} : () -> ()
  // expected-error @+1 {{protocol 'b', column 16: expected a step or '}', found the end [bad-protocol]}}
  "pipelink.protocol"() {of = "b", text = "repeat 2 { x.y; "} : () -> ()
  // expected-error @+1 {{protocol 'c', column 8: 'repeat' needs a count [bad-protocol]}}
  "pipelink.protocol"() {of = "c", text = "repeat { x.y; }"} : () -> ()
  // expected-error @+1 {{protocol 'd', column 8: unknown function 'most' in 'most(x.stages, 2)' [bad-protocol]}}
  "pipelink.protocol"() {of = "d", text = "repeat most(x.stages, 2) { x.y; }"} : () -> ()
  // expected-error @+1 {{protocol 'e', column 1: 'choose' offers one way only [bad-protocol]}}
  "pipelink.protocol"() {of = "e", text = "choose { x.y; }"} : () -> ()
  // expected-error @+1 {{protocol 'f', column 17: 'lanes' is not threads, warps or warpgroups [bad-protocol]}}
  "pipelink.protocol"() {of = "f", text = "x.release by 32 lanes;"} : () -> ()
  // expected-error @+1 {{protocol 'g', column 7: unknown fence 'proxy' [bad-protocol]}}
  "pipelink.protocol"() {of = "g", text = "fence proxy;"} : () -> ()
  // expected-error @+1 {{protocol 'h', column 1: it is empty; a role that uses nothing needs none [bad-protocol]}}
  "pipelink.protocol"() {of = "h", text = "  "} : () -> ()
}

// -----

module @twice attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.port"() {sym_name = "turn", direction = "in", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "turn.take;"} : () -> ()
  // expected-error @+1 {{protocol 'run' is defined twice [duplicate-name]}}
  "pipelink.protocol"() {of = "run", text = "turn.take;"} : () -> ()
}

// -----

module @names attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
  "pipelink.role"() {sym_name = "other", warps = 1 : i64} : () -> ()
  "pipelink.role"() {sym_name = "third", warps = 1 : i64} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 8], role = "run", tiles = [
    {element = "f32", shape = [32], layout = "row_major", align = 128 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "y", direction = "out", kind = "stream", touch = "tma", stages = [2, 8], role = "run", tiles = [
    {element = "f32", shape = [32], layout = "row_major", align = 128 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "call", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.port"() {sym_name = "answer", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "map", type = "tensor_map", bytes = 128 : i64, align = 64 : i64, port = "y"} : () -> ()
  // expected-error @+9 {{component 'names' has no port, barrier or buffer 'z' [bad-protocol]}}
  // expected-error @+8 {{'x' has no 'acquire' [bad-protocol]}}
  // expected-error @+7 {{'y' has no 'commit' [bad-protocol]}}
  // expected-error @+6 {{'y' has no 'end' [bad-protocol]}}
  // expected-error @+5 {{'x' is no call port: say what is done to it [bad-protocol]}}
  // expected-error @+4 {{'wait' keeps nothing: keep belongs to release, commit, copy [bad-protocol]}}
  // expected-error @+3 {{8 warps of role 'run', which has 4 warps [bad-protocol]}}
  // expected-error @+2 {{'answer' is an answer; component 'names' does not call it [bad-protocol]}}
  // expected-error @+1 {{'x' is a port, not a choice's name [bad-protocol]}}
  "pipelink.protocol"() {of = "run", text = "z.wait; x.acquire; y.commit; y.end; x; x.wait keep 1; x.release by 8 warps; answer; choose x { } or { }"} : () -> ()
  // expected-error @+6 {{port 'x' is in role 'run', not 'other' [bad-protocol]}}
  // expected-error @+5 {{component 'names' has no parameter or call port 'm' [bad-protocol]}}
  // expected-error @+4 {{parameter 'map' is a tensor_map, not a number [bad-protocol]}}
  // expected-error @+3 {{'y' counts nothing: counts are parameters and call ports [bad-protocol]}}
  // expected-error @+2 {{'call.stages': component 'names' has no such stream port [bad-protocol]}}
  // expected-error @+1 {{port 'x' is in role 'run', not 'other' [bad-protocol]}}
  "pipelink.protocol"() {of = "other", text = "x.wait; repeat m { } repeat map { } repeat y { } repeat call.stages { } until x { }"} : () -> ()
  // expected-error @+1 {{'y' is no input stream of component 'names' [bad-protocol]}}
  "pipelink.protocol"() {of = "third", text = "until y { }"} : () -> ()
  // expected-error @+1 {{port 'x' does not test for an end [bad-protocol]}}
  "pipelink.protocol"() {of = "answer", text = "until x { }"} : () -> ()
  // expected-error @+1 {{component 'names' states a protocol of 'nobody', no role or answer of it [unknown-name]}}
  "pipelink.protocol"() {of = "nobody", text = "call;"} : () -> ()
}
