// A flag in global memory is awaited, then what it announces is fetched by TMA.
module @x.fetch attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "in", kind = "signal", scope = "gpu", owner = "workspace", workspace = "w", epoch = "e"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.protocol"() {of = "run", text = "PROTOCOL"} : () -> ()
  "pipelink.workspace"() {name = "w", bytes = "4", init = "zero"} : () -> ()
  "pipelink.resident"() : () -> ()
}
module @x.send attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [2, 2], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "ready", direction = "out", kind = "signal", scope = "gpu", owner = "workspace", workspace = "w", epoch = "e"} : () -> ()
}
module @poll attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fetch", component = @x.fetch} : () -> ()
  "pipelink.instance"() {sym_name = "send", component = @x.send} : () -> ()
  "pipelink.connect"() {source = @fetch::@x, target = @send::@x} : () -> ()
  "pipelink.connect"() {source = @send::@ready, target = @fetch::@ready} : () -> ()
}
