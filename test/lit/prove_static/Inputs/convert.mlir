// A tile that threads write row by row and wgmma reads swizzled.
module @x.fill attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "out", kind = "stream", touch = "threads", stages = [2, 3], tiles = [
      {element = "bf16", shape = [64, 64], layout = "row_major", align = 128}]} : () -> ()
}
module @x.read attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "in", kind = "stream", touch = "wgmma", stages = [1, 8], tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @convert attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fill", component = @x.fill} : () -> ()
  "pipelink.instance"() {sym_name = "read", component = @x.read} : () -> ()
  "pipelink.connect"() {source = @fill::@t, target = @read::@t} : () -> ()
}
