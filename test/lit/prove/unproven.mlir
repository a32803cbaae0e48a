// What is not followed is named, and the rest proved.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s -o -

module @a attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@a::@run' does is not proved: it shares its warps with other roles (exclusive group 'turns'), and '@a::@run' states no protocol [unproven]}}
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@b::@run' does is not proved: it shares its warps with other roles (exclusive group 'turns'), and '@a::@run' states no protocol [unproven]}}
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
}
module @w attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@w::@run' does is not proved: it meets '@a::@run', which is not followed [unproven]}}
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
}
module @o attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "out", kind = "token"} : () -> ()
  // expected-error @below {{'@o::@run': pass go completes another phase of '@p::@go', which '@p::@run' may not have taken yet [arrival-count]}}
  "pipelink.protocol"() {of = "run", text = "go.pass; go.pass;"} : () -> ()
}
module @p attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "in", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "go.take; go.take;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "o", component = @o} : () -> ()
  "pipelink.instance"() {sym_name = "p", component = @p} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @b::@x} : () -> ()
  "pipelink.connect"() {source = @o::@go, target = @p::@go} : () -> ()
  "pipelink.exclusive"() {name = "turns", roles = [@a::@run, @b::@run]} : () -> ()
}

// -----

// Two warps read some slots of a ring, and then one of them the others: how far is each thread?
module @w attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@w::@run' does is not proved: it meets '@a::@run', which is not followed [unproven]}}
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@a::@run' does is not proved: it shares warps and ring '@w::@x' with other roles (exclusive group 'turns'), of other threads [unproven]}}
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "x.wait; x.release by 1 warp;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@b::@run' does is not proved: it shares warps and ring '@w::@x'}}
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "x.wait; x.release by 1 warp;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @a::@x} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "turns", roles = [@a::@run, @b::@run]} : () -> ()
}
