// A passive component with a barrier, called by two roles.
module @x.work attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "sum", direction = "calls", kind = "call", signature = "void(f32&)"} : () -> ()
}
module @x.sum attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "sum", direction = "answers", kind = "call", signature = "void(f32&)"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
}
module @twice attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.work} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.work} : () -> ()
  "pipelink.instance"() {sym_name = "sum", component = @x.sum} : () -> ()
  "pipelink.connect"() {source = @a::@sum, target = @sum::@sum} : () -> ()
  "pipelink.connect"() {source = @b::@sum, target = @sum::@sum} : () -> ()
}
