// A warp-specialised GEMM as contracts alone: loader, mainloop of two warpgroups, epilogue, scheduler.
module @acme.tma_loader attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, align = 1 : i64, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 8], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", bytes = 32768 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "tile_coord(i32)"} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "ab", part = 0 : i64} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128 : i64, align = 128 : i64, port = "ab", part = 1 : i64} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.derive"() {name = "k_tiles", value = "ceildiv(K, 64)"} : () -> ()
}
module @acme.wgmma_mainloop attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "mma", warps = 8 : i64, align = 4 : i64, registers = [152, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 8], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384 : i64, align = 1024 : i64},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", bytes = 32768 : i64, align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "tile_coord(i32)"} : () -> ()
  "pipelink.port"() {sym_name = "accumulators", direction = "calls", kind = "call", signature = "void(f32[128]&, i32, i32)"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.derive"() {name = "k_tiles", value = "ceildiv(K, 64)"} : () -> ()
}
module @acme.store attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.port"() {sym_name = "store", direction = "answers", kind = "call", signature = "void(f32[128]&, i32, i32)"} : () -> ()
  "pipelink.param"() {sym_name = "out", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.param"() {sym_name = "ld", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "scale", type = "f32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.tensor"() {name = "out", element = "bf16", shape = ["M", "N"], access = "write"} : () -> ()
  "pipelink.bind"() {param = "ld", to = "stride(out, 0)"} : () -> ()
  "pipelink.bind"() {param = "rows", to = "M"} : () -> ()
}
module @acme.grouped attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.port"() {sym_name = "next", direction = "answers", kind = "call", signature = "tile_coord(i32)"} : () -> ()
  "pipelink.param"() {sym_name = "m_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "n_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "group", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.derive"() {name = "m_tiles", value = "ceildiv(M, 128)"} : () -> ()
  "pipelink.derive"() {name = "n_tiles", value = "ceildiv(N, 256)"} : () -> ()
  "pipelink.derive"() {name = "tiles", value = "m_tiles * n_tiles"} : () -> ()
  "pipelink.grid"() {value = ["min(tiles, sms * occupancy)", "1", "1"]} : () -> ()
}
module @gemm attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @acme.tma_loader} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @acme.wgmma_mainloop} : () -> ()
  "pipelink.instance"() {sym_name = "store", component = @acme.store} : () -> ()
  "pipelink.instance"() {sym_name = "tiles", component = @acme.grouped} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
  "pipelink.connect"() {source = @load::@work, target = @tiles::@next} : () -> ()
  "pipelink.connect"() {source = @mma::@work, target = @tiles::@next} : () -> ()
  "pipelink.connect"() {source = @mma::@accumulators, target = @store::@store} : () -> ()
  "pipelink.bind"() {param = @tiles::@group, value = 8 : i64} : () -> ()
}
