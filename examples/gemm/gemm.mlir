// out = relu(a * b^T + bias) on Hopper, bf16: four components compiled apart, declared here by their contracts alone.
//
//   pl-opt --pipeline=check,place,fuse examples/gemm/gemm.mlir
//
// The declarations are what pl-objdump prints of the objects that pl-cc makes of pipelink/components.  Given the objects
// as well, the tools compare the two.

module @plc.tma_loader_128x256x64 attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "load", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", stages = [2, 8], touch = "tma", tiles = [
    {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384, align = 1024},
    {element = "bf16", shape = [256, 64], layout = "swizzle128", bytes = 32768, align = 1024}
  ]} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "tile_coord(i32)"} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", port = "ab", part = 0, bytes = 128, align = 64} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", port = "ab", part = 1, bytes = 128, align = 64} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat work { repeat k_tiles+ { ab.acquire; ab.copy; } }"} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.derive"() {name = "m_tiles", value = "ceildiv(M, 128)"} : () -> ()
  "pipelink.derive"() {name = "n_tiles", value = "ceildiv(N, 256)"} : () -> ()
  "pipelink.derive"() {name = "k_tiles", value = "ceildiv(K, 64)"} : () -> ()
  "pipelink.promise"() {name = "plc_columns", value = "plain"} : () -> ()
}

module @plc.wgmma_mainloop_128x256x64 attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "mma", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", stages = [2, 8], touch = "wgmma", tiles = [
    {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384, align = 1024},
    {element = "bf16", shape = [256, 64], layout = "swizzle128", bytes = 32768, align = 1024}
  ]} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "tile_coord(i32)"} : () -> ()
  "pipelink.port"() {sym_name = "store", direction = "calls", kind = "call", signature = "void(fragment<f32,32>&, i32, i32)"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "mma", text = "repeat work { repeat k_tiles+ { ab.wait; ab.release keep 1; } ab.release; repeat 128 * 256 / 8192 { store; } }"} : () -> ()
}

module @plc.bias_relu attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.require"() {name = "plc_columns", value = "plain"} : () -> ()
  "pipelink.port"() {sym_name = "store", direction = "answers", kind = "call", signature = "void(fragment<f32,32>&, i32, i32)"} : () -> ()
  "pipelink.param"() {sym_name = "out", type = "bf16*", bytes = 8, align = 8} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "cols", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "out_stride", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "bias", type = "const bf16*", bytes = 8, align = 8} : () -> ()
  "pipelink.tensor"() {name = "out", element = "bf16", shape = ["M", "N"], access = "write", align = 16} : () -> ()
  "pipelink.tensor"() {name = "bias", element = "bf16", shape = ["N"], access = "read", align = 4} : () -> ()
  "pipelink.bind"() {param = "rows", to = "M"} : () -> ()
  "pipelink.bind"() {param = "cols", to = "N"} : () -> ()
  "pipelink.bind"() {param = "out_stride", to = "stride(out, 0)"} : () -> ()
}

module @plc.grouped_tiles attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.port"() {sym_name = "next", direction = "answers", kind = "call", signature = "tile_coord(i32)"} : () -> ()
  "pipelink.param"() {sym_name = "m_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.param"() {sym_name = "n_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.grid"() {value = ["min(m_tiles * n_tiles, sms * occupancy)", "1", "1"]} : () -> ()
}

module @gemm attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @plc.tma_loader_128x256x64} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @plc.wgmma_mainloop_128x256x64} : () -> ()
  "pipelink.instance"() {sym_name = "epilogue", component = @plc.bias_relu} : () -> ()
  "pipelink.instance"() {sym_name = "schedule", component = @plc.grouped_tiles} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
  "pipelink.connect"() {source = @load::@work, target = @schedule::@next} : () -> ()
  "pipelink.connect"() {source = @mma::@work, target = @schedule::@next} : () -> ()
  "pipelink.connect"() {source = @mma::@store, target = @epilogue::@store} : () -> ()
}
