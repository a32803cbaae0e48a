// A mainloop that keeps two slots and waits for a third, in a ring of two.
module @acme.loader attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat k_tiles { ab.acquire; ab.copy; }"} : () -> ()
}
module @acme.mainloop attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "mma", warps = 8} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 2], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "mma", text = "repeat k_tiles { ab.wait; ab.release keep 2; }"} : () -> ()
}
module @gemm attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.derive"() {name = "k_tiles", value = "ceildiv(K, 64)"} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
  "pipelink.instance"() {sym_name = "load", component = @acme.loader} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @acme.mainloop} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
}
