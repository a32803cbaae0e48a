// Three warpgroups that take turns, and another role.
module @worker attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 12} : () -> ()
  "pipelink.role"() {sym_name = "other", warps = 4} : () -> ()
  "pipelink.turns"() {sym_name = "turn", role = "run"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 2 { turn.take; turn.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @worker} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}
