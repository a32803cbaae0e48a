// A GEMM in small: a TMA loader, a mainloop that hands tiles on, a writer with a ring of its own and a token back.
module @x.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one", registers = [24, 40]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @x.mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, registers = [192, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "out", direction = "out", kind = "stream", touch = "threads", stages = [2, 2], ends = true, tiles = [
      {element = "bf16", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "in", kind = "token", credit = 1} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 1024, align = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 256} : () -> ()
}
module @x.store attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, registers = [24, 88]} : () -> ()
  "pipelink.port"() {sym_name = "out", direction = "in", kind = "stream", touch = "tma", stages = [2, 2], ends = true, tiles = [
      {element = "bf16", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "done", direction = "out", kind = "token", credit = 1} : () -> ()
  "pipelink.port"() {sym_name = "more", direction = "local", kind = "stream", touch = "cp_async", stages = [3, 3], tiles = [
      {element = "bf16", shape = [32, 64], layout = "row_major", align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "sums", bytes = 512, align = 128} : () -> ()
}
module @gemm attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @x.load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @x.mma} : () -> ()
  "pipelink.instance"() {sym_name = "store", component = @x.store} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
  "pipelink.connect"() {source = @mma::@out, target = @store::@out} : () -> ()
  "pipelink.connect"() {source = @store::@done, target = @mma::@go} : () -> ()
}
