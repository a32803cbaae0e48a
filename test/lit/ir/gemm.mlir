module @acme.tma_loader attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "load", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 8], tiles = [
    {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384, align = 1024},
    {element = "bf16", shape = [256, 64], layout = "swizzle128", bytes = 32768, align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "struct<12,4>(i32)"} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.derive"() {name = "k_tiles", value = "ceildiv(K, 64)"} : () -> ()
}
module @acme.wgmma_mainloop attributes {pipelink.component = {abi = 1, images = [{arch = "sm_90a", toolkit = "13.0"}]}} {
  "pipelink.role"() {sym_name = "mma", warps = 8, align = 4, registers = [200, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [1, 16], tiles = [
    {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384, align = 1024},
    {element = "bf16", shape = [256, 64], layout = "swizzle128", bytes = 32768, align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "struct<12,4>(i32)"} : () -> ()
  "pipelink.port"() {sym_name = "accumulators", direction = "calls", kind = "call", signature = "void(f32[128]&, i32, i32)"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "k_tiles", value = "ceildiv(K, 64)"} : () -> ()
}
module @acme.store attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.port"() {sym_name = "store", direction = "answers", kind = "call", signature = "void(f32[128]&, i32, i32)"} : () -> ()
  "pipelink.param"() {sym_name = "out", type = "pointer", bytes = 8, align = 8} : () -> ()
  "pipelink.tensor"() {name = "out", element = "bf16", shape = ["M", "N"], access = "write"} : () -> ()
}
module @acme.static attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80", toolkit = "13.0"}]}} {
  "pipelink.port"() {sym_name = "next", direction = "answers", kind = "call", signature = "struct<12,4>(i32)"} : () -> ()
  "pipelink.param"() {sym_name = "m_tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.derive"() {name = "m_tiles", value = "ceildiv(M, 128)"} : () -> ()
  "pipelink.grid"() {value = ["min(m_tiles * ceildiv(N, 256), sms * occupancy)", "1", "1"]} : () -> ()
}
module @gemm attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @acme.tma_loader} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @acme.wgmma_mainloop} : () -> ()
  "pipelink.instance"() {sym_name = "epilogue", component = @acme.store} : () -> ()
  "pipelink.instance"() {sym_name = "schedule", component = @acme.static} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
  "pipelink.connect"() {source = @mma::@accumulators, target = @epilogue::@store} : () -> ()
  "pipelink.connect"() {source = @load::@work, target = @schedule::@next} : () -> ()
  "pipelink.connect"() {source = @mma::@work, target = @schedule::@next} : () -> ()
}

// A whole GEMM, declared by IR alone; other tests read it.
// RUN: pl-opt --pipeline=check %s -o %t
