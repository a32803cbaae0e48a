// KIND: a peer CTA not started, or already gone, at a remote access
// DECIDED: prove
// A copy into the peer's shared memory needs the peer's mbarriers, and its CTA, to be there.  Where the linker knows that
// tiles are shared, the CTAs of the cluster meet before the first role begins and after the last one ends.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Multicast by the component itself, and nothing lets the CTAs meet
module @load attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@load::@run' does is not proved: '@load::@ab' is multicast by the component itself [unproven]}}
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma_multicast", stages = [2, 4], multicast = 2, tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { ab.acquire; ab.copy; }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@mma::@run' does is not proved: it meets '@load::@run', which is not followed [unproven]}}
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], multicast = 2, tiles = [
      {element = "bf16", shape = [64, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat n { ab.wait; ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  // expected-error @below {{'@load::@ab' to '@mma::@ab' writes into a peer CTA, which may not have set up its mbarriers yet, or have ended: the entry does not let the CTAs of the cluster meet [peer-lifetime]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
}

// -----

// The linker's own transfer
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat tiles { ab.acquire; ab.copy; }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat tiles { ab.wait; ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// Within the CTA
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat tiles { ab.acquire; ab.copy; }", of = "run"} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024},
      {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "tiles", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {text = "repeat tiles { ab.wait; ab.release; }", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab} : () -> ()
}
