// Constant loops in each other are run, so the limits are looked at while roles run, too.
// RUN: not timeout 100 pl-opt '--pipeline=check,place,prove{seconds=1}' %s 2>&1 | FileCheck %s --check-prefix=SECONDS
// RUN: not timeout 100 pl-opt '--pipeline=check,place,prove{steps=1000}' %s 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: sed 's/100 {/2 {/g' %s | pl-opt --pipeline=check,place,prove -o %t.mlir
// SECONDS: error: kernel 'k' is not proved: it needs more than 1.0 seconds; 0 states and {{[0-9]+}} steps were explored [state-limit]
// STEPS: error: kernel 'k' is not proved: it needs more than 1000 steps; {{.*}} [state-limit]
module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "run",
    text = "repeat 100 { repeat 100 { repeat 100 { repeat 100 { x.acquire; x.commit; } } } }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4],
    tiles = [{element = "f32", shape = [32], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.protocol"() {of = "run",
    text = "repeat 100 { repeat 100 { repeat 100 { repeat 100 { x.wait; x.release; } } } }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x} : () -> ()
}
