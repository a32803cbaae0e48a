// A limit is an error, never a claim.
// RUN: pl-opt '--pipeline=check,place,prove{states=2}' -split-input-file -verify-diagnostics %s -o -
// RUN: pl-opt --pipeline=check,place,prove %s -o -

module @w attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.acquire; x.commit; }"} : () -> ()
}
module @r attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "f32", shape = [32], layout = "row_major", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { x.wait; x.release; }"} : () -> ()
}
// expected-error @below {{kernel 'k' is not proved: it needs more than 2 states; 3 states and 12 steps were explored [state-limit]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "w", component = @w} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @r} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @w::@x, target = @r::@x} : () -> ()
}
