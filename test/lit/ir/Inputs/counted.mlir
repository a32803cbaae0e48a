module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "runs", bytes = 16} : () -> ()
  "pipelink.tensor"() {name = "x", element = "i32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "help", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.workspace"() {name = "flags", bytes = "128 * (1 + N)", init = "once"} : () -> ()
  "pipelink.resident"() : () -> ()
  "pipelink.param"() {sym_name = "stage", type = "i32", bytes = 4, align = 4, operand = true} : () -> ()
  "pipelink.param"() {sym_name = "awaited", type = "i32", bytes = 4, align = 4, operand = true} : () -> ()
  "pipelink.param"() {sym_name = "width", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.bind"() {param = "width", to = "ceildiv(N, 2)"} : () -> ()
  "pipelink.awaits"() {of = "ready", index = ["stage - 1"], count = ["min(stage, 1) * awaited"]} : () -> ()
  "pipelink.adds"() {of = "done", index = ["stage"], count = ["width"]} : () -> ()
}
module @p attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "help", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.port"() {sym_name = "before", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "after", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "flags", reset = "epoch"} : () -> ()
  "pipelink.param"() {sym_name = "at", type = "i32", bytes = 4, align = 4, operand = true} : () -> ()
  "pipelink.adds"() {of = "after", index = ["at + 1"], count = ["1"]} : () -> ()
  "pipelink.awaits"() {of = "before", index = ["at"], count = ["1"]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "other", reset = "epoch"} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "other", reset = "epoch"} : () -> ()
  "pipelink.awaits"() {of = "ready", index = ["0"], count = ["0"]} : () -> ()
  "pipelink.workspace"() {name = "other", bytes = "128 * (1 + N)", init = "once"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "p", component = @p} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.bind"() {param = @a::@awaited, value = 3} : () -> ()
  "pipelink.connect"() {source = @a::@help, target = @p::@help} : () -> ()
  "pipelink.connect"() {source = @a::@done, target = @a::@ready} : () -> ()
  "pipelink.connect"() {source = @p::@after, target = @p::@before} : () -> ()
  "pipelink.connect"() {source = @b::@done, target = @b::@ready} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
  "pipelink.operation"() {sym_name = "run_b", dispatcher = @d, instance = @b} : () -> ()
}
