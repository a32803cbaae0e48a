// KIND: parity taken from the ring for a single-slot barrier
// DECIDED: prove
// The parity of a ring of two slots turns every second item, that of a single barrier every item.  Each end has a cursor
// of its own; here the barrier is waited for with the ring's, and then with the wrong parity at first.
// RUN: pl-opt --pipeline=check,place %s -o %t.mlir && pl-opt --pipeline=check,place,prove %s
// RUN: sed -e 's/consumer_cursor = 2 /consumer_cursor = 1 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=RING
// RUN: sed -e 's/initial = 0 /initial = 1 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: sed -e 's/initial = 1 /initial = 0 /' %t.mlir | not pl-opt --pipeline=prove 2>&1 | FileCheck %s --check-prefix=NEVER
// RING: error: '@b::@run' has position 1 of the frame for the consumer of '@a::@go' and for the consumer of '@a::@x' [bad-placement]
// FIRST: error: '@a::@run': pass go completes another phase of '@b::@go', which '@b::@run' may not have taken yet [arrival-count]
// FIRST: hint: the first take of '@b::@go' needs no pass (its initial credit is 1)
// NEVER: error: roles wait for each other for ever: '@a::@run' waits for token '@a::@again' and '@b::@run' waits for token '@b::@go' [deadlock]
// NEVER: hint: nobody can begin: one of these tokens needs a first credit

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "out", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "again", direction = "in", kind = "token", credit = 1} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.acquire; x.commit; again.take; go.pass; }", of = "run"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "f32", shape = [32, 32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "token", credit = 1} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { x.wait; x.release; go.take; done.pass; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.connect"() {source = @a::@go, target = @b::@go} : () -> ()
  "pipelink.connect"() {source = @b::@done, target = @a::@again} : () -> ()
}
