// What the instructions of an operation await and add: names, ports, and what the launch contract has of them.
//
// RUN: pl-opt --verify-diagnostics --split-input-file %s
// RUN: pl-opt --pipeline=check,place %S/Inputs/counted.mlir | FileCheck %s

// CHECK-LABEL: module @k attributes
// CHECK-SAME: operations = [{bytes = 8 : i64, name = "run_a", opcode = 0 : i64, operands = [{name = "stage", offset = 0 : i64, type = "i32"}, {name = "p.at", offset = 4 : i64, type = "i32"}], signals = [
// CHECK-SAME: {count = "1", counters = "flags", does = "await", index = "at", instance = "p"},
// CHECK-SAME: {count = "min(stage, 1) * awaited", counters = "flags", does = "await", given = [{name = "awaited", value = "3"}], index = "stage - 1"},
// CHECK-SAME: {count = "width", counters = "flags", does = "add", given = [{name = "width", value = "ceildiv(N, 2)"}], index = "stage"},
// CHECK-SAME: {count = "1", counters = "flags", does = "add", index = "at + 1", instance = "p"}]}
// CHECK-SAME: {bytes = 0 : i64, name = "run_b", opcode = 1 : i64, operands = [], signals = [{count = "0", counters = "other", does = "await", index = "0"}], unstated = ["@b::@done"]}

module @unknown attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "there", direction = "out", kind = "signal", scope = "system", owner = "peer", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.param"() {sym_name = "stage", type = "i32", bytes = 4, align = 4, operand = true} : () -> ()
  "pipelink.param"() {sym_name = "factor", type = "f32", bytes = 4, align = 4, operand = true} : () -> ()
  // expected-error @below {{component 'unknown' states what it awaits at 'done', which is no signal in of counters in a workspace [unknown-port]}}
  "pipelink.awaits"() {of = "done", index = ["0"], count = ["1"]} : () -> ()
  // expected-error @below {{component 'unknown' states what it adds at 'there', which is no signal out of counters in a workspace [unknown-port]}}
  "pipelink.adds"() {of = "there", index = ["0"], count = ["1"]} : () -> ()
  // expected-error @below {{component 'unknown' states what it awaits at 'ready': 2 counters, and how much of 1 [wrong-attribute]}}
  "pipelink.awaits"() {of = "ready", index = ["0", "1"], count = ["1"]} : () -> ()
  // expected-error @below {{component 'unknown' states what it adds at 'done': 'stag + 1' names 'stag', no integer parameter of it [unknown-name]}}
  "pipelink.adds"() {of = "done", index = ["stag + 1"], count = ["1"]} : () -> ()
}

// -----

module @numbers attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.param"() {sym_name = "factor", type = "f32", bytes = 4, align = 4, operand = true} : () -> ()
  // expected-error @below {{component 'numbers' states what it awaits at 'ready': 'factor' names 'factor', no integer parameter of it [unknown-name]}}
  "pipelink.awaits"() {of = "ready", index = ["factor"], count = ["1"]} : () -> ()
  // expected-error @below {{component 'numbers' states what it adds at 'done': cannot parse expression '1 +' [bad-expression]}}
  "pipelink.adds"() {of = "done", index = ["0"], count = ["1 +"]} : () -> ()
}

// -----

module @twice attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.awaits"() {of = "ready", index = ["0"], count = ["1"]} : () -> ()
  // expected-error @below {{awaits 'ready' is defined twice [duplicate-name]}}
  "pipelink.awaits"() {of = "ready", index = ["1"], count = ["1"]} : () -> ()
}
