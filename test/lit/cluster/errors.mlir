// What a cluster transfer needs of its kernel.
// RUN: pl-opt --pipeline=check -split-input-file -verify-diagnostics %s -o -

// No cluster at all
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{transfer 'cluster' of '@load::@ab' to '@mma::@ab' is for clusters of 2 CTAs, kernel 'k' has no cluster [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// A cluster of four
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [4, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{transfer 'cluster' of '@load::@ab' to '@mma::@ab' is for clusters of 2 CTAs, kernel 'k' has clusters of 4 CTAs [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// Nothing is shared
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{'@load::@ab' to '@mma::@ab' does not say which tiles both CTAs share [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster"} : () -> ()
}

// -----

// Shared by another transfer
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{'@load::@ab' to '@mma::@ab' shares tiles, which transfer 'cluster' alone does [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, shared = [1]} : () -> ()
}

// -----

// A tile that the slot lacks
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{tile 2 of '@load::@ab' cannot be shared: it has 2 tiles [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [2]} : () -> ()
}

// -----

// A tile shared twice
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{tile 1 of '@load::@ab' cannot be shared: it is listed twice [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1, 1]} : () -> ()
}

// -----

// Half a tile that begins within the swizzle
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [8, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [8, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{tile 1 of '@load::@ab' cannot be shared: its 8 rows of swizzle128 have no half that a copy can start at [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// Copies that cross the middle of the tile
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1, box = [96, 64]} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{tile 1 of '@load::@ab' cannot be shared: copies of 96×64 do not divide half of it evenly [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// Nobody keeps the CTAs together
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.param"() {sym_name = "map_b", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.bind"() {param = "map_b", to = "b"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  // expected-error @below {{'@load::@ab' to '@mma::@ab' shares tiles between the CTAs of a cluster, but nothing promises cluster_lockstep = 2: that both take equally many slots, with the same shared tiles [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [1]} : () -> ()
}

// -----

// Two equal tiles and a map for one: half of the tile that is shared, and the whole of the other, have other boxes
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, align = 1, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.param"() {sym_name = "map_a", type = "tensor_map", bytes = 128, align = 64, port = "ab", part = 0} : () -> ()
  "pipelink.tensor"() {name = "a", element = "bf16", shape = ["M", "K"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "b", element = "bf16", shape = ["N", "K"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "map_a", to = "a"} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [
      {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}, {element = "bf16", shape = [256, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  // expected-error @below {{tile 1 of '@load::@ab' has no tensor map of its own; the box of another may bring half a tile [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@ab, target = @mma::@ab, transfer = "cluster", shared = [0]} : () -> ()
}
