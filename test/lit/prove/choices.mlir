// Whose a choice is: components of one author choose together, those of others by themselves.
// RUN: pl-opt --pipeline=check,place,prove %s -o %t.mlir
// RUN: sed 's/@acme.reader/@other.reader/' %s | not pl-opt --pipeline=check,place,prove 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/@acme.reader/@other.reader/; s/text = "repeat n { choose skip { } or { x.wait/text = "repeat n { choose acme.skip { } or { x.wait/' %s | pl-opt --pipeline=check,place,prove -o %t.mlir
// RUN: sed 's/choose skip { } or { x.wait/choose acme. { } or { x.wait/' %s | not pl-opt --pipeline=check 2>&1 | FileCheck %s --check-prefix=NAME
// OTHER: error: '@r::@run' {{.*}} [rate-mismatch]
// OTHER: counterexample: with {{.*}}skip = way {{[12]}}
// NAME: error: protocol 'run', column 25: expected the name of a choice, found '{' [bad-protocol]
module @acme.writer attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { choose skip { } or { x.acquire; x.commit; } }"} : () -> ()
}
module @acme.reader attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { choose skip { } or { x.wait; x.release; } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @acme.writer} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @acme.reader} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x} : () -> ()
}
