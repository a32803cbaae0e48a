// A protocol of several lines: a message shows the line that it is about, at a column of that line.
// RUN: not pl-opt --pipeline=check,place,prove %s 2>&1 | FileCheck %s --check-prefix=PROVE
// RUN: sed 's/x.release/x.relase/' %s | not pl-opt --pipeline=check 2>&1 | FileCheck %s --check-prefix=NAME
// PROVE: lines.mlir:18:5: error: '@r::@run' waits for ever for slot '@r::@x'[2] to be filled: '@w::@run' has finished [rate-mismatch]
// PROVE-NEXT: {{^}}      x.wait;
// PROVE-NEXT: {{^}}      ^
// NAME: error: protocol 'run', line 3, column 5: 'x' has no 'relase' [bad-protocol]
// NAME-NEXT: {{^}}      x.relase;
// NAME-NEXT: {{^}}      ^
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 2 { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 {\0A    x.wait;\0A    x.release;\0A}"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x} : () -> ()
}
