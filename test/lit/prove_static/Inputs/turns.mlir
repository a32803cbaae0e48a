// Two operations that take turns on the same warps, each with a helper that does not.
module @x.op attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "ahead", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "early", bytes = 4096, align = 128, live = [0, 1], role = "run"} : () -> ()
  "pipelink.smem"() {sym_name = "late", bytes = 2048, align = 128, live = [1, 2], role = "run"} : () -> ()
  "pipelink.barrier"() {sym_name = "done", threads = 128, role = "run"} : () -> ()
}
module @turns attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.op} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.op} : () -> ()
  "pipelink.exclusive"() {name = "ops", roles = [@a::@run, @b::@run]} : () -> ()
}
