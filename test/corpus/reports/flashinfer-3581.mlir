// KIND: a role finishes a pipeline that another one owns
// DECIDED: check
// REPORT: https://github.com/flashinfer-ai/flashinfer/pull/3581
// WRONG: Two groups of warps compute; the second one hands the output on. The first one waited at the end for the
// second one's pipeline, which it never used, and spoilt its state.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The first group acquires slots of a port that the second one owns.
module @lib.gdn attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "first", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "second", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "second"} : () -> ()
  // expected-error @below {{protocol 'first', column 1: port 'o' is in role 'second', not 'first' [bad-protocol]}}
  "pipelink.protocol"() {of = "first", text = "o.acquire;"} : () -> ()
  "pipelink.protocol"() {of = "second", text = "repeat chunks { o.acquire; o.commit; }"} : () -> ()
}
module @lib.store attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "store", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "store", text = "repeat chunks { o.wait; o.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "gdn", component = @lib.gdn} : () -> ()
  "pipelink.instance"() {sym_name = "store", component = @lib.store} : () -> ()
  "pipelink.connect"() {source = @gdn::@o, target = @store::@o} : () -> ()
}

// -----

// Every port has one role.
module @lib.gdn attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "first", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "second", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "second"} : () -> ()
  "pipelink.protocol"() {of = "second", text = "repeat chunks { o.acquire; o.commit; }"} : () -> ()
}
module @lib.store attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "store", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "store", text = "repeat chunks { o.wait; o.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "gdn", component = @lib.gdn} : () -> ()
  "pipelink.instance"() {sym_name = "store", component = @lib.store} : () -> ()
  "pipelink.connect"() {source = @gdn::@o, target = @store::@o} : () -> ()
}

// -----

// Two roles that hand on output have a port each.
module @lib.gdn attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "first", warps = 4, align = 4} : () -> ()
  "pipelink.role"() {sym_name = "second", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "s", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "first"} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}], role = "second"} : () -> ()
  "pipelink.protocol"() {of = "first", text = "repeat chunks { s.acquire; s.commit; }"} : () -> ()
  "pipelink.protocol"() {of = "second", text = "repeat chunks { o.acquire; o.commit; }"} : () -> ()
}
module @lib.store attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "store", warps = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "chunks", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "store", text = "repeat chunks { o.wait; o.release; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "gdn", component = @lib.gdn} : () -> ()
  "pipelink.instance"() {sym_name = "store", component = @lib.store} : () -> ()
  "pipelink.instance"() {sym_name = "state", component = @lib.store} : () -> ()
  "pipelink.connect"() {source = @gdn::@o, target = @store::@o} : () -> ()
  "pipelink.connect"() {source = @gdn::@s, target = @state::@o} : () -> ()
}
