// Two transfers are legal, as check would say; the first needs 49,152 bytes more.
module @x.fill attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 2 : i64} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "u8", shape = [384, 128], layout = "row_major", bytes = 49152 : i64, align = 128 : i64}]} : () -> ()
}
module @x.read attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "u8", shape = [384, 128], layout = "row_major", bytes = 49152 : i64, align = 128 : i64}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fill", component = @x.fill} : () -> ()
  "pipelink.instance"() {sym_name = "read", component = @x.read} : () -> ()
  "pipelink.connect"() {source = @fill::@t, target = @read::@t, stages = 4 : i64, legal = ["ring.threads.convert", "ring.threads"]} : () -> ()
}
