// KIND: slot overwritten while read: missing loop-back
// DECIDED: prove
// One role fills a buffer and says so; nothing tells it when the other has read it.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// No way back
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "write", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "read", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "buffer", bytes = 4096, align = 16} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "out", kind = "token", role = "write"} : () -> ()
  "pipelink.port"() {sym_name = "come", direction = "in", kind = "token", role = "read"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@lib::@write': write buffer, while '@lib::@read' may still read buffer [slot-race]}}
  "pipelink.protocol"() {text = "repeat n { buffer.write; go.pass; }", of = "write"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { come.take; buffer.read; }", of = "read"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
  "pipelink.connect"() {source = @lib::@go, target = @lib::@come} : () -> ()
}

// -----

// A token back, with the first one given
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "write", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "read", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "buffer", bytes = 4096, align = 16} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "out", kind = "token", role = "write"} : () -> ()
  "pipelink.port"() {sym_name = "again", direction = "in", kind = "token", credit = 1, role = "write"} : () -> ()
  "pipelink.port"() {sym_name = "come", direction = "in", kind = "token", role = "read"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "token", role = "read"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { again.take; buffer.write; go.pass; }", of = "write"} : () -> ()
  "pipelink.protocol"() {text = "repeat n { come.take; buffer.read; done.pass; }", of = "read"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
  "pipelink.connect"() {source = @lib::@go, target = @lib::@come} : () -> ()
  "pipelink.connect"() {source = @lib::@done, target = @lib::@again, credit = 1} : () -> ()
}

// -----

// Written once
module @lib attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "write", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "read", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "buffer", bytes = 4096, align = 16} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "out", kind = "token", role = "write"} : () -> ()
  "pipelink.port"() {sym_name = "come", direction = "in", kind = "token", role = "read"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "buffer.write; go.pass;", of = "write"} : () -> ()
  "pipelink.protocol"() {text = "come.take; buffer.read;", of = "read"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "lib", component = @lib} : () -> ()
  "pipelink.connect"() {source = @lib::@go, target = @lib::@come} : () -> ()
}
